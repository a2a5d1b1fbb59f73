/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the door share. Everything here runs on the door's thread, unless it says otherwise. */
#pragma once
#include "http/http.h"
#include "http/response.h"

#include <pthread.h>
#include <stdatomic.h>

struct event;
struct event_base;
struct evconnlistener;

struct PawlDoor {
  PawlDoorOptions options;
  PawlAddress bound;
  pthread_t thread;
  atomic_bool stopping;
  int wake_fd;
  struct event_base *base;
  struct event *wake, *again;
  struct evconnlistener *listener;
  GQueue connections; /* PawlHttpConnection *, oldest first */
};

extern const PawlHttp pawl_http;

/* ---- connection.c ---- */
typedef struct PawlHttpConnection PawlHttpConnection;
/* Takes the socket. */
void pawl_http_connection_open(PawlDoor *door, int fd);
void pawl_http_connection_close(PawlHttpConnection *connection);
/* Whether a handler has its request: then it is not closed to make room. */
gboolean pawl_http_connection_waits(const PawlHttpConnection *connection);
/* Asks the handler again. */
void pawl_http_connection_again(PawlHttpConnection *connection);

/* ---- guard.c ---- */
/* FALSE: the request comes, or may come, from a page of another site in the user's browser: *ret_why says what gives it away. */
gboolean pawl_http_guard(const PawlDoor *door, const PawlHttpRequest *request, const char **ret_why);

/* ---- routes.c ---- */
/* FALSE: not yet; ask again after a wake. `last`: the time is over, answer with what there is. */
gboolean pawl_http_route(PawlDoor *door, const PawlHttpRequest *request, gboolean last, PawlHttpResponse *ret_response);

/* ---- health.c: handlers ---- */
gboolean pawl_http_livez(PawlDoor *door, const PawlHttpRequest *request, gboolean last, PawlHttpResponse *ret_response);
gboolean pawl_http_readyz(PawlDoor *door, const PawlHttpRequest *request, gboolean last, PawlHttpResponse *ret_response);
gboolean pawl_http_metrics(PawlDoor *door, const PawlHttpRequest *request, gboolean last, PawlHttpResponse *ret_response);
