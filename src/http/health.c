/* SPDX-License-Identifier: Apache-2.0 */
/* How the process is. */
#include "http/door_private.h"

gboolean pawl_http_livez(PawlDoor *door, const PawlHttpRequest *request, gboolean last, PawlHttpResponse *ret_response) {
  g_autoptr(GString) why = g_string_new(NULL);
  if (door->options.live(why, door->options.data))
    *ret_response = pawl_http_json(200, json_pack("{s:b}", "alive", 1));
  else
    *ret_response = pawl_http_problem(503, why->str, NULL);
  return TRUE;
}

static void check_clear(gpointer p) {
  PawlCheck *check = p;
  g_free(check->name);
  g_free(check->text);
}

static json_t *json_checks(const GArray *checks) {
  json_t *array = json_array();
  for (guint i = 0; i < checks->len; i++) {
    const PawlCheck *check = &g_array_index(checks, PawlCheck, i);
    json_t *object = json_object();
    pawl_json_set_text(object, "name", check->name);
    json_object_set_new(object, "ok", json_boolean(check->ok));
    pawl_json_set_text(object, "text", check->text);
    json_array_append_new(array, object);
  }
  return array;
}

gboolean pawl_http_readyz(PawlDoor *door, const PawlHttpRequest *request, gboolean last, PawlHttpResponse *ret_response) {
  g_autoptr(GArray) checks = g_array_new(FALSE, FALSE, sizeof(PawlCheck));
  g_autoptr(GString) failed = g_string_new(NULL);
  json_t *more = json_object();
  g_array_set_clear_func(checks, check_clear);
  door->options.check(checks, door->options.data);
  for (guint i = 0; i < checks->len; i++) {
    const PawlCheck *check = &g_array_index(checks, PawlCheck, i);
    if (!check->ok) g_string_append_printf(failed, "%s%s: %s", failed->len > 0 ? "; " : "", check->name, check->text);
  }
  json_object_set_new(more, "ready", json_boolean(failed->len == 0));
  if (pawl_http_query_has(request, "verbose")) json_object_set_new(more, "checks", json_checks(checks));
  *ret_response = failed->len == 0 ? pawl_http_json(200, more) : pawl_http_problem(503, failed->str, more);
  return TRUE;
}

gboolean pawl_http_metrics(PawlDoor *door, const PawlHttpRequest *request, gboolean last, PawlHttpResponse *ret_response) {
  if (!door->options.measure(door->options.data) && !last) return FALSE;
  *ret_response = (PawlHttpResponse){
    .status = 200, .type = "text/plain; version=0.0.4; charset=utf-8", .body = door->options.metrics(door->options.data)};
  return TRUE;
}
