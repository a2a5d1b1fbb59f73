/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that read requests share. Each function answers TRUE, or FALSE after pawl_http_refuse(). */
#pragma once
#include "http/request.h"

#include <string.h>

typedef enum {
  STATE_LINE,
  STATE_HEADER,
  STATE_BODY,
  STATE_CHUNK_SIZE,
  STATE_CHUNK,
  STATE_CHUNK_END,
  STATE_TRAILER,
  STATE_DONE,
  STATE_BAD
} PawlHttpState;

struct PawlHttpReader {
  const PawlHttpLimits *limits;
  PawlHttpState state;
  GString *line;    /* of a head, of a chunk's size, of a trailer: up to its CR LF */
  gboolean started; /* a byte of this request has come */
  gsize head_bytes;
  guint n_lines; /* header and trailer lines */
  gsize to_come; /* STATE_BODY, STATE_CHUNK */
  guint n_blank; /* empty lines before the request line */
  gboolean continues;
  PawlHttpRequest request;
  int status;
  const char *why;
};

/* Answers FALSE. `why` is static. */
gboolean pawl_http_refuse(PawlHttpReader *reader, int status, const char *why);

/* ---- request_line.c ---- */
gboolean pawl_http_take_line(PawlHttpReader *reader, const char *line);
/* ---- request_head.c ---- */
gboolean pawl_http_take_header(PawlHttpReader *reader, const char *line);
/* The end of the head: what its headers mean together. Sets the state. */
gboolean pawl_http_end_head(PawlHttpReader *reader);

static inline gboolean pawl_http_is_token(char c) { return g_ascii_isalnum(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL); }
static inline gboolean pawl_http_all_token(const char *text) {
  if (*text == '\0') return FALSE;
  while (pawl_http_is_token(*text)) text++;
  return *text == '\0';
}
