/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: what is refused, with which status, and that it makes no difference in which pieces the bytes come. */
#include "http/request.h"

#include <string.h>

#define HOST "Host: a\r\n"
#define GET "GET / HTTP/1.1\r\n"
#define POST "POST / HTTP/1.1\r\n" HOST

/* Feeds pieces of `step` bytes. Returns the status of a refusal, 200 for one whole request, 0 for a part of one; `ret_used` may be NULL. */
static int read_in_steps(PawlHttpReader *reader, const char *bytes, gsize n, gsize step, gsize *ret_used) {
  gsize done = 0, used;
  PawlHttpProgress progress = PAWL_HTTP_MORE;
  while (done < n && progress == PAWL_HTTP_MORE) {
    progress = pawl_http_reader_feed(reader, bytes + done, MIN(step, n - done), &used);
    done += used;
  }
  if (ret_used != NULL) *ret_used = done;
  if (progress != PAWL_HTTP_BAD) return progress == PAWL_HTTP_DONE ? 200 : 0;
  g_assert_nonnull(pawl_http_reader_why(reader));
  return pawl_http_reader_status(reader);
}

static int status_of(const char *bytes, gsize n, gsize step) {
  PawlHttpReader *reader = pawl_http_reader_new(&PAWL_HTTP_LIMITS);
  int status = read_in_steps(reader, bytes, n, step, NULL);
  pawl_http_reader_free(reader);
  return status;
}

#define CASE(name, status, bytes)                                                                                                          \
  { name, status, bytes, sizeof(bytes) - 1 }
static const struct {
  const char *name;
  int status;
  const char *bytes;
  gsize n;
} cases[] = {
  CASE("plain", 200, GET HOST "\r\n"),
  CASE("one empty line before it", 200, "\r\n" GET HOST "\r\n"),
  CASE("two empty lines before it", 400, "\r\n\r\n" GET HOST "\r\n"),
  CASE("1.0 without host", 200, "GET / HTTP/1.0\r\n\r\n"),
  CASE("body", 200, POST "Content-Length: 4\r\n\r\nabcd"),
  CASE("half a body", 0, POST "Content-Length: 4\r\n\r\nab"),
  CASE("chunks", 200, POST "Transfer-Encoding: Chunked\r\n\r\n4\r\nabcd\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\n"),
  CASE("trailer", 200, POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n"),
  CASE("H1 equal", 400, POST "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd"),
  CASE("H1 not equal", 400, POST "Content-Length: 4\r\ncontent-length: 5\r\n\r\nabcd"),
  CASE("H1 list", 400, POST "Content-Length: 4, 4\r\n\r\nabcd"),
  CASE("H2", 400, POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  CASE("H3", 501, POST "Transfer-Encoding: gzip, chunked\r\n\r\n"),
  CASE("H3 twice", 400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
  CASE("H3 in 1.0", 400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
  CASE("H4 request line", 400, "GET / HTTP/1.1\nHost: a\n\n"),
  CASE("H4 header", 400, GET "Host: a\n\r\n"),
  CASE("H4 end", 400, GET HOST "\n"),
  CASE("H4 CR alone", 400, GET "Host: a\rX: b\r\n\r\n"),
  CASE("H4 CR CR LF", 400, GET "Host: a\r\r\n\r\n"),
  CASE("H4 chunk", 400, POST "Transfer-Encoding: chunked\r\n\r\n4\nabcd\r\n0\r\n\r\n"),
  CASE("H5", 400, GET HOST ": value\r\n\r\n"),
  CASE("H5 no colon", 400, GET HOST "value\r\n\r\n"),
  CASE("H5 no word", 400, GET HOST "a(b: value\r\n\r\n"),
  CASE("H6", 400, POST "Content-Length : 4\r\n\r\nabcd"),
  CASE("H7 none", 400, GET "\r\n"),
  CASE("H7 two", 400, GET HOST "host: a\r\n\r\n"),
  CASE("H7 no host", 400, GET "Host: a b\r\n\r\n"),
  CASE("H7 empty", 400, GET "Host:\r\n\r\n"),
  CASE("H7 port", 200, GET "Host: [::1]:80\r\n\r\n"),
  CASE("H7 no port", 400, GET "Host: a:8x\r\n\r\n"),
  CASE("H8 NUL", 400, GET HOST "X: a\0b\r\n\r\n"),
  CASE("H8 control", 400,
    GET HOST "X: a\x01"
             "b\r\n\r\n"),
  CASE("H8 DEL", 400,
    GET HOST "X: a\x7f"
             "b\r\n\r\n"),
  CASE("H8 tab is none", 200, GET HOST "X: a\tb\r\n\r\n"),
  CASE("H9 plus", 400, POST "Transfer-Encoding: chunked\r\n\r\n+4\r\nabcd\r\n"),
  CASE("H9 0x", 400, POST "Transfer-Encoding: chunked\r\n\r\n0x4\r\nabcd\r\n"),
  CASE("H9 empty", 400, POST "Transfer-Encoding: chunked\r\n\r\n\r\nabcd\r\n"),
  CASE("H9 huge", 400, POST "Transfer-Encoding: chunked\r\n\r\n8000000000000000\r\nabcd\r\n"),
  CASE("H9 blank", 400, POST "Transfer-Encoding: chunked\r\n\r\n4 \r\nabcd\r\n"),
  CASE("H9 longer", 400, POST "Transfer-Encoding: chunked\r\n\r\n4\r\nabcde\r\n"),
  CASE("H10 minus", 400, POST "Content-Length: -1\r\n\r\n"),
  CASE("H10 plus", 400, POST "Content-Length: +4\r\n\r\nabcd"),
  CASE("H10 letter", 400, POST "Content-Length: 4x\r\n\r\nabcd"),
  CASE("H10 huge", 400, POST "Content-Length: 99999999999999999999\r\n\r\n"),
  CASE("H10 empty", 400, POST "Content-Length:\r\n\r\n"),
  CASE("H11", 400, GET HOST "X: a\r\n b\r\n\r\n"),
  CASE("H11 first", 400, GET " Host: a\r\n\r\n"),
  CASE("H13 declared", 413, POST "Content-Length: 1048577\r\n\r\n"),
  CASE("H13 chunked", 413, POST "Transfer-Encoding: chunked\r\n\r\n100001\r\n"),
  CASE("H15 dots", 400, "GET /../etc/passwd HTTP/1.1\r\n" HOST "\r\n"),
  CASE("H15 dots at the end", 400, "GET /a/.. HTTP/1.1\r\n" HOST "\r\n"),
  CASE("H15 encoded dots", 400, "GET /%2e%2e/etc HTTP/1.1\r\n" HOST "\r\n"),
  CASE("H15 NUL", 400, "GET /a%00b HTTP/1.1\r\n" HOST "\r\n"),
  CASE("H15 slashes", 400, "GET //livez HTTP/1.1\r\n" HOST "\r\n"),
  CASE("H15 encoded slash", 400, "GET /a%2fb HTTP/1.1\r\n" HOST "\r\n"),
  CASE("H15 backslash", 400, "GET /a%5cb HTTP/1.1\r\n" HOST "\r\n"),
  CASE("H15 half an escape", 400, "GET /a%2 HTTP/1.1\r\n" HOST "\r\n"),
  CASE("H15 no UTF-8", 400, "GET /%ff HTTP/1.1\r\n" HOST "\r\n"),
  CASE("no path", 400, "GET livez HTTP/1.1\r\n" HOST "\r\n"),
  CASE("whole URL", 400, "GET http://a/livez HTTP/1.1\r\n" HOST "\r\n"),
  CASE("no version", 400, "GET /\r\n" HOST "\r\n"),
  CASE("two blanks", 400, "GET  / HTTP/1.1\r\n" HOST "\r\n"),
  CASE("HTTP/2", 505, "GET / HTTP/2.0\r\n" HOST "\r\n"),
  CASE("TLS", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n"),
  CASE("long method", 501, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGH / HTTP/1.1\r\n" HOST "\r\n"),
  CASE("expectation", 417, POST "Expect: miracles\r\nContent-Length: 1\r\n\r\na"),
};

static void test_cases(void) {
  static const gsize steps[] = {1, 2, 3, 7, 100000};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    for (gsize s = 0; s < G_N_ELEMENTS(steps); s++) {
      int status = status_of(cases[i].bytes, cases[i].n, steps[s]);
      if (status != cases[i].status) g_error("%s, in steps of %zu: %d instead of %d", cases[i].name, steps[s], status, cases[i].status);
    }
}

/* ---- H12: limit-1, limit, limit+1 ---- */

static int status_of_line(gsize bytes) {
  g_autoptr(GString) text = g_string_new("GET /");
  while (text->len < bytes - strlen(" HTTP/1.1") - 1) g_string_append_c(text, 'a'); /* the CR counts */
  g_string_append(text, " HTTP/1.1\r\n" HOST "\r\n");
  return status_of(text->str, text->len, 1000);
}

static int status_of_headers(guint n, gsize value_bytes) {
  g_autoptr(GString) text = g_string_new(GET HOST);
  for (guint i = 1; i < n; i++) {
    g_string_append(text, "X: ");
    for (gsize b = 0; b < value_bytes; b++) g_string_append_c(text, 'v');
    g_string_append(text, "\r\n");
  }
  g_string_append(text, "\r\n");
  return status_of(text->str, text->len, 1000);
}

static void test_limits(void) {
  g_assert_cmpint(status_of_line(8191), ==, 200);
  g_assert_cmpint(status_of_line(8192), ==, 200);
  g_assert_cmpint(status_of_line(8193), ==, 414);
  g_assert_cmpint(status_of_headers(99, 1), ==, 200);
  g_assert_cmpint(status_of_headers(100, 1), ==, 200);
  g_assert_cmpint(status_of_headers(101, 1), ==, 431);
  g_assert_cmpint(status_of_headers(2, 32768 - 9 - 4 - 2), ==, 200);
  g_assert_cmpint(status_of_headers(2, 32768), ==, 431);
  g_assert_cmpint(status_of_headers(90, 400), ==, 431);
}

static void test_body_limit(void) {
  for (gsize i = 0; i < 3; i++) {
    gsize bytes = PAWL_HTTP_LIMITS.body_bytes - 1 + i;
    g_autofree char *body = g_strnfill(bytes, 'b');
    g_autofree char *declared = g_strdup_printf(POST "Content-Length: %zu\r\n\r\n%s", bytes, body);
    g_autofree char *chunked =
      g_strdup_printf(POST "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n%zx\r\n%s\r\n0\r\n\r\n", bytes - 5, body + 5);
    int status = i < 2 ? 200 : 413;
    g_assert_cmpint(status_of(declared, strlen(declared), 65536), ==, status);
    g_assert_cmpint(status_of(chunked, strlen(chunked), 65536), ==, status);
  }
}

/* ---- what is read ---- */

static void test_what_is_read(void) {
  static const char text[] = "POST /a%20b/c?verbose&x=1 HTTP/1.1\r\nhost: Example.org:80\r\nX-A:  one \t\r\nConnection: foo, Close\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-A: two\r\n\r\nGET ";
  PawlHttpReader *reader = pawl_http_reader_new(&PAWL_HTTP_LIMITS);
  const PawlHttpRequest *request = pawl_http_reader_request(reader);
  gsize used;
  g_assert_cmpint(pawl_http_reader_place(reader), ==, PAWL_HTTP_IDLE);
  g_assert_cmpint(read_in_steps(reader, text, sizeof text - 1, 10000, &used), ==, 200);
  g_assert_cmpint(used, ==, sizeof text - 1 - 4);
  g_assert_cmpstr(request->method, ==, "POST");
  g_assert_cmpstr(request->path, ==, "/a b/c");
  g_assert_cmpstr(request->query, ==, "verbose&x=1");
  g_assert_cmpstr(request->host, ==, "example.org");
  g_assert_cmpstr(pawl_http_header(request, "x-a"), ==, "one");
  g_assert_false(request->keep_alive);
  g_assert_cmpmem(request->body->data, request->body->len, "abcde", 5);
  g_assert_true(pawl_http_query_has(request, "verbose") && pawl_http_query_has(request, "x"));
  g_assert_false(pawl_http_query_has(request, "verb") || pawl_http_query_has(request, "1"));
  pawl_http_reader_next(reader);
  g_assert_cmpint(pawl_http_reader_place(reader), ==, PAWL_HTTP_IDLE);
  g_assert_cmpint(read_in_steps(reader, GET HOST "\r\n", strlen(GET HOST "\r\n"), 10000, NULL), ==, 200);
  g_assert_cmpint(request->body->len, ==, 0);
  g_assert_null(request->query);
  g_assert_true(request->keep_alive);
  pawl_http_reader_free(reader);
}

static void test_keep_alive(void) {
  static const struct {
    const char *text;
    gboolean keep_alive;
  } rows[] = {{"GET / HTTP/1.1\r\n" HOST "\r\n", TRUE}, {"GET / HTTP/1.0\r\n\r\n", FALSE},
    {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", TRUE},
    {"GET / HTTP/1.1\r\n" HOST "Connection: keep-alive\r\nConnection: close\r\n\r\n", FALSE}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    PawlHttpReader *reader = pawl_http_reader_new(&PAWL_HTTP_LIMITS);
    g_assert_cmpint(read_in_steps(reader, rows[i].text, strlen(rows[i].text), 1, NULL), ==, 200);
    g_assert_cmpint(pawl_http_reader_request(reader)->keep_alive, ==, rows[i].keep_alive);
    pawl_http_reader_free(reader);
  }
}

static void test_continue(void) {
  static const char text[] = POST "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n";
  PawlHttpReader *reader = pawl_http_reader_new(&PAWL_HTTP_LIMITS);
  g_assert_cmpint(read_in_steps(reader, text, sizeof text - 1, 1, NULL), ==, 0);
  g_assert_cmpint(pawl_http_reader_place(reader), ==, PAWL_HTTP_IN_BODY);
  g_assert_true(pawl_http_reader_wants_continue(reader));
  g_assert_false(pawl_http_reader_wants_continue(reader));
  g_assert_cmpint(read_in_steps(reader, "a", 1, 1, NULL), ==, 200);
  pawl_http_reader_free(reader);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/http/request/cases", test_cases);
  g_test_add_func("/http/request/limits", test_limits);
  g_test_add_func("/http/request/body-limit", test_body_limit);
  g_test_add_func("/http/request/what-is-read", test_what_is_read);
  g_test_add_func("/http/request/keep-alive", test_keep_alive);
  g_test_add_func("/http/request/continue", test_continue);
  return g_test_run();
}
