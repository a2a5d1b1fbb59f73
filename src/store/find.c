/* SPDX-License-Identifier: Apache-2.0 */
/* From what people type to one run. */
#include "base/error.h"
#include "store/runs_private.h"

#include <string.h>

const PawlId PAWL_ID_TOP = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

PawlId pawl_id_floor(gint64 at_ms) {
  PawlId id = {{0}};
  for (int i = 0; at_ms > 0 && i < 6; i++) id.b[i] = (guint8)((guint64)at_ms >> (40 - 8 * i));
  return id;
}

/* The hex digits of the end of an id, without hyphens; NULL when the text is none or too short. Caller g_free()s. */
static char *suffix_of(const char *text) {
  g_autoptr(GString) digits = g_string_new(NULL);
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '-') continue;
    if (!g_ascii_isxdigit(*p)) return NULL;
    g_string_append_c(digits, g_ascii_tolower(*p));
  }
  return digits->len >= PAWL_ID_SHORT && digits->len <= 2 * PAWL_ID_BYTES ? g_strdup(digits->str) : NULL;
}

static gboolean ends_in(const PawlId *id, const char *digits) {
  char text[2 * PAWL_ID_BYTES + 1];
  for (int i = 0; i < PAWL_ID_BYTES; i++) g_snprintf(text + 2 * i, 3, "%02x", id->b[i]);
  return g_str_has_suffix(text, digits);
}

static gboolean find_by_suffix(PawlStore *store, const char *digits, PawlId *ret_run, GError **error) {
  guint8 bytes[4];
  char text[PAWL_ID_TEXT];
  const char *end = digits + strlen(digits) - PAWL_ID_SHORT;
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(PawlId));
  for (int i = 0; i < 4; i++) bytes[i] = (guint8)(g_ascii_xdigit_value(end[2 * i]) << 4 | g_ascii_xdigit_value(end[2 * i + 1]));
  if (!pawl_store_ids(store, PAWL_SQL_RUN_BY_SUFFIX, ids, error, PAWL_ROW(pawl_blob(bytes, sizeof bytes)))) return FALSE;
  for (guint i = ids->len; i-- > 0;)
    if (!ends_in(&g_array_index(ids, PawlId, i), digits)) g_array_remove_index(ids, i);
  if (ids->len == 1) {
    *ret_run = g_array_index(ids, PawlId, 0);
    return TRUE;
  }
  if (ids->len == 0) {
    g_set_error(
      error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no task '%s', and no run among the newest 100,000 whose id ends so", digits);
    return FALSE;
  }
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < ids->len; i++)
    g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", pawl_id_text(&g_array_index(ids, PawlId, i), text));
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFLICT, "several runs end in %s: %s; give more of the id", digits, names->str);
  return FALSE;
}

static gboolean newest(PawlStore *store, const PawlRef *ref, PawlId *ret_run, GError **error) {
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(PawlId));
  gboolean ok = ref->trigger_name == NULL ? pawl_store_ids(store, PAWL_SQL_RUN_NEWEST_OF_TASK, ids, error, PAWL_ROW(pawl_id(&ref->task)))
                                          : pawl_store_ids(store, PAWL_SQL_RUN_NEWEST_OF_TRIGGER, ids, error,
                                              PAWL_ROW(pawl_id(&ref->task), pawl_id(&ref->trigger)));
  if (!ok) return FALSE;
  if (ids->len > 0) {
    *ret_run = g_array_index(ids, PawlId, 0);
    return TRUE;
  }
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "'%s%s%s' has no runs", ref->task_name, ref->trigger_name != NULL ? "/" : "",
    ref->trigger_name != NULL ? ref->trigger_name : "");
  return FALSE;
}

gboolean pawl_store_find_run(PawlStore *store, const char *project, const char *text, PawlId *ret_run, GError **error) {
  g_auto(PawlRef) ref = {0};
  GError *why = NULL;
  PawlId id;
  if (pawl_id_parse(text, &id)) {
    gint64 found = 0;
    if (!pawl_store_int(store, PAWL_SQL_RUN_EXISTS, &found, error, PAWL_ROW(pawl_id(&id)))) return FALSE;
    if (found != 0)
      *ret_run = id;
    else
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no run %s", text);
    return found != 0;
  }
  if (pawl_store_lookup(store, project, text, TRUE, &ref, &why)) return newest(store, &ref, ret_run, error);
  g_autofree char *digits = g_error_matches(why, PAWL_ERROR, PAWL_ERROR_NOT_FOUND) ? suffix_of(text) : NULL;
  if (digits == NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  g_clear_error(&why);
  return find_by_suffix(store, digits, ret_run, error);
}
