/* SPDX-License-Identifier: Apache-2.0 */
/* Answers: built whole, then written. */
#pragma once
#include "base/json.h"
#include "http/request.h"

struct evbuffer;

typedef struct {
  int status;
  const char *type;  /* Content-Type; static */
  const char *allow; /* 405: the methods that are; static; NULL: none */
  char *body;        /* owned */
} PawlHttpResponse;
void pawl_http_response_clear(PawlHttpResponse *response);

/* Takes the reference. */
PawlHttpResponse pawl_http_json(int status, json_t *body);
/* RFC 9457: type, title, status, detail; `more` are further members, taken, or NULL. */
PawlHttpResponse pawl_http_problem(int status, const char *detail, json_t *more);
/* Status line, headers, and the body unless `head`. */
void pawl_http_write(struct evbuffer *out, const PawlHttpResponse *response, gboolean head, gboolean keep_alive);
