/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response.h"

#include <event2/buffer.h>
#include <string.h>
#include <time.h>

static const struct {
  int status;
  const char *phrase;
} phrases[] = {
  {200, "OK"},
  {400, "Bad Request"},
  {403, "Forbidden"},
  {404, "Not Found"},
  {405, "Method Not Allowed"},
  {408, "Request Timeout"},
  {413, "Content Too Large"},
  {414, "URI Too Long"},
  {417, "Expectation Failed"},
  {431, "Request Header Fields Too Large"},
  {500, "Internal Server Error"},
  {501, "Not Implemented"},
  {503, "Service Unavailable"},
  {505, "HTTP Version Not Supported"},
};

static const char *phrase_of(int status) {
  for (gsize i = 0; i < G_N_ELEMENTS(phrases); i++)
    if (phrases[i].status == status) return phrases[i].phrase;
  return "Unknown";
}

void pawl_http_response_clear(PawlHttpResponse *response) { g_clear_pointer(&response->body, g_free); }

static char *text_of(json_t *json) {
  char *text = json_dumps(json, JSON_INDENT(2));
  char *line = g_strconcat(text, "\n", NULL);
  free(text);
  json_decref(json);
  return line;
}

PawlHttpResponse pawl_http_json(int status, json_t *body) {
  return (PawlHttpResponse){.status = status, .type = "application/json", .body = text_of(body)};
}

PawlHttpResponse pawl_http_problem(int status, const char *detail, json_t *more) {
  json_t *body = json_object();
  pawl_json_set_text(body, "type", "about:blank");
  pawl_json_set_text(body, "title", phrase_of(status));
  json_object_set_new(body, "status", json_integer(status));
  pawl_json_set_text(body, "detail", detail);
  if (more != NULL) json_object_update(body, more);
  json_decref(more);
  return (PawlHttpResponse){.status = status, .type = "application/problem+json", .body = text_of(body)};
}

/* RFC 9110 section 5.6.7, whatever the locale. */
static void add_date(struct evbuffer *out) {
  static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  time_t now = time(NULL);
  struct tm t;
  gmtime_r(&now, &t);
  evbuffer_add_printf(out, "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n", days[t.tm_wday], t.tm_mday, months[t.tm_mon], t.tm_year + 1900,
    t.tm_hour, t.tm_min, t.tm_sec);
}

void pawl_http_write(struct evbuffer *out, const PawlHttpResponse *response, gboolean head, gboolean keep_alive) {
  gsize bytes = strlen(response->body);
  evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\n", response->status, phrase_of(response->status));
  add_date(out);
  evbuffer_add_printf(out, "Content-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
    response->type, bytes);
  if (response->allow != NULL) evbuffer_add_printf(out, "Allow: %s\r\n", response->allow);
  evbuffer_add_printf(out, "Connection: %s\r\n\r\n", keep_alive ? "keep-alive" : "close");
  if (!head) evbuffer_add(out, response->body, bytes);
}
