/* SPDX-License-Identifier: Apache-2.0 */
/* LISTEN, on a thread and a connection of its own, so that a lost connection is nobody else's trouble: it is opened again with a jittered
 * back-off for as long as it takes, and rings once when it is back. Behind a pooler in transaction mode nothing is ever heard; who listens
 * looks by himself as well. */
#include "base/error.h"
#include "db/postgres_private.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RETRY_MIN_MS 500
#define RETRY_MAX_MS 30000

typedef struct {
  PawlBell base;
  PawlPg *pg;
  pthread_t thread;
  int rang_fd, stop_fd;
} Bell;

static void ring(const Bell *bell) {
  guint64 one = 1;
  gssize ignored = write(bell->rang_fd, &one, sizeof one);
  (void)ignored;
}

static gboolean stopped(const Bell *bell, int ms) {
  struct pollfd fd = {.fd = bell->stop_fd, .events = POLLIN};
  return poll(&fd, 1, ms) > 0;
}

/* FALSE as well where a pooler stands between: the backend would go on listening for whoever gets it next. */
static gboolean listen_now(Bell *bell) {
  if (!pawl_pg_connect(bell->pg, NULL) || !bell->pg->direct) return FALSE;
  g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(bell->pg, "listen");
  pawl_pg_pipeline_add(pipeline, "LISTEN pawl", NULL);
  return pawl_pg_pipeline_run(pipeline, NULL, NULL);
}

/* Until the connection breaks or the bell is closed. What came together with the answer to LISTEN is in libpq's buffer already, where no
 * poll sees it: so first the notes, then the wait. */
static void hear(Bell *bell) {
  for (;;) {
    struct pollfd fds[] = {{.fd = PQsocket(bell->pg->conn), .events = POLLIN}, {.fd = bell->stop_fd, .events = POLLIN}};
    gboolean heard = FALSE;
    for (PGnotify *note = PQnotifies(bell->pg->conn); note != NULL; note = PQnotifies(bell->pg->conn)) {
      PQfreemem(note);
      heard = TRUE;
    }
    if (heard) ring(bell);
    if (poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0 || !PQconsumeInput(bell->pg->conn)) return;
  }
}

static void *run(void *data) {
  Bell *bell = data;
  int wait_ms = RETRY_MIN_MS;
  gboolean first = TRUE;
  while (!stopped(bell, 0)) {
    if (listen_now(bell)) {
      if (!first) ring(bell);
      first = FALSE;
      wait_ms = RETRY_MIN_MS;
      hear(bell);
    }
    pawl_pg_disconnect(bell->pg);
    if (stopped(bell, wait_ms / 2 + g_random_int_range(0, wait_ms))) break;
    wait_ms = MIN(wait_ms * 2, RETRY_MAX_MS);
  }
  return NULL;
}

PawlBell *pawl_pg_bell_listen(const PawlDb *base, GError **error) {
  const PawlPg *pg = (const PawlPg *)base;
  Bell *bell = g_new0(Bell, 1);
  bell->base.engine = &pawl_postgres_engine;
  bell->rang_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  bell->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  PawlDbOptions options = pg->options;
  options.interrupt_fd = bell->stop_fd;
  options.application = pg->application;
  bell->pg = pawl_pg_new(&options);
  bell->pg->base.url = g_strdup(base->url);
  if (pthread_create(&bell->thread, NULL, run, bell) != 0) g_error("no thread for the bell");
  pthread_setname_np(bell->thread, "pawl-bell");
  return &bell->base;
}

int pawl_pg_bell_fd(const PawlBell *base) { return ((const Bell *)base)->rang_fd; }

void pawl_pg_bell_drain(PawlBell *base) {
  guint64 count;
  gssize ignored = read(((Bell *)base)->rang_fd, &count, sizeof count);
  (void)ignored;
}

void pawl_pg_bell_close(PawlBell *base) {
  Bell *bell = (Bell *)base;
  guint64 one = 1;
  gssize ignored = write(bell->stop_fd, &one, sizeof one);
  (void)ignored;
  pthread_join(bell->thread, NULL);
  pawl_pg_free(bell->pg);
  close(bell->rang_fd);
  close(bell->stop_fd);
  g_free(bell);
}
