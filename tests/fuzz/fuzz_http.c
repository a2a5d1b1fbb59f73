/* SPDX-License-Identifier: Apache-2.0 */
/* Input: what a client sends. Whatever the pieces in which it comes, the same requests are read and the same is refused; and what is read
 * keeps its promises. */
#include "fuzz.h"
#include "http/request.h"

#include <string.h>

#define CHECK(condition)                                                                                                                   \
  do {                                                                                                                                     \
    if (!(condition)) g_error("does not hold: %s", #condition);                                                                            \
  } while (0)

static const PawlHttpLimits limits = {.line_bytes = 200, .head_bytes = 400, .headers = 10, .body_bytes = 300};

static void check_request(const PawlHttpRequest *request) {
  CHECK(request->path[0] == '/' && g_utf8_validate(request->path, -1, NULL));
  CHECK(strstr(request->path, "//") == NULL && strstr(request->path, "/../") == NULL && !g_str_has_suffix(request->path, "/.."));
  CHECK(request->minor == 0 || request->host != NULL);
  CHECK(request->body->len <= limits.body_bytes && request->headers->len <= limits.headers);
  CHECK(pawl_http_header(request, "Content-Length") == NULL || pawl_http_header(request, "Transfer-Encoding") == NULL);
  for (guint i = 0; i < request->headers->len; i++) {
    const PawlHttpHeader *header = &g_array_index(request->headers, PawlHttpHeader, i);
    CHECK(*header->name != '\0' && strpbrk(header->name, " \t:\r\n") == NULL && strpbrk(header->value, "\r\n") == NULL);
  }
}

static void describe(GString *text, const PawlHttpRequest *request) {
  g_string_append_printf(text, "%s %s %s %s %u %d %u ", request->method, request->path, request->query != NULL ? request->query : "-",
    request->host != NULL ? request->host : "-", request->minor, request->keep_alive, request->headers->len);
  g_string_append_len(text, (const char *)request->body->data, request->body->len);
  g_string_append_c(text, '\n');
}

/* All requests of a connection, and how it ended. */
static char *read_all(const char *bytes, gsize n, gsize step) {
  GString *text = g_string_new(NULL);
  PawlHttpReader *reader = pawl_http_reader_new(&limits);
  PawlHttpProgress progress = PAWL_HTTP_MORE;
  gsize used;
  for (gsize done = 0; done < n && progress != PAWL_HTTP_BAD; done += used) {
    progress = pawl_http_reader_feed(reader, bytes + done, MIN(step, n - done), &used);
    CHECK(used <= MIN(step, n - done) && (used > 0 || progress == PAWL_HTTP_BAD));
    if (progress != PAWL_HTTP_DONE) continue;
    check_request(pawl_http_reader_request(reader));
    describe(text, pawl_http_reader_request(reader));
    pawl_http_reader_next(reader);
  }
  if (progress == PAWL_HTTP_BAD) {
    CHECK(pawl_http_reader_status(reader) >= 400 && pawl_http_reader_why(reader) != NULL);
    g_string_append_printf(text, "refused\n");
  }
  pawl_http_reader_free(reader);
  return g_string_free(text, FALSE);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
  g_autofree char *whole = read_all((const char *)bytes, n_bytes, n_bytes), *single = read_all((const char *)bytes, n_bytes, 1),
                  *seven = read_all((const char *)bytes, n_bytes, 7);
  CHECK(strcmp(whole, single) == 0 && strcmp(whole, seven) == 0);
  return 0;
}
