/* SPDX-License-Identifier: Apache-2.0 */
/* One connection: requests are read and answered one after the other, in their order, whatever the client sends ahead. Each wait has a
 * deadline that counts from its beginning, and no byte in between puts it off. */
#include "http/door_private.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/socket.h>

#define INPUT_MAX_BYTES 65536
#define OUTPUT_MAX_BYTES 262144 /* more unfetched answers than that: the next request has to wait */

typedef enum {
  WAIT_NONE,
  WAIT_FIRST, /* for the first byte of the first request */
  WAIT_NEXT,  /* for the first byte of another */
  WAIT_HEAD,
  WAIT_BODY,
  WAIT_HANDLER,
  WAIT_FETCH, /* for the client to take the answer */
  WAIT_BYE    /* all is said; what still comes is read and dropped, so that the answer is not lost to a reset */
} Wait;

static const int wait_ms[] = {[WAIT_FIRST] = 10000,
  [WAIT_NEXT] = 60000,
  [WAIT_HEAD] = 10000,
  [WAIT_BODY] = 20000,
  [WAIT_HANDLER] = 1000,
  [WAIT_FETCH] = 10000,
  [WAIT_BYE] = 1000};

struct PawlHttpConnection {
  PawlDoor *door;
  GList *link; /* in door->connections */
  struct bufferevent *io;
  struct event *timer;
  PawlHttpReader *reader;
  Wait wait;
  gboolean answered, waits, closing, half_closed;
};

void pawl_http_connection_close(PawlHttpConnection *connection) {
  g_queue_delete_link(&connection->door->connections, connection->link);
  event_free(connection->timer);
  bufferevent_free(connection->io);
  pawl_http_reader_free(connection->reader);
  g_free(connection);
}

static void start_wait(PawlHttpConnection *connection, Wait wait) {
  struct timeval after = {.tv_sec = wait_ms[wait] / 1000, .tv_usec = wait_ms[wait] % 1000 * 1000};
  if (wait == connection->wait) return;
  connection->wait = wait;
  event_add(connection->timer, &after);
}

static struct evbuffer *output_of(PawlHttpConnection *connection) { return bufferevent_get_output(connection->io); }

static void wait_for_what_is_next(PawlHttpConnection *connection) {
  static const Wait of_place[] = {[PAWL_HTTP_IDLE] = WAIT_NEXT, [PAWL_HTTP_IN_HEAD] = WAIT_HEAD, [PAWL_HTTP_IN_BODY] = WAIT_BODY};
  PawlHttpPlace place = pawl_http_reader_place(connection->reader);
  if (connection->wait == WAIT_BYE) return;
  if (connection->closing || (place == PAWL_HTTP_IDLE && evbuffer_get_length(output_of(connection)) > 0))
    start_wait(connection, WAIT_FETCH);
  else if (connection->waits)
    start_wait(connection, WAIT_HANDLER);
  else
    start_wait(connection, place == PAWL_HTTP_IDLE && !connection->answered ? WAIT_FIRST : of_place[place]);
}

/* ---- answers ---- */

static void answer(PawlHttpConnection *connection, PawlHttpResponse *response, gboolean head, gboolean keep_alive) {
  pawl_http_write(output_of(connection), response, head, keep_alive);
  pawl_http_response_clear(response);
  connection->answered = TRUE;
  connection->waits = FALSE;
  connection->closing = !keep_alive || connection->half_closed;
  connection->wait = WAIT_NONE;
}

static void refuse(PawlHttpConnection *connection, int status, const char *why) {
  PawlHttpResponse response = pawl_http_problem(status, why, NULL);
  answer(connection, &response, FALSE, FALSE);
}

/* FALSE: the handler needs time. */
static gboolean ask(PawlHttpConnection *connection, gboolean last) {
  const PawlHttpRequest *request = pawl_http_reader_request(connection->reader);
  PawlHttpResponse response = {0};
  connection->waits = !pawl_http_route(connection->door, request, last, &response);
  if (connection->waits) return FALSE;
  answer(connection, &response, g_str_equal(request->method, "HEAD"), request->keep_alive);
  pawl_http_reader_next(connection->reader);
  return TRUE;
}

/* ---- reading ---- */

/* What has come of the present request is fed to the reader. FALSE: there is nothing more to feed. */
static gboolean feed(PawlHttpConnection *connection) {
  struct evbuffer *input = bufferevent_get_input(connection->io);
  struct evbuffer_iovec piece;
  gsize used;
  if (evbuffer_peek(input, -1, NULL, &piece, 1) < 1 || piece.iov_len == 0) return FALSE;
  PawlHttpProgress progress = pawl_http_reader_feed(connection->reader, piece.iov_base, piece.iov_len, &used);
  evbuffer_drain(input, used);
  if (progress == PAWL_HTTP_BAD)
    refuse(connection, pawl_http_reader_status(connection->reader), pawl_http_reader_why(connection->reader));
  else if (progress == PAWL_HTTP_DONE)
    return ask(connection, FALSE);
  else if (pawl_http_reader_wants_continue(connection->reader))
    evbuffer_add_printf(output_of(connection), "HTTP/1.1 100 Continue\r\n\r\n");
  return TRUE;
}

static void go_on(PawlHttpConnection *connection) {
  while (!connection->waits && !connection->closing && evbuffer_get_length(output_of(connection)) <= OUTPUT_MAX_BYTES && feed(connection)) {
  }
  wait_for_what_is_next(connection);
}

static void on_read(struct bufferevent *io, void *data) {
  PawlHttpConnection *connection = data;
  struct evbuffer *input = bufferevent_get_input(io);
  if (connection->closing)
    evbuffer_drain(input, evbuffer_get_length(input));
  else
    go_on(connection);
}

/* All that was to be written is with the kernel. */
static void on_written(struct bufferevent *io, void *data) {
  PawlHttpConnection *connection = data;
  if (!connection->closing) {
    go_on(connection);
    return;
  }
  if (connection->wait == WAIT_BYE) return;
  shutdown(bufferevent_getfd(io), SHUT_WR);
  start_wait(connection, WAIT_BYE);
  on_read(io, connection);
}

/* The client has closed (its half), or the connection broke. A half-closed one still gets the answers that are on their way. */
static void on_event(struct bufferevent *io, short what, void *data) {
  PawlHttpConnection *connection = data;
  gboolean writing = evbuffer_get_length(output_of(connection)) > 0;
  if ((what & BEV_EVENT_EOF) == 0 || connection->wait == WAIT_BYE || (!writing && !connection->waits)) {
    pawl_http_connection_close(connection);
    return;
  }
  connection->half_closed = TRUE;
  connection->closing = connection->closing || !connection->waits;
}

static void on_deadline(evutil_socket_t fd, short what, void *data) {
  PawlHttpConnection *connection = data;
  switch (connection->wait) {
  case WAIT_HANDLER:
    ask(connection, TRUE);
    go_on(connection);
    return;
  case WAIT_HEAD:
  case WAIT_BODY:
    refuse(connection, 408,
      connection->wait == WAIT_HEAD ? "the head of the request did not come in time" : "the body of the request did not come in time");
    wait_for_what_is_next(connection);
    return;
  default: pawl_http_connection_close(connection);
  }
}

void pawl_http_connection_again(PawlHttpConnection *connection) {
  if (connection->waits && ask(connection, FALSE)) go_on(connection);
}

gboolean pawl_http_connection_waits(const PawlHttpConnection *connection) { return connection->waits; }

void pawl_http_connection_open(PawlDoor *door, int fd) {
  PawlHttpConnection *connection = g_new0(PawlHttpConnection, 1);
  connection->door = door;
  connection->reader = pawl_http_reader_new(&PAWL_HTTP_LIMITS);
  connection->io = bufferevent_socket_new(door->base, fd, BEV_OPT_CLOSE_ON_FREE);
  connection->timer = evtimer_new(door->base, on_deadline, connection);
  g_queue_push_tail(&door->connections, connection);
  connection->link = door->connections.tail;
  bufferevent_setcb(connection->io, on_read, on_written, on_event, connection);
  bufferevent_setwatermark(connection->io, EV_READ, 0, INPUT_MAX_BYTES);
  bufferevent_enable(connection->io, EV_READ | EV_WRITE);
  wait_for_what_is_next(connection);
}
