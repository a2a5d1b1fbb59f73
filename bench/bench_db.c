/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the database port is on this disk: `bench_db FOLDER [SECONDS]`. Prints one figure a line, each measured for SECONDS (1):
 *
 *   fdatasync_per_second      the raw limit: appending 4 KiB to a file and syncing it, as a COMMIT of one page does to the log
 *   commits_per_second        transactions of one changed row
 *   threaded_commits_per_second   the same from four threads with a connection each
 *   rows_per_second           rows of 100 bytes inserted in transactions of 10,000
 *   reads_per_second          single rows read by key, each a query of its own
 *   ring_us                   one ring of the bell
 *   rss_kib                   resident memory with four connections that have done this work; rss_before_kib: before the first was opened */
#include "db/db.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gint64 seconds = 1;

static void must(GError *error) {
  if (error == NULL) return;
  fprintf(stderr, "bench_db: %s\n", error->message);
  exit(1);
}

static gint64 deadline(void) { return g_get_monotonic_time() + seconds * G_USEC_PER_SEC; }

static void say(const char *name, gint64 n, gint64 start_us) {
  printf("%s %.0f\n", name, (double)n * 1e6 / (double)(g_get_monotonic_time() - start_us));
  fflush(stdout);
}

static gint64 rss_kib(void) {
  g_autofree char *text = NULL;
  const char *line = g_file_get_contents("/proc/self/status", &text, NULL, NULL) ? strstr(text, "VmRSS:") : NULL;
  return line != NULL ? g_ascii_strtoll(line + strlen("VmRSS:"), NULL, 10) : 0;
}

static void bench_raw(const char *folder) {
  g_autofree char *path = g_build_filename(folder, "raw", NULL);
  char page[4096 + 24] = {0};
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  gint64 n = 0, start = g_get_monotonic_time(), end = deadline();
  for (; g_get_monotonic_time() < end; n++) {
    /* As the log, it begins again after 1000 pages: then no more room has to be found. */
    if (pwrite(fd, page, sizeof page, (n % 1000) * (gint64)sizeof page) < 0 || fdatasync(fd) != 0) exit(1);
  }
  say("fdatasync_per_second", n, start);
  close(fd);
  unlink(path);
}

static PawlDb *open_store(const char *url) {
  GError *error = NULL;
  PawlDb *db = pawl_db_open(&(PawlDbOptions){.url = url, .create = TRUE, .busy_ms = 60000}, &error);
  must(error);
  return db;
}

static void make_tables(PawlDb *db) {
  GError *error = NULL;
  gsize n;
  const PawlMigration *list = pawl_db_migrations(db, &n);
  if (pawl_db_begin(db, PAWL_TX_WRITE, &error))
    for (gsize i = 0; i < n && pawl_db_script(db, list[i].sql, &error); i++) continue;
  must(error);
  pawl_db_commit(db, &error);
  must(error);
  for (char name[2] = "a"; name[0] <= 'e'; name[0]++)
    pawl_db_exec(db, PAWL_SQL_COUNTER_SET, NULL, &error, PAWL_ROW(pawl_text(name), PAWL_INT(0)));
  must(error);
}

static gint64 commit_rows(PawlDb *db, const char *name) {
  GError *error = NULL;
  gint64 n = 0;
  for (gint64 end = deadline(); error == NULL && g_get_monotonic_time() < end; n++)
    if (pawl_db_begin(db, PAWL_TX_WRITE, &error) &&
        pawl_db_exec(db, PAWL_SQL_COUNTER_PUT, NULL, &error, PAWL_ROW(pawl_text(name), PAWL_INT(n % 1000))))
      pawl_db_commit(db, &error);
  must(error);
  return n;
}

typedef struct {
  PawlDb *db;
  char name[2];
  gint64 n;
} Worker;

static void *worker(void *data) {
  Worker *me = data;
  me->n = commit_rows(me->db, me->name);
  return NULL;
}

static void bench_commits(PawlDb **dbs, int n_dbs) {
  Worker workers[8];
  pthread_t threads[8];
  gint64 start = g_get_monotonic_time(), n = commit_rows(dbs[0], "e");
  say("commits_per_second", n, start);
  start = g_get_monotonic_time();
  for (int i = 0; i < n_dbs; i++) {
    workers[i] = (Worker){.db = dbs[i], .name = {(char)('a' + i)}};
    pthread_create(&threads[i], NULL, worker, &workers[i]);
  }
  n = 0;
  for (int i = 0; i < n_dbs; i++) {
    pthread_join(threads[i], NULL);
    n += workers[i].n;
  }
  say("threaded_commits_per_second", n, start);
}

static void bench_rows(PawlDb *db) {
  enum { BATCH = 100 };
  GError *error = NULL;
  char bytes[100] = {0};
  PawlValue values[BATCH * 3];
  gint64 n = 0, start = g_get_monotonic_time(), end = deadline();
  while (error == NULL && g_get_monotonic_time() < end) {
    pawl_db_begin(db, PAWL_TX_WRITE, &error);
    for (int batch = 0; error == NULL && batch < 10000 / BATCH; batch++) {
      for (int i = 0; i < BATCH; i++, n++) {
        values[3 * i] = PAWL_INT(n);
        values[3 * i + 1] = PAWL_INT(0);
        values[3 * i + 2] = pawl_blob(bytes, sizeof bytes);
      }
      pawl_db_exec_many(db, PAWL_SQL_STEP_ADD, values, 3, BATCH, NULL, &error);
    }
    if (error == NULL) pawl_db_commit(db, &error);
  }
  must(error);
  say("rows_per_second", n, start);
}

static void bench_reads(PawlDb *db) {
  GError *error = NULL;
  gint64 n = 0, start = g_get_monotonic_time(), end = deadline();
  for (; error == NULL && g_get_monotonic_time() < end; n++) {
    PawlRows *rows = pawl_db_query(db, PAWL_SQL_COUNTER_GET, &error, PAWL_ROW(pawl_text("a")));
    if (rows != NULL) pawl_rows_next(rows, &error);
    pawl_rows_close(rows);
  }
  must(error);
  say("reads_per_second", n, start);
}

static void bench_ring(PawlDb *db) {
  enum { RINGS = 10000 };
  GError *error = NULL;
  PawlBell *bell = pawl_bell_listen(db, &error);
  must(error);
  gint64 start = g_get_monotonic_time();
  for (int i = 0; i < RINGS; i++) pawl_db_ring(db);
  printf("ring_us %.2f\n", (double)(g_get_monotonic_time() - start) / RINGS);
  pawl_bell_close(bell);
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: bench_db FOLDER [SECONDS]\n");
    return 64;
  }
  if (argc == 3) seconds = MAX(1, g_ascii_strtoll(argv[2], NULL, 10));
  g_autofree char *folder = g_build_filename(argv[1], "bench_db.XXXXXX", NULL);
  if (g_mkdtemp(folder) == NULL) return 1;
  g_autofree char *url = g_strconcat("sqlite:", folder, "/pawl.db", NULL);
  PawlDb *dbs[4];
  bench_raw(folder);
  gint64 before_kib = rss_kib();
  for (int i = 0; i < 4; i++) {
    dbs[i] = open_store(url);
    if (i == 0) make_tables(dbs[i]);
  }
  bench_commits(dbs, 4);
  bench_rows(dbs[1]);
  bench_reads(dbs[2]);
  bench_ring(dbs[3]);
  printf("rss_kib %d\nrss_before_kib %d\n", (int)rss_kib(), (int)before_kib);
  for (int i = 0; i < 4; i++) pawl_db_close(dbs[i]);
  const char *suffixes[] = {"", ".bell"};
  for (int i = 0; i < 2; i++) {
    g_autofree char *path = g_strconcat(folder, "/pawl.db", suffixes[i], NULL);
    unlink(path);
  }
  return rmdir(folder) == 0 ? 0 : 1;
}
