/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a cron expression: zone prefix, nicknames, and the row of fields. */
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "civil/cron_private.h"

#include <string.h>

#define EXPRESSION_MAX_BYTES 1024

static const struct {
  const char *name, *normal, *fields; /* fields: five of them; NULL: none */
} nicknames[] = {
  {"@yearly", "@yearly", "0 0 1 1 *"},
  {"@annually", "@yearly", "0 0 1 1 *"},
  {"@monthly", "@monthly", "0 0 1 * *"},
  {"@weekly", "@weekly", "0 0 * * 0"},
  {"@daily", "@daily", "0 0 * * *"},
  {"@midnight", "@daily", "0 0 * * *"},
  {"@hourly", "@hourly", "0 * * * *"},
  {"@reboot", "@reboot", NULL},
  {"@every", "@every", NULL},
};

gboolean pawl_cron_refuse(const CronSource *source, const char *at, const char *format, ...) {
  va_list args;
  int column = 1;
  for (const char *p = source->text; p < at; p++) column += ((guchar)*p & 0xc0) != 0x80;
  va_start(args, format);
  g_autofree char *why = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(source->error, PAWL_ERROR, PAWL_ERROR_INVALID, "column %d: %s", column, why);
  return FALSE;
}

/* CRON_TZ=NAME or TZ=NAME at the start; it ends at a blank. Moves *p past it. */
static gboolean take_prefix(const CronSource *source, PawlCron *cron, const char **p) {
  const char *name = g_str_has_prefix(*p, "CRON_TZ=") ? *p + 8 : g_str_has_prefix(*p, "TZ=") ? *p + 3 : NULL;
  if (name == NULL) return TRUE;
  const char *end = pawl_skip_word(name);
  if (end == name) return pawl_cron_refuse(source, name, "the time zone is empty; an IANA name such as Europe/Berlin is meant");
  g_autofree char *text = g_strndup(name, (gsize)(end - name));
  g_autoptr(GError) inner = NULL;
  PawlZone *zone = pawl_zone_new(text, &inner);
  if (zone == NULL) return pawl_cron_refuse(source, name, "%s", inner->message);
  pawl_zone_unref(cron->zone);
  cron->zone = zone;
  cron->has_prefix = TRUE;
  *p = pawl_skip_blanks(end);
  return TRUE;
}

static gboolean take_every(const CronSource *source, PawlCron *cron, const char *p) {
  const char *end = pawl_skip_word(p);
  g_autofree char *text = g_strndup(p, (gsize)(end - p));
  gint64 every_ms;
  if (*p == '\0') return pawl_cron_refuse(source, p, "@every needs a duration, such as @every 90s or @every 1h30m");
  if (!pawl_duration_parse(text, &every_ms, NULL) || every_ms < 1000 || every_ms % 1000 != 0)
    return pawl_cron_refuse(source, p, "@every takes whole seconds from 1s to 3650d, written as 90s, 15m or 1h30m");
  if (*pawl_skip_blanks(end) != '\0') return pawl_cron_refuse(source, pawl_skip_blanks(end), "nothing may follow the duration of @every");
  cron->kind = CRON_EVERY;
  cron->every_s = every_ms / 1000;
  return TRUE;
}

static gboolean take_fields(const CronSource *source, PawlCron *cron, const char *p, gboolean seconds, const guint8 *hash);

static gboolean take_nickname(const CronSource *source, PawlCron *cron, const char *p, const guint8 *hash) {
  const char *end = pawl_skip_word(p);
  gsize i = 0, length = (gsize)(end - p);
  while (i < G_N_ELEMENTS(nicknames) && !(strlen(nicknames[i].name) == length && g_ascii_strncasecmp(nicknames[i].name, p, length) == 0))
    i++;
  if (i == G_N_ELEMENTS(nicknames))
    return pawl_cron_refuse(source, p,
      "no such nickname; allowed are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, "
      "@reboot and @every DURATION");
  cron->nickname = nicknames[i].normal;
  if (strcmp(cron->nickname, "@every") == 0) return take_every(source, cron, pawl_skip_blanks(end));
  if (*pawl_skip_blanks(end) != '\0') return pawl_cron_refuse(source, pawl_skip_blanks(end), "nothing may follow %s", cron->nickname);
  if (nicknames[i].fields != NULL) return take_fields(source, cron, nicknames[i].fields, FALSE, hash);
  cron->kind = CRON_REBOOT;
  return TRUE;
}

static gboolean refuse_count(const CronSource *source, PawlCronFields fields, guint n, const char *at) {
  if (n == 0) return pawl_cron_refuse(source, at, "there are no fields; five are meant: minute hour day-of-month month day-of-week");
  if (fields == PAWL_CRON_SECONDS)
    return pawl_cron_refuse(
      source, at, "%u fields where six (second minute hour day-of-month month day-of-week) or seven (then year) are meant", n);
  return pawl_cron_refuse(source, at, "%u fields where five (minute hour day-of-month month day-of-week) are meant%s", n,
    n == 6 || n == 7 ? "; with seconds: true the first field is the second" : "");
}

static gboolean take_fields(const CronSource *source, PawlCron *cron, const char *p, gboolean seconds, const guint8 *hash) {
  const char *starts[CRON_N_FIELDS], *extra = NULL;
  guint n = 0, most = seconds ? 7 : 5;
  for (const char *at = p; *at != '\0'; at = pawl_skip_blanks(pawl_skip_word(at)), n++) {
    if (n < most)
      starts[n] = at;
    else if (n == most)
      extra = at;
  }
  if (n > most || n < most - seconds) return refuse_count(source, cron->fields, n, extra ? extra : p + strlen(p));
  g_autoptr(GArray) items = g_array_new(FALSE, FALSE, sizeof(CronItem));
  if (!seconds) cron->seconds = 1;
  for (guint i = 0; i < n; i++) {
    CronField field = (CronField)(i + !seconds);
    if (!pawl_cron_parse_field(source, cron, field, starts[i], pawl_skip_word(starts[i]), hash, items)) return FALSE;
  }
  CronItem *last = &g_array_index(items, CronItem, items->len - 1);
  if (last->field == CRON_YEAR && n == 7 && cron->years != NULL && pawl_skip_word(starts[6]) - starts[6] == 1 && *starts[6] == '*')
    g_clear_pointer(&cron->years, g_free); /* every year: the walk need not look */
  cron->n_items = items->len;
  cron->items = g_memdup2(items->data, items->len * sizeof(CronItem));
  cron->year_kinds = pawl_cron_year_kinds(cron);
  return TRUE;
}

static void spread_bytes(const char *hash_key, guint8 bytes[32]) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  gsize n = 32;
  g_checksum_update(sum, (const guchar *)(hash_key ? hash_key : ""), -1);
  g_checksum_get_digest(sum, bytes, &n);
}

PawlCron *pawl_cron_parse(const char *expression, PawlCronFields fields, const char *hash_key, PawlZone *zone, GError **error) {
  CronSource source = {expression, error};
  guint8 hash[32];
  if (strlen(expression) > EXPRESSION_MAX_BYTES) {
    pawl_cron_refuse(&source, expression, "the expression is too long; at most %d bytes are allowed", EXPRESSION_MAX_BYTES);
    return NULL;
  }
  PawlCron *cron = g_new0(PawlCron, 1);
  atomic_init(&cron->refs, 1);
  cron->fields = fields;
  cron->zone = zone ? pawl_zone_ref(zone) : pawl_zone_new("UTC", NULL);
  spread_bytes(hash_key, hash);
  const char *p = pawl_skip_blanks(expression);
  gboolean ok = take_prefix(&source, cron, &p);
  if (ok && *p == '@')
    ok = take_nickname(&source, cron, p, hash);
  else if (ok)
    ok = take_fields(&source, cron, p, fields == PAWL_CRON_SECONDS, hash);
  if (ok) return cron;
  pawl_cron_unref(cron);
  return NULL;
}

PawlCron *pawl_cron_ref(PawlCron *cron) {
  atomic_fetch_add(&cron->refs, 1);
  return cron;
}

void pawl_cron_unref(PawlCron *cron) {
  if (cron == NULL || atomic_fetch_sub(&cron->refs, 1) != 1) return;
  pawl_zone_unref(cron->zone);
  g_free(cron->years);
  g_free(cron->items);
  g_free(cron);
}

gboolean pawl_cron_is_reboot(const PawlCron *cron) { return cron->kind == CRON_REBOOT; }
const PawlZone *pawl_cron_zone(const PawlCron *cron) { return cron->zone; }
