/* SPDX-License-Identifier: Apache-2.0 */
/* Many writers: two processes with four threads each. No update is lost, nobody is told BUSY before the deadline, and within a process
 * everybody gets a turn. */
#include "db/sqlite_private.h"
#include "test_db.h"

#include <stdatomic.h>

#define THREADS 4

typedef struct {
  const char *url;
  int adds; /* how many, 0: until `stop` */
  atomic_int *stop;
  int done;
} Worker;

/* Reads, waits for others to step in, and writes what it read plus one: lost unless the transaction is alone. */
static void add_slowly(PawlDb *db) {
  begin(db, PAWL_TX_WRITE);
  gint64 value = read_one(db, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("a")));
  g_thread_yield();
  exec(db, PAWL_SQL_COUNTER_PUT, PAWL_ROW(pawl_text("a"), PAWL_INT(value + 1)));
  commit(db);
}

static gpointer work(gpointer data) {
  Worker *me = data;
  PawlDb *db = open_again(me->url);
  while (me->adds > 0 ? me->done < me->adds : !atomic_load(me->stop)) {
    if (me->done % 2 == 0)
      add_slowly(db);
    else
      exec(db, PAWL_SQL_COUNTER_ADD, PAWL_ROW(pawl_text("a"), PAWL_INT(1))); /* without a transaction of the caller's */
    me->done++;
  }
  pawl_db_close(db);
  return NULL;
}

static void run_workers(const char *url, int adds) {
  Worker workers[THREADS];
  GThread *threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (Worker){.url = url, .adds = adds};
    threads[i] = g_thread_new("writer", work, &workers[i]);
  }
  for (int i = 0; i < THREADS; i++) g_thread_join(threads[i]);
}

static void test_no_lost_update(Place *place, gconstpointer data) {
  const int adds = g_test_slow() ? 1000 : 100;
  PawlDb *db = open_made(place->url);
  exec(db, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text("a"), PAWL_INT(0)));
  g_autofree char *count = g_strdup_printf("%d", adds);
  GPid pid = child_start((const char *[]){"child-add", place->url, count, NULL});
  run_workers(place->url, adds);
  g_assert_cmpint(child_wait(pid), ==, 0);
  g_assert_cmpint(read_one(db, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("a"))), ==, 2 * THREADS * adds);
  pawl_db_close(db);
}

static void test_fair(Place *place, gconstpointer data) {
  atomic_int stop = 0;
  Worker workers[THREADS];
  GThread *threads[THREADS];
  int least = G_MAXINT, most = 0;
  PawlDb *db = open_made(place->url);
  exec(db, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text("a"), PAWL_INT(0)));
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (Worker){.url = place->url, .stop = &stop};
    threads[i] = g_thread_new("writer", work, &workers[i]);
  }
  gint64 until = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;
  while (read_one(db, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("a"))) < 400 && g_get_monotonic_time() < until) g_usleep(1000);
  atomic_store(&stop, 1);
  for (int i = 0; i < THREADS; i++) {
    g_thread_join(threads[i]);
    least = MIN(least, workers[i].done);
    most = MAX(most, workers[i].done);
  }
  g_test_message("writes of the threads: %d to %d", least, most);
  g_assert_cmpint(most, <=, 2 * least + 20);
  pawl_db_close(db);
}

static PawlDb *open_impatient(const char *url) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = pawl_db_open(&(PawlDbOptions){.url = url, .busy_ms = 200}, &error);
  g_assert_no_error(error);
  return db;
}

static void busy_in_time(PawlDb *db, const char *says) {
  g_autoptr(GError) error = NULL;
  gint64 start = g_get_monotonic_time();
  g_assert_false(pawl_db_begin(db, PAWL_TX_WRITE, &error));
  gint64 took_ms = (g_get_monotonic_time() - start) / 1000;
  assert_error(error, PAWL_ERROR_BUSY, says);
  g_assert_false(pawl_db_in_transaction(db));
  g_assert_cmpint(took_ms, >=, 195);
  g_assert_cmpint(took_ms, <, 2000);
}

static void test_deadline(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url), *impatient = open_impatient(place->url);
  exec(db, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text("a"), PAWL_INT(0)));
  begin(db, PAWL_TX_WRITE);
  busy_in_time(impatient, "other threads of this process");
  g_assert_false(pawl_db_exec(impatient, PAWL_SQL_COUNTER_ADD, NULL, &error, PAWL_ROW(pawl_text("a"), PAWL_INT(1))));
  assert_error(error, PAWL_ERROR_BUSY, "counter_add: other threads");
  g_clear_error(&error);
  pawl_db_tidy(impatient); /* does not wait */
  pawl_db_rollback(db);

  sqlite3 *stranger; /* as another process: it does not stand in line */
  g_assert_cmpint(sqlite3_open(place->path, &stranger), ==, SQLITE_OK);
  g_assert_cmpint(sqlite3_exec(stranger, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
  busy_in_time(impatient, "another process held");
  g_assert_false(pawl_db_exec(impatient, PAWL_SQL_COUNTER_ADD, NULL, &error, PAWL_ROW(pawl_text("a"), PAWL_INT(1))));
  assert_error(error, PAWL_ERROR_BUSY, "counter_add: database is locked");
  g_assert_cmpint(read_one(impatient, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("a"))), ==, 0); /* reading is not held up */
  sqlite3_exec(stranger, "COMMIT", NULL, NULL, NULL);
  sqlite3_close(stranger);
  exec(impatient, PAWL_SQL_COUNTER_ADD, PAWL_ROW(pawl_text("a"), PAWL_INT(1)));
  pawl_db_close(impatient);
  pawl_db_close(db);
}

typedef struct {
  PawlLine *line;
  GString *order;
} Queue;
typedef struct {
  Queue *queue;
  char name;
} Guest;

static gpointer stand_in_line(gpointer data) {
  Guest *guest = data;
  g_assert_true(pawl_line_enter(guest->queue->line, g_get_monotonic_time() + 20 * G_USEC_PER_SEC));
  g_string_append_c(guest->queue->order, guest->name); /* the line is the lock */
  pawl_line_leave(guest->queue->line);
  return NULL;
}

static gpointer give_up(gpointer data) {
  Guest *guest = data;
  g_assert_false(pawl_line_enter(guest->queue->line, g_get_monotonic_time() + 50000));
  return NULL;
}

/* Who came first is served first, also when somebody between gave up. */
static void test_line(void) {
  Queue queue = {.line = pawl_line_of(1, 2), .order = g_string_new(NULL)};
  Guest guests[5];
  GThread *threads[5];
  g_assert_true(pawl_line_of(1, 2) == queue.line);
  PawlLine *other = pawl_line_of(1, 3);
  g_assert_true(other != queue.line);
  pawl_line_unref(other);
  g_assert_true(pawl_line_enter(queue.line, 0));
  g_assert_false(pawl_line_enter(queue.line, 0));
  for (int i = 0; i < 5; i++) {
    guests[i] = (Guest){&queue, (char)('a' + i)};
    threads[i] = g_thread_new("guest", i == 2 ? give_up : stand_in_line, &guests[i]);
    wait_until(pawl_line_queued(queue.line) == (guint)i + 1);
  }
  g_thread_join(threads[2]);
  pawl_line_leave(queue.line);
  for (int i = 0; i < 5; i++)
    if (i != 2) g_thread_join(threads[i]);
  g_assert_cmpstr(queue.order->str, ==, "abde");
  g_assert_true(pawl_line_enter(queue.line, 0));
  pawl_line_leave(queue.line);
  pawl_line_unref(queue.line);
  pawl_line_unref(queue.line);
  g_string_free(queue.order, TRUE);
}

/* The child adds with four threads of its own. */
int main(int argc, char **argv) {
  if (argc == 4 && g_str_equal(argv[1], "child-add")) {
    run_workers(argv[2], atoi(argv[3]));
    return 0;
  }
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/db/contend/" name, Place, NULL, place_make, function, place_drop)
  ADD("no-lost-update", test_no_lost_update);
  ADD("fair", test_fair);
  ADD("deadline", test_deadline);
  g_test_add_func("/db/contend/line", test_line);
  return g_test_run();
}
