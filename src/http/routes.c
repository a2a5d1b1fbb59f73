/* SPDX-License-Identifier: Apache-2.0 */
#include "http/door_private.h"

typedef struct {
  const char *path;
  const char *methods; /* as Allow says them; HEAD goes wherever GET goes */
  gboolean (*handler)(PawlDoor *door, const PawlHttpRequest *request, gboolean last, PawlHttpResponse *ret_response);
} Route;

static const Route routes[] = {
  {"/livez", "GET, HEAD", pawl_http_livez},
  {"/readyz", "GET, HEAD", pawl_http_readyz},
  {"/metrics", "GET, HEAD", pawl_http_metrics},
};

static gboolean allows(const char *methods, const char *method) {
  g_auto(GStrv) words = g_strsplit(methods, ", ", -1);
  return g_strv_contains((const char *const *)words, method);
}

gboolean pawl_http_route(PawlDoor *door, const PawlHttpRequest *request, gboolean last, PawlHttpResponse *ret_response) {
  const char *why;
  if (!pawl_http_guard(door, request, &why)) {
    *ret_response = pawl_http_problem(403, why, NULL);
    return TRUE;
  }
  for (gsize i = 0; i < G_N_ELEMENTS(routes); i++) {
    const Route *route = &routes[i];
    if (!g_str_equal(route->path, request->path)) continue;
    if (allows(route->methods, request->method)) return route->handler(door, request, last, ret_response);
    *ret_response = pawl_http_problem(405, "this is not done to that path; Allow says what is", NULL);
    ret_response->allow = route->methods;
    return TRUE;
  }
  *ret_response = pawl_http_problem(404, "there is nothing at that path; try /livez, /readyz or /metrics", NULL);
  return TRUE;
}
