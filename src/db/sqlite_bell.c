/* SPDX-License-Identifier: Apache-2.0 */
/* The bell is a FIFO beside the store, STORE.bell. The listener opens it for reading and writing, so that it never sees an end; who rings
 * opens it for writing, once, and writes a byte. A full FIFO is as good as a byte more. Without a listener opening fails (ENXIO) or
 * writing does (EPIPE): then nobody is woken, and the next ring tries again. */
#include "base/error.h"
#include "db/sqlite_private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  PawlBell bell;
  int fd;
} SqliteBell;

static char *bell_path(const PawlSqlite *db) { return g_strconcat(db->path, ".bell", NULL); }

static gboolean fail(GError **error, const char *path, const char *what) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "the bell %s cannot be used: %s", path, what);
  return FALSE;
}

/* Makes the FIFO; what else lies there is replaced if it is this user's own and no folder. */
static gboolean make_fifo(const char *path, GError **error) {
  for (int tries = 0; tries < 3; tries++) {
    struct stat st;
    if (mkfifo(path, 0600) == 0) return TRUE;
    if (errno != EEXIST) return fail(error, path, g_strerror(errno));
    if (lstat(path, &st) != 0) continue; /* gone meanwhile */
    if (S_ISFIFO(st.st_mode)) return TRUE;
    if (S_ISDIR(st.st_mode)) return fail(error, path, "a folder lies there; remove it");
    if (st.st_uid != geteuid()) return fail(error, path, "another user's file lies there; remove it");
    if (unlink(path) != 0 && errno != ENOENT) return fail(error, path, g_strerror(errno));
  }
  return fail(error, path, "another program makes files of that name");
}

/* -1 with errno when there is none, or something else than a FIFO. */
static int open_fifo(const char *path, int access) {
  int fd = open(path, access | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))) return fd;
  close(fd);
  errno = EINVAL;
  return -1;
}

PawlBell *pawl_sqlite_bell_listen(const PawlDb *base, GError **error) {
  g_autofree char *path = bell_path((const PawlSqlite *)base);
  if (!make_fifo(path, error)) return NULL;
  int fd = open_fifo(path, O_RDWR);
  if (fd < 0) {
    fail(error, path, g_strerror(errno));
    return NULL;
  }
  pawl_sqlite_give_to_owner(((const PawlSqlite *)base)->path, fd);
  SqliteBell *bell = g_new0(SqliteBell, 1);
  bell->bell.engine = &pawl_sqlite_engine;
  bell->fd = fd;
  return &bell->bell;
}

int pawl_sqlite_bell_fd(const PawlBell *bell) { return ((const SqliteBell *)bell)->fd; }

void pawl_sqlite_bell_drain(PawlBell *bell) {
  char rings[4096];
  ssize_t n;
  do n = read(((SqliteBell *)bell)->fd, rings, sizeof rings);
  while (n == (ssize_t)sizeof rings || (n < 0 && errno == EINTR));
}

void pawl_sqlite_bell_close(PawlBell *bell) {
  close(((SqliteBell *)bell)->fd);
  g_free(bell);
}

/* Writes one byte; a SIGPIPE that this raises is taken away again, whatever the program does about that signal. */
static int write_quietly(int fd) {
  sigset_t pipe_only, before, pending;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
  sigpending(&pending);
  ssize_t n;
  do n = write(fd, "!", 1);
  while (n < 0 && errno == EINTR);
  int cause = n < 0 ? errno : 0;
  if (cause == EPIPE && !sigismember(&pending, SIGPIPE)) {
    const struct timespec at_once = {0};
    while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR) continue;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return cause;
}

void pawl_sqlite_ring(PawlDb *base) {
  PawlSqlite *db = (PawlSqlite *)base;
  for (int tries = 0; tries < 2; tries++) {
    if (db->ring_fd < 0) {
      g_autofree char *path = bell_path(db);
      db->ring_fd = open_fifo(path, O_WRONLY);
      if (db->ring_fd < 0) return;
    }
    if (write_quietly(db->ring_fd) != EPIPE) return;
    close(db->ring_fd); /* the listener that it led to is gone; there may be a new one */
    db->ring_fd = -1;
  }
}
