/* SPDX-License-Identifier: Apache-2.0 */
/* The bell and the hold, within a process and between two. */
#include "test_db.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

static gboolean rang(PawlBell *bell, int wait_ms) {
  struct pollfd p = {.fd = pawl_bell_fd(bell), .events = POLLIN};
  return poll(&p, 1, wait_ms) == 1 && (p.revents & POLLIN) != 0;
}

static PawlBell *listen_to(PawlDb *db) {
  g_autoptr(GError) error = NULL;
  PawlBell *bell = pawl_bell_listen(db, &error);
  g_assert_no_error(error);
  return bell;
}

static void test_ring(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url), *other = open_again(place->url);
  pawl_db_ring(other); /* nobody is there */
  PawlBell *bell = listen_to(db);
  g_assert_false(rang(bell, 0));
  pawl_db_ring(other);
  g_assert_true(rang(bell, 1000));
  pawl_bell_drain(bell);
  g_assert_false(rang(bell, 0));
  for (int i = 0; i < 100000; i++) pawl_db_ring(other); /* more than a FIFO holds */
  g_assert_true(rang(bell, 0));
  pawl_bell_drain(bell);
  g_assert_false(rang(bell, 0));
  pawl_bell_drain(bell);
  pawl_db_ring(db);
  g_assert_true(rang(bell, 0));
  pawl_bell_close(bell);
  pawl_bell_close(NULL);

  /* The listener is gone: ringing raises no SIGPIPE, and finds the next listener. */
  g_assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
  pawl_db_ring(other);
  pawl_db_ring(other);
  bell = listen_to(db);
  pawl_db_ring(other);
  g_assert_true(rang(bell, 0));
  pawl_bell_close(bell);
  pawl_db_close(other);
  pawl_db_close(db);
}

static void test_what_lies_there(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_strconcat(place->path, ".bell", NULL);
  struct stat st;
  PawlDb *db = open_made(place->url);
  g_assert_true(g_file_set_contents(path, "garbage", -1, NULL));
  pawl_db_ring(db);
  g_autofree char *left = NULL;
  g_assert_true(g_file_get_contents(path, &left, NULL, NULL));
  g_assert_cmpstr(left, ==, "garbage"); /* who rings writes to nothing but a FIFO */
  PawlBell *bell = listen_to(db);
  g_assert_true(lstat(path, &st) == 0 && S_ISFIFO(st.st_mode));
  g_assert_cmpint(st.st_mode & 07777, ==, 0600);
  pawl_bell_close(bell);
  g_unlink(path);
  g_assert_cmpint(symlink("/etc/passwd", path), ==, 0);
  pawl_db_ring(db);
  bell = listen_to(db);
  g_assert_true(lstat(path, &st) == 0 && S_ISFIFO(st.st_mode));
  pawl_bell_close(bell);
  g_unlink(path);
  g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
  g_assert_null(pawl_bell_listen(db, &error));
  assert_error(error, PAWL_ERROR_UNAVAILABLE, "a folder lies there");
  pawl_db_close(db);
}

static void test_ring_across(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url);
  PawlBell *bell = listen_to(db);
  for (int i = 0; i < 3; i++) {
    GPid pid = child_start((const char *[]){"child-ring", place->url, NULL});
    g_assert_true(rang(bell, 10000));
    g_assert_cmpint(child_wait(pid), ==, 0);
    pawl_bell_drain(bell);
  }
  pawl_bell_close(bell);
  pawl_db_close(db);
}

static void test_hold(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url), *other = open_again(place->url);
  g_assert_cmpint(pawl_db_holder(db), ==, 0);
  PawlHold *hold = pawl_db_hold(db, &error);
  g_assert_no_error(error);
  g_assert_cmpint(pawl_db_holder(db), ==, getpid());
  g_assert_cmpint(pawl_db_holder(other), ==, getpid());
  g_assert_null(pawl_db_hold(other, &error)); /* not twice in one process either */
  g_autofree char *says = g_strdup_printf("pawl up (pid %d) already runs on this store", (int)getpid());
  assert_error(error, PAWL_ERROR_BUSY, says);
  g_clear_error(&error);
  pawl_db_close(other); /* closes the lock file's descriptors, if any; the hold stays */
  g_assert_cmpint(pawl_db_holder(db), ==, getpid());
  pawl_hold_release(hold);
  pawl_hold_release(NULL);
  g_assert_cmpint(pawl_db_holder(db), ==, 0);
  hold = pawl_db_hold(db, &error);
  g_assert_no_error(error);
  pawl_hold_release(hold);
  pawl_db_close(db);
}

static void test_hold_across(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  g_autofree char *lock = g_strconcat(place->path, ".lock", NULL);
  for (int i = 0; i < 3; i++) {
    GPid pid = child_start((const char *[]){"child-hold", place->url, NULL});
    wait_until(pawl_db_holder(db) == pid);
    g_assert_null(pawl_db_hold(db, &error));
    g_autofree char *says = g_strdup_printf("pawl up (pid %d) already runs", (int)pid);
    assert_error(error, PAWL_ERROR_BUSY, says);
    g_clear_error(&error);
    g_assert_cmpint(kill(pid, SIGKILL), ==, 0);
    g_assert_cmpint(child_wait(pid), ==, 128 + SIGKILL);
    g_assert_cmpint(pawl_db_holder(db), ==, 0); /* its pid still stands in the file */
    g_assert_true(g_file_test(lock, G_FILE_TEST_EXISTS));
    PawlHold *hold = pawl_db_hold(db, &error);
    g_assert_no_error(error);
    g_assert_cmpint(pawl_db_holder(db), ==, getpid());
    pawl_hold_release(hold);
  }
  pawl_db_close(db);
}

/* Root looks after another user's store: what it leaves there is that user's. */
static void test_owner(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_autofree char *bell_path = g_strconcat(place->path, ".bell", NULL), *lock_path = g_strconcat(place->path, ".lock", NULL);
  struct stat st;
  if (geteuid() != 0) {
    g_test_skip("only root can give files away");
    return;
  }
  PawlDb *db = open_made(place->url);
  pawl_db_close(db);
  g_assert_cmpint(chown(place->path, 65534, 65534), ==, 0);
  db = open_again(place->url);
  PawlBell *bell = listen_to(db);
  PawlHold *hold = pawl_db_hold(db, &error);
  g_assert_no_error(error);
  g_assert_true(stat(bell_path, &st) == 0 && st.st_uid == 65534);
  g_assert_true(stat(lock_path, &st) == 0 && st.st_uid == 65534 && (st.st_mode & 07777) == 0600);
  pawl_hold_release(hold);
  pawl_bell_close(bell);
  pawl_db_close(db);
}

static int child(const char *what, const char *url) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_again(url);
  if (g_str_equal(what, "child-ring")) {
    pawl_db_ring(db);
  } else {
    pawl_db_hold(db, &error);
    g_assert_no_error(error);
    pause();
  }
  pawl_db_close(db);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && g_str_has_prefix(argv[1], "child-")) return child(argv[1], argv[2]);
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/db/bell/" name, Place, NULL, place_make, function, place_drop)
  ADD("ring", test_ring);
  ADD("what-lies-there", test_what_lies_there);
  ADD("ring-across", test_ring_across);
  ADD("hold", test_hold);
  ADD("hold-across", test_hold_across);
  ADD("owner", test_owner);
  return g_test_run();
}
