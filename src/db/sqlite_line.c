/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite has one writer at a time and no queue: who polls at the right moment gets the lock. Among the threads of one process this line
 * makes it fair, and spares all but the first the polling. Who leaves hands over to the one who waits longest, so nobody overtakes.
 *
 * Lines are found by (device, inode), so two spellings of a path are one line. One mutex for the list, one for each line; neither is held
 * while a writer waits or writes. */
#include "db/sqlite_private.h"

#include <pthread.h>
#include <time.h>

typedef struct Waiter Waiter;
struct Waiter {
  Waiter *next;
  pthread_cond_t turn;
  gboolean granted;
};

struct PawlLine {
  PawlLine *next;
  dev_t device;
  ino_t inode;
  guint refs;
  pthread_mutex_t lock;
  gboolean taken;
  guint queued;
  Waiter *first, *last;
};

static pthread_mutex_t lines_lock = PTHREAD_MUTEX_INITIALIZER;
static PawlLine *lines;

PawlLine *pawl_line_of(dev_t device, ino_t inode) {
  pthread_mutex_lock(&lines_lock);
  PawlLine *line = lines;
  while (line != NULL && (line->device != device || line->inode != inode)) line = line->next;
  if (line == NULL) {
    line = g_new0(PawlLine, 1);
    line->device = device;
    line->inode = inode;
    pthread_mutex_init(&line->lock, NULL);
    line->next = lines;
    lines = line;
  }
  line->refs++;
  pthread_mutex_unlock(&lines_lock);
  return line;
}

void pawl_line_unref(PawlLine *line) {
  if (line == NULL) return;
  pthread_mutex_lock(&lines_lock);
  if (--line->refs == 0) {
    PawlLine **at = &lines;
    while (*at != line) at = &(*at)->next;
    *at = line->next;
    pthread_mutex_destroy(&line->lock);
    g_free(line);
  }
  pthread_mutex_unlock(&lines_lock);
}

static void append(PawlLine *line, Waiter *waiter) {
  if (line->last != NULL)
    line->last->next = waiter;
  else
    line->first = waiter;
  line->last = waiter;
}

static void drop(PawlLine *line, Waiter *waiter) {
  Waiter *before = NULL;
  for (Waiter *w = line->first; w != waiter; w = w->next) before = w;
  if (before != NULL)
    before->next = waiter->next;
  else
    line->first = waiter->next;
  if (line->last == waiter) line->last = before;
}

static gboolean wait_for_turn(PawlLine *line, gint64 until_us) {
  struct timespec until = {.tv_sec = until_us / G_USEC_PER_SEC, .tv_nsec = (until_us % G_USEC_PER_SEC) * 1000};
  Waiter me = {0};
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&me.turn, &monotonic);
  pthread_condattr_destroy(&monotonic);
  append(line, &me);
  line->queued++;
  int rc = 0;
  while (!me.granted && rc == 0) rc = pthread_cond_timedwait(&me.turn, &line->lock, &until);
  if (!me.granted) drop(line, &me);
  pthread_cond_destroy(&me.turn);
  return me.granted;
}

gboolean pawl_line_enter(PawlLine *line, gint64 until_us) {
  pthread_mutex_lock(&line->lock);
  gboolean mine = !line->taken;
  if (mine)
    line->taken = TRUE;
  else if (until_us > g_get_monotonic_time())
    mine = wait_for_turn(line, until_us);
  pthread_mutex_unlock(&line->lock);
  return mine;
}

void pawl_line_leave(PawlLine *line) {
  pthread_mutex_lock(&line->lock);
  Waiter *next = line->first;
  if (next == NULL) {
    line->taken = FALSE;
  } else { /* it stays taken: the place goes straight to the next */
    drop(line, next);
    next->granted = TRUE;
    pthread_cond_signal(&next->turn);
  }
  pthread_mutex_unlock(&line->lock);
}

guint pawl_line_queued(PawlLine *line) {
  pthread_mutex_lock(&line->lock);
  guint queued = line->queued;
  pthread_mutex_unlock(&line->lock);
  return queued;
}
