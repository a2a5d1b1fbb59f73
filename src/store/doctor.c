/* SPDX-License-Identifier: Apache-2.0 */
/* doctor looks and says; it changes nothing. What would take long on a big store is bounded, and the text says how far it looked. */
#include "base/clock.h"
#include "base/error.h"
#include "store/doctor_private.h"

#include <string.h>
#include <sys/statvfs.h>

#define QUICK_MAX_BYTES (G_GINT64_CONSTANT(2) * 1024 * 1024 * 1024)
#define DISK_LOW_BYTES (256 * 1024 * 1024)
#define CLOCK_AHEAD_MS (5 * PAWL_SECOND_MS)

void pawl_check_free(PawlCheck *check) {
  if (check == NULL) return;
  g_free(check->name);
  g_free(check->text);
  g_free(check->fix);
  g_free(check);
}

void pawl_check_add(GPtrArray *checks, const char *name, gboolean ok, const char *fix, const char *format, ...) {
  PawlCheck *check = g_new0(PawlCheck, 1);
  va_list args;
  va_start(args, format);
  check->name = g_strdup(name);
  check->ok = ok;
  check->text = g_strdup_vprintf(format, args);
  check->fix = g_strdup(ok ? NULL : fix);
  va_end(args);
  g_ptr_array_add(checks, check);
}

/* g_format_size() puts a blank there that not every terminal shows. Caller g_free()s. */
static char *size_text(guint64 bytes) {
  gdouble mib = (gdouble)bytes / (1024 * 1024);
  return mib >= 10240 ? g_strdup_printf("%.0f GiB", mib / 1024) : g_strdup_printf("%.1f MiB", mib);
}

static gboolean check_file(PawlStore *store, GPtrArray *checks, GError **error) {
  gint64 bytes;
  if (!pawl_store_int(store, PAWL_SQL_DOCTOR_SIZE, &bytes, error, PAWL_NO_PARAMS)) return FALSE;
  g_autofree char *size = size_text((guint64)bytes);
  if (bytes > QUICK_MAX_BYTES) {
    pawl_check_add(checks, "integrity", TRUE, NULL,
      "not looked at: the store has %s; the integrity check of the sqlite3 program does it at leisure", size);
    return TRUE;
  }
  GError *why = NULL;
  g_autofree char *answer = pawl_store_string(store, PAWL_SQL_DOCTOR_QUICK, &why, PAWL_NO_PARAMS);
  const char *text = why != NULL ? why->message : answer != NULL ? answer : "no answer";
  gboolean ok = why == NULL && g_strcmp0(answer, "ok") == 0;
  pawl_check_add(
    checks, "integrity", ok, "stop pawl, keep a copy of the file, and restore a backup or `sqlite3 FILE .recover`", "%s, %s", size, text);
  g_clear_error(&why);
  return TRUE;
}

static gboolean check_schema(PawlStore *store, GPtrArray *checks, GError **error) {
  gint64 tables, strays;
  if (!pawl_store_int(store, PAWL_SQL_DOCTOR_TABLES, &tables, error, PAWL_NO_PARAMS) ||
      !pawl_store_int(store, PAWL_SQL_DOCTOR_REFERENCES, &strays, error, PAWL_NO_PARAMS))
    return FALSE;
  pawl_check_add(checks, "schema", TRUE, NULL, "version %d, %" G_GINT64_FORMAT " tables, indexes and views, on %s", store->schema_version,
    tables, pawl_db_version(store->db));
  pawl_check_add(
    checks, "references", strays == 0, "restore a backup: rows are missing", "%" G_GINT64_FORMAT " rows without their parent", strays);
  return TRUE;
}

static gboolean check_durability(PawlStore *store, GPtrArray *checks, GError **error) {
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_DURABILITY, error, PAWL_NO_PARAMS);
  if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
  const char *journal = pawl_rows_text(rows, 0);
  gboolean ok = g_ascii_strcasecmp(journal, "wal") == 0;
  pawl_check_add(
    checks, "journal", ok, "start `pawl up` once, which sets it", "%s, synchronous %" G_GINT64_FORMAT, journal, pawl_rows_int(rows, 1));
  return TRUE;
}

static gboolean check_drift(PawlStore *store, GPtrArray *checks, GError **error) {
  gint64 lost, twice, orphaned, ended, manual;
  if (!pawl_store_int(store, PAWL_SQL_DOCTOR_LOST, &lost, error, PAWL_NO_PARAMS)) return FALSE;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_DRIFT, error, PAWL_NO_PARAMS);
  if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
  twice = pawl_rows_int(rows, 0);
  orphaned = pawl_rows_int(rows, 1);
  ended = pawl_rows_int(rows, 2);
  manual = pawl_rows_int(rows, 3);
  pawl_check_add(checks, "drift", lost + twice + orphaned + ended == 0, "`pawl up` puts them aside at its next start",
    "unfinished runs in no hot table: %" G_GINT64_FORMAT " (of the newest 100,000); hot rows that stand twice: %" G_GINT64_FORMAT
    ", without a run: %" G_GINT64_FORMAT ", of a finished run: %" G_GINT64_FORMAT,
    lost, twice, orphaned, ended);
  pawl_check_add(checks, "aside", manual == 0, "`pawl runs --state queued` names them; cancel each, and retry what shall run",
    "%" G_GINT64_FORMAT " runs put aside by recovery", manual);
  return TRUE;
}

static gboolean check_pools(PawlStore *store, GPtrArray *checks, GError **error) {
  GError *why = NULL;
  gboolean ok = TRUE;
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_POOLS_OVER, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    gint64 slots = pawl_rows_int(rows, 1), fresh = pawl_rows_int(rows, 3);
    if (fresh > slots) ok = FALSE;
    g_string_append_printf(text, "%s%s uses %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT "%s", text->len > 0 ? ", " : "",
      pawl_rows_text(rows, 0), pawl_rows_int(rows, 2), slots, fresh > slots ? "" : " since it shrank");
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  pawl_check_add(checks, "pools", ok, "this must not happen (G3): please report it", "%s",
    text->len > 0 ? text->str : "none uses more slots than it has");
  return TRUE;
}

static gboolean check_limits(PawlStore *store, GPtrArray *checks, GError **error) {
  GError *why = NULL;
  gboolean ok = TRUE;
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_TASKS_OVER, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    gint64 limit = pawl_rows_int(rows, 2) == 1 && pawl_rows_int(rows, 1) == 0 ? 1 : pawl_rows_int(rows, 1);
    gboolean violated = pawl_rows_int(rows, 5) > limit;
    if (violated) ok = FALSE;
    g_string_append_printf(text, "%s%s has %" G_GINT64_FORMAT " runs at once%s", text->len > 0 ? ", " : "", pawl_rows_text(rows, 0),
      pawl_rows_int(rows, 3), violated ? "" : " since its limit was lowered");
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  pawl_check_add(checks, "limits", ok, "this must not happen (G3): please report it", "%s",
    text->len > 0 ? text->str : "no task has more runs than it may");
  return TRUE;
}

static void check_disk(PawlStore *store, GPtrArray *checks) {
  struct statvfs fs;
  const char *url = pawl_db_url(store->db), *path = strchr(url, ':');
  if (!g_str_has_prefix(url, "sqlite:") || path == NULL) return;
  g_autofree char *folder = g_path_get_dirname(path + 1);
  if (statvfs(folder, &fs) != 0) {
    pawl_check_add(checks, "disk", FALSE, "look at the file system", "%s: %s", folder, g_strerror(errno));
    return;
  }
  guint64 bytes = (guint64)fs.f_bavail * fs.f_frsize;
  g_autofree char *size = size_text(bytes);
  pawl_check_add(checks, "disk", bytes >= DISK_LOW_BYTES, "make room: a full disk stops everything", "%s free in %s", size, folder);
}

static void check_zones(GPtrArray *checks) {
  static const char *const probes[] = {"Europe/Berlin", "America/New_York", "Asia/Kolkata"};
  for (gsize i = 0; i < G_N_ELEMENTS(probes); i++) {
    PawlZone *zone = pawl_zone_new(probes[i], NULL);
    if (zone == NULL) {
      pawl_check_add(checks, "zones", FALSE, "install tzdata", "the time zone data lacks %s", probes[i]);
      return;
    }
    pawl_zone_unref(zone);
  }
  pawl_check_add(checks, "zones", TRUE, NULL, "time zone data is there");
}

static gboolean check_clock(PawlStore *store, GPtrArray *checks, GError **error) {
  gint64 ahead_ms;
  if (!pawl_store_int(store, PAWL_SQL_DOCTOR_CLOCK, &ahead_ms, error, PAWL_NO_PARAMS)) return FALSE;
  g_autofree char *ahead = pawl_duration_text(MAX(ahead_ms, 0));
  if (ahead_ms > CLOCK_AHEAD_MS)
    pawl_check_add(checks, "clock", FALSE, "set the clock right; what was settled is not run again meanwhile",
      "the clock went back: the store's newest instant lies %s ahead of it", ahead);
  else
    pawl_check_add(checks, "clock", TRUE, NULL, "the clock is not behind the store");
  return TRUE;
}

gboolean pawl_store_doctor(PawlStore *store, GPtrArray *checks, GError **error) {
  if (store->shared && !pawl_doctor_pooler(store, checks, error)) return FALSE;
  if (!pawl_db_begin(store->db, PAWL_TX_READ, error)) return FALSE;
  gboolean ok = (store->shared || check_file(store, checks, error)) && check_schema(store, checks, error) &&
                (store->shared ? pawl_doctor_server(store, checks, error) : check_durability(store, checks, error)) &&
                check_drift(store, checks, error) && pawl_doctor_one_run(store, checks, error) &&
                pawl_doctor_accounted(store, checks, error) && check_pools(store, checks, error) && check_limits(store, checks, error) &&
                check_clock(store, checks, error);
  pawl_db_rollback(store->db);
  if (!ok) return FALSE;
  check_disk(store, checks);
  check_zones(checks);
  return TRUE;
}
