/* SPDX-License-Identifier: Apache-2.0 */
/* One scheduler per store: a write lock on STORE.lock. It is an OFD lock (fcntl(2)), so it belongs to the open file: it ends with the
 * process however that ends, and no other open or close of the file in this process drops it. The pid inside is for people; whether
 * somebody holds the store is asked of the lock alone. The file is never deleted: a lock on a deleted file would exclude nobody. */
#include "base/error.h"
#include "db/sqlite_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  PawlHold hold;
  int fd;
} SqliteHold;

static char *lock_path(const PawlSqlite *db) { return g_strconcat(db->path, ".lock", NULL); }

static gint64 read_pid(int fd) {
  char text[24] = {0};
  ssize_t n = pread(fd, text, sizeof text - 1, 0);
  return n > 0 ? g_ascii_strtoll(text, NULL, 10) : 0;
}

/* The holder writes its pid right after it took the lock; the little while between is waited for. -1: still not there. */
static gint64 read_pid_soon(int fd) {
  for (int i = 0; i < 100; i++) {
    gint64 pid = read_pid(fd);
    if (pid > 0) return pid;
    g_usleep(1000);
  }
  return -1;
}

static gboolean write_pid(int fd) {
  char text[24];
  int n = g_snprintf(text, sizeof text, "%d\n", (int)getpid());
  return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n;
}

static void held(int fd, const PawlSqlite *db, GError **error) {
  gint64 pid = read_pid_soon(fd);
  if (pid > 0)
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_BUSY, "pawl up (pid %" G_GINT64_FORMAT ") already runs on this store, %s", pid, db->path);
  else
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_BUSY, "pawl up already runs on this store, %s", db->path);
}

PawlHold *pawl_sqlite_hold(const PawlDb *base, GError **error) {
  const PawlSqlite *db = (const PawlSqlite *)base;
  g_autofree char *path = lock_path(db);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  int cause = errno;
  if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0) {
    pawl_sqlite_give_to_owner(db->path, fd);
    if (write_pid(fd)) {
      SqliteHold *hold = g_new0(SqliteHold, 1);
      hold->hold.engine = &pawl_sqlite_engine;
      hold->fd = fd;
      return &hold->hold;
    }
    cause = errno;
  } else if (fd >= 0) {
    cause = errno;
  }
  if (fd >= 0 && (cause == EAGAIN || cause == EACCES))
    held(fd, db, error);
  else
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "the lock %s cannot be taken: %s", path, g_strerror(cause));
  if (fd >= 0) close(fd);
  return NULL;
}

void pawl_sqlite_hold_release(PawlHold *hold) {
  close(((SqliteHold *)hold)->fd);
  g_free(hold);
}

gint64 pawl_sqlite_holder(const PawlDb *base) {
  g_autofree char *path = lock_path((const PawlSqlite *)base);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return 0;
  gint64 pid = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? read_pid_soon(fd) : 0;
  close(fd);
  return pid;
}
