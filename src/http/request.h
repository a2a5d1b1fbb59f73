/* SPDX-License-Identifier: Apache-2.0 */
/* Reading HTTP/1.1 requests, strictly (RFC 9112): whatever two parsers could read differently is refused here, before a route is looked at,
 * and the connection is closed. Bytes may come in pieces of any size; each is looked at once. No I/O, no clock. */
#pragma once
#include <glib.h>

typedef struct {
  gsize line_bytes; /* request line; more: 414 */
  gsize head_bytes; /* all header lines; more: 431 */
  guint headers;    /* more: 431 */
  gsize body_bytes; /* declared or chunked; more: 413 */
} PawlHttpLimits;
extern const PawlHttpLimits PAWL_HTTP_LIMITS; /* 8 KiB, 32 KiB, 100, 1 MiB */

typedef struct {
  char *name, *value; /* without white space at the ends */
} PawlHttpHeader;

typedef struct {
  char *method; /* as sent: methods are case-sensitive */
  char *path;   /* decoded; no empty, "." or ".." segments, no NUL */
  char *query;  /* as sent, without the '?'; NULL: none */
  char *host;   /* without the port; NULL: none, which only HTTP/1.0 may */
  guint minor;  /* HTTP/1.MINOR: 0 or 1 */
  gboolean keep_alive;
  GArray *headers; /* PawlHttpHeader */
  GByteArray *body;
} PawlHttpRequest;
/* The value of the first header of that name (any case), or NULL. */
const char *pawl_http_header(const PawlHttpRequest *request, const char *name);
/* Whether the query has that name, alone or with a value. */
gboolean pawl_http_query_has(const PawlHttpRequest *request, const char *name);

typedef enum {
  PAWL_HTTP_MORE, /* all bytes were taken, and it is not complete */
  PAWL_HTTP_DONE, /* a request is complete: take it before the next byte */
  PAWL_HTTP_BAD   /* refused: the rest of the connection is worth nothing */
} PawlHttpProgress;

typedef struct PawlHttpReader PawlHttpReader;
/* `limits` are borrowed. */
PawlHttpReader *pawl_http_reader_new(const PawlHttpLimits *limits);
void pawl_http_reader_free(PawlHttpReader *reader);
/* `ret_used`: how many of the bytes belong to this request; the rest is the next one's. */
PawlHttpProgress pawl_http_reader_feed(PawlHttpReader *reader, const char *bytes, gsize n, gsize *ret_used);
/* After DONE. Borrowed until pawl_http_reader_next(), which begins anew. */
const PawlHttpRequest *pawl_http_reader_request(const PawlHttpReader *reader);
void pawl_http_reader_next(PawlHttpReader *reader);
/* After BAD: the status to answer, and why in a sentence that repeats nothing of what was sent. */
int pawl_http_reader_status(const PawlHttpReader *reader);
const char *pawl_http_reader_why(const PawlHttpReader *reader);
/* Where it stands, for deadlines: nothing has come; within the head; within the body. */
typedef enum { PAWL_HTTP_IDLE, PAWL_HTTP_IN_HEAD, PAWL_HTTP_IN_BODY } PawlHttpPlace;
PawlHttpPlace pawl_http_reader_place(const PawlHttpReader *reader);
/* Once TRUE after a head whose sender waits for "100 Continue" before the body. */
gboolean pawl_http_reader_wants_continue(PawlHttpReader *reader);
