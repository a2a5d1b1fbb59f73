/* SPDX-License-Identifier: Apache-2.0 */
/* The door's thread and what it listens on. */
#include "base/error.h"
#include "http/door_private.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BACKLOG 512
#define SHORT_OF_MEANS_MS 100

/* ---- accepting ---- */

/* The oldest that no handler works for gives way. */
static gboolean make_room(PawlDoor *door) {
  for (GList *link = door->connections.head; link != NULL; link = link->next)
    if (!pawl_http_connection_waits(link->data)) {
      pawl_http_connection_close(link->data);
      return TRUE;
    }
  return FALSE;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *peer, int bytes, void *data) {
  PawlDoor *door = data;
  if (door->connections.length >= door->options.connections && !make_room(door)) {
    close(fd);
    return;
  }
  pawl_http_connection_open(door, fd);
}

static void on_again(evutil_socket_t fd, short what, void *data) { evconnlistener_enable(((PawlDoor *)data)->listener); }

/* Descriptors are short: the client waits in the kernel's queue for a moment, and the oldest connection makes room. */
static void on_accept_failed(struct evconnlistener *listener, void *data) {
  PawlDoor *door = data;
  struct timeval after = {.tv_usec = SHORT_OF_MEANS_MS * 1000};
  make_room(door);
  evconnlistener_disable(listener);
  event_add(door->again, &after);
}

static void on_wake(evutil_socket_t fd, short what, void *data) {
  PawlDoor *door = data;
  guint64 count;
  gssize ignored = read(fd, &count, sizeof count);
  (void)ignored;
  if (atomic_load(&door->stopping)) {
    event_base_loopbreak(door->base);
    return;
  }
  for (GList *link = door->connections.head, *next; link != NULL; link = next) {
    next = link->next;
    pawl_http_connection_again(link->data);
  }
}

static void *run(void *data) {
  event_base_dispatch(((PawlDoor *)data)->base);
  return NULL;
}

/* ---- opening ---- */

/* The listening socket, or -1. `bound` gets the real port. */
static int listen_at(const PawlAddress *address, PawlAddress *bound, GError **error) {
  int yes = 1, fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  char text[PAWL_ADDRESS_TEXT];
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd < 0 || bind(fd, (const struct sockaddr *)&address->socket, address->bytes) != 0 || listen(fd, BACKLOG) != 0) {
    int why = errno;
    pawl_address_text((const struct sockaddr *)&address->socket, text);
    if (why == EADDRINUSE)
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE,
        "%s is taken by another program; choose another port (0: any that is free), or none", text);
    else
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "%s cannot be listened on: %s", text, g_strerror(why));
    if (fd >= 0) close(fd);
    return -1;
  }
  bound->bytes = sizeof bound->socket;
  getsockname(fd, (struct sockaddr *)&bound->socket, &bound->bytes);
  return fd;
}

static void free_door(PawlDoor *door) {
  while (door->connections.head != NULL) pawl_http_connection_close(door->connections.head->data);
  evconnlistener_free(door->listener);
  event_free(door->wake);
  event_free(door->again);
  event_base_free(door->base);
  close(door->wake_fd);
  g_free(door);
}

static PawlDoor *open_door(const PawlDoorOptions *options, GError **error) {
  PawlAddress bound = {.loopback = options->address.loopback};
  int fd = listen_at(&options->address, &bound, error);
  if (fd < 0) return NULL;
  PawlDoor *door = g_new0(PawlDoor, 1);
  door->options = *options;
  door->bound = bound;
  g_queue_init(&door->connections);
  door->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  door->base = event_base_new();
  door->wake = event_new(door->base, door->wake_fd, EV_READ | EV_PERSIST, on_wake, door);
  door->again = evtimer_new(door->base, on_again, door);
  event_add(door->wake, NULL);
  door->listener = evconnlistener_new(door->base, on_accept, door, LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, -1, fd);
  evconnlistener_set_error_cb(door->listener, on_accept_failed);
  int failed = pthread_create(&door->thread, NULL, run, door);
  g_assert(failed == 0);
  pthread_setname_np(door->thread, "pawl-http");
  return door;
}

static char *address(const PawlDoor *door, char text[PAWL_ADDRESS_TEXT]) {
  return pawl_address_text((const struct sockaddr *)&door->bound.socket, text);
}

static void wake(PawlDoor *door) {
  guint64 one = 1;
  gssize ignored = write(door->wake_fd, &one, sizeof one);
  (void)ignored;
}

static void close_door(PawlDoor *door) {
  if (door == NULL) return;
  atomic_store(&door->stopping, TRUE);
  wake(door);
  pthread_join(door->thread, NULL);
  free_door(door);
}

const PawlHttp pawl_http = {.open = open_door, .address = address, .wake = wake, .close = close_door};
