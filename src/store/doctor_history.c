/* SPDX-License-Identifier: Apache-2.0 */
/* G1 and G2 counted from what is stored. */
#include "base/clock.h"
#include "base/error.h"
#include "store/doctor_private.h"

#define ONE_RUN_MAX 200000  /* scheduled runs that are looked at */
#define PER_TRIGGER_MAX 200 /* occurrences of one trigger */
#define ALL_MAX 50000       /* of all */
#define SHOWN_MAX 5

/* An id is the primary key and a pure function of (trigger, nominal time). So no occurrence has two runs if each id is what it must be. */
gboolean pawl_doctor_one_run(PawlStore *store, GPtrArray *checks, GError **error) {
  GError *why = NULL;
  guint looked = 0, wrong = 0;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_SCHEDULED, error, PAWL_ROW(PAWL_INT(ONE_RUN_MAX)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlId run = pawl_rows_id(rows, 0), trigger = pawl_rows_id(rows, 1);
    PawlId derived = pawl_id_derive(&trigger, pawl_rows_int(rows, 2));
    looked++;
    if (!pawl_id_equal(&run, &derived)) wrong++;
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  pawl_check_add(checks, "one-run", wrong == 0, "this must not happen (G1): please report it",
    "%u scheduled runs looked at, %u of them not the one of their occurrence", looked, wrong);
  return TRUE;
}

typedef struct {
  PawlId trigger;
  char *name;
  gint64 revision, cursor_ms, born_ms;
} Armed;

static void armed_clear(gpointer data) { g_free(((Armed *)data)->name); }

typedef struct {
  gint64 horizon_ms, now_ms;
  guint looked, missing, triggers;
  GString *shown;
} Account;

static gboolean read_armed(PawlStore *store, const PawlId *after, GArray *list, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_ARMED, error, PAWL_ROW(pawl_id(after), PAWL_INT(500)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    Armed armed = {pawl_rows_id(rows, 0), g_strdup_printf("%s/%s", pawl_rows_text(rows, 1), pawl_rows_text(rows, 2)),
      pawl_rows_int(rows, 3), pawl_rows_int(rows, 4), pawl_rows_int(rows, 5)};
    g_array_append_val(list, armed);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean is_accounted(PawlStore *store, const PawlId *trigger, gint64 nominal_ms, gboolean *ret_accounted, GError **error) {
  gint64 found = 0;
  PawlId run = pawl_id_derive(trigger, nominal_ms);
  if (!pawl_store_int(store, PAWL_SQL_RUN_EXISTS, &found, error, PAWL_ROW(pawl_id(&run)))) return FALSE;
  if (found == 0 && !pawl_store_int(store, PAWL_SQL_DOCTOR_ACCOUNTED, &found, error, PAWL_ROW(pawl_id(trigger), PAWL_INT(nominal_ms))))
    return FALSE;
  *ret_accounted = found != 0;
  return TRUE;
}

/* The occurrences of the last day before the cursor, since the trigger's newest revision was born. Older ones were made by other
 * revisions. */
static gboolean account_trigger(PawlStore *store, const Armed *armed, Account *account, GError **error) {
  gint64 from_ms = MAX(MAX(armed->born_ms, account->horizon_ms), armed->cursor_ms - PAWL_DAY_MS), next;
  g_autoptr(PawlTriggerSpec) spec = pawl_schedule_spec(store, &armed->trigger, armed->revision, error);
  if (spec == NULL) return FALSE;
  gint64 gap_ms = pawl_timing_shortest_gap_ms(&spec->timing);
  if (gap_ms > 0 && gap_ms < PAWL_DAY_MS / PER_TRIGGER_MAX) from_ms = MAX(from_ms, armed->cursor_ms - gap_ms * PER_TRIGGER_MAX);
  account->triggers++;
  for (guint i = 0; i < PER_TRIGGER_MAX && pawl_timing_next(&spec->timing, from_ms, &next) && next < armed->cursor_ms; i++) {
    gboolean accounted;
    char text[PAWL_INSTANT_TEXT];
    if (!is_accounted(store, &armed->trigger, next, &accounted, error)) return FALSE;
    account->looked++;
    from_ms = next;
    if (accounted) continue;
    if (account->missing++ < SHOWN_MAX)
      g_string_append_printf(
        account->shown, "%s %s at %s", account->missing > 1 ? "," : ":", armed->name, pawl_instant_text_short(next, text));
  }
  return TRUE;
}

static gboolean account_all(PawlStore *store, Account *account, GError **error) {
  PawlId after = PAWL_ID_NONE;
  for (;;) {
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(Armed));
    g_array_set_clear_func(list, armed_clear);
    if (!read_armed(store, &after, list, error)) return FALSE;
    for (guint i = 0; i < list->len && account->looked < ALL_MAX; i++) {
      const Armed *armed = &g_array_index(list, Armed, i);
      if (!account_trigger(store, armed, account, error)) return FALSE;
      after = armed->trigger;
    }
    if (list->len < 500 || account->looked >= ALL_MAX) return TRUE;
  }
}

gboolean pawl_doctor_accounted(PawlStore *store, GPtrArray *checks, GError **error) {
  GError *why = NULL;
  g_autofree char *horizon = pawl_store_meta_get(store, "horizon_ms", &why);
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  g_autoptr(GString) shown = g_string_new(NULL);
  Account account = {.horizon_ms = horizon != NULL ? g_ascii_strtoll(horizon, NULL, 10) : 0, .shown = shown};
  if (!account_all(store, &account, error)) return FALSE;
  pawl_check_add(checks, "accounted", account.missing == 0, "this must not happen (G2): please report it",
    "%u occurrences of %u triggers looked at, %u neither ran nor stand in the ledger%s", account.looked, account.triggers, account.missing,
    shown->str);
  return TRUE;
}
