/* SPDX-License-Identifier: Apache-2.0 */
/* How long starting takes: 200 starts at once, by a bare posix_spawn loop and by the supervisor, and single starts one after the other.
 *
 *   bench_spawn PAWL-RUNNER [STARTS [ROUNDS]]
 *
 * A start of the bare loop is over when posix_spawn returns (the child is executed), one of the supervisor when STARTED is reported. Rounds
 * alternate between the two; medians are printed, and the best, which other load on the machine disturbs least. */
#include "base/clock.h"
#include "worker/supervisor.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now_us(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

typedef struct {
  PawlSupervisor *supervisor;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  guint wanted, started, ended, failed;
  double last_started_us;
} Bench;

static void take_report(PawlReport *report, gpointer data) {
  Bench *bench = data;
  if (report->kind == PAWL_REPORT_READY) pawl_supervisor_go(bench->supervisor, &report->fence);
  if (report->kind == PAWL_REPORT_STARTED || report->kind == PAWL_REPORT_ENDED) {
    pthread_mutex_lock(&bench->lock);
    if (report->kind == PAWL_REPORT_STARTED) {
      bench->started++;
      bench->last_started_us = now_us();
    } else {
      bench->ended++;
      if (report->end != PAWL_END_EXITED || report->code != 0) bench->failed++;
    }
    if (bench->ended == bench->wanted) pthread_cond_signal(&bench->changed);
    pthread_mutex_unlock(&bench->lock);
  }
  pawl_report_free(report);
}

static PawlWork *make_work(void) {
  static char *const argv[] = {(char *)"/bin/true", NULL};
  PawlWork *work = g_new0(PawlWork, 1);
  work->fence = (PawlFence){.run = pawl_id_new(pawl_clock_wall_ms()), .attempt = 1, .lease_version = 1};
  work->argv = g_strdupv((char **)argv);
  work->envp = g_strdupv(environ);
  work->cwd = g_strdup("/");
  work->umask = -1;
  work->lease_end_boot_ms = pawl_clock_boot_ms() + 60000;
  work->kill_after_ms = 10000;
  work->drain_output_ms = 1000;
  work->output_cap_bytes = 256 * 1024;
  return work;
}

/* Microseconds from the first submit to the last STARTED. */
static double supervisor_round(Bench *bench, guint n) {
  PawlWork **works = g_new(PawlWork *, n);
  for (guint i = 0; i < n; i++) works[i] = make_work();
  bench->started = bench->ended = 0;
  bench->wanted = n;
  double from_us = now_us();
  for (guint i = 0; i < n; i++) pawl_supervisor_submit(bench->supervisor, works[i]);
  pthread_mutex_lock(&bench->lock);
  while (bench->ended < n) pthread_cond_wait(&bench->changed, &bench->lock);
  double took_us = bench->last_started_us - from_us;
  if (bench->started != n) bench->failed++;
  pthread_mutex_unlock(&bench->lock);
  g_free(works);
  return took_us;
}

static double bare_round(guint n) {
  char *const argv[] = {(char *)"/bin/true", NULL};
  double from_us = now_us();
  for (guint i = 0; i < n; i++) {
    pid_t pid;
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0) exit(1);
  }
  double took_us = now_us() - from_us;
  for (guint i = 0; i < n; i++) wait(NULL);
  return took_us;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(double *values, guint n, double q) {
  qsort(values, n, sizeof *values, by_value);
  guint at = (guint)(q * n);
  return values[MIN(at, n - 1)];
}

int main(int argc, char **argv) {
  guint starts = argc > 2 ? (guint)atoi(argv[2]) : 200, rounds = argc > 3 ? (guint)atoi(argv[3]) : 9;
  if (argc < 2 || starts == 0 || rounds == 0) {
    fprintf(stderr, "usage: bench_spawn PAWL-RUNNER [STARTS [ROUNDS]]\n");
    return 2;
  }
  Bench bench = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  PawlSupervisorOptions options = {.runner_path = argv[1], .report = take_report, .data = &bench};
  g_autoptr(GError) error = NULL;
  bench.supervisor = pawl_supervisor_new(&options, &error);
  if (!bench.supervisor) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  double *bare = g_new(double, rounds), *ours = g_new(double, rounds), *single = g_new(double, 1000), *single_bare = g_new(double, 1000);
  supervisor_round(&bench, 10);
  bare_round(10);
  for (guint i = 0; i < rounds; i++) {
    bare[i] = bare_round(starts);
    ours[i] = supervisor_round(&bench, starts);
  }
  for (guint i = 0; i < 1000; i++) single[i] = supervisor_round(&bench, 1);
  for (guint i = 0; i < 1000; i++) single_bare[i] = bare_round(1);
  double bare_us = quantile(bare, rounds, 0.5), ours_us = quantile(ours, rounds, 0.5);
  printf("%u starts, bare posix_spawn loop: median %.1f ms, best %.1f ms\n", starts, bare_us / 1e3, bare[0] / 1e3);
  printf("%u starts, supervisor:            median %.1f ms, best %.1f ms\n", starts, ours_us / 1e3, ours[0] / 1e3);
  printf("ratio: median %.2f, best %.2f\n", ours_us / bare_us, ours[0] / bare[0]);
  printf("one start, bare:       p50 %.0f us, p99 %.0f us\n", quantile(single_bare, 1000, 0.5), quantile(single_bare, 1000, 0.99));
  printf("one start, supervisor: p50 %.0f us, p99 %.0f us\n", quantile(single, 1000, 0.5), quantile(single, 1000, 0.99));
  pawl_supervisor_free(bench.supervisor);
  if (bench.failed) fprintf(stderr, "%u starts failed\n", bench.failed);
  g_free(bare);
  g_free(ours);
  g_free(single);
  g_free(single_bare);
  return bench.failed ? 1 : 0;
}
