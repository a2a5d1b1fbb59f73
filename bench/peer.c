/* SPDX-License-Identifier: Apache-2.0 */
/* The raw limits that pawl's figures stand beside, and the task that measures its own start.
 *
 *   peer stamp FILE               appends "nominal_ms run now_ns" to FILE: the first thing the process does
 *   peer clock FILE N PERIOD_MS   sleeps until N multiples of a period and starts `stamp` at each by posix_spawn, nothing else
 *   peer spawn FILE N             starts `stamp` N times in a loop; prints the instant (ns) at which it began
 *   peer sync FILE MS             appends 4 KiB and calls fdatasync for so long; prints how often a second */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now_ns(clockid_t clock) {
  struct timespec ts;
  clock_gettime(clock, &ts);
  return (long long)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int stamp(const char *file) {
  long long now = now_ns(CLOCK_REALTIME);
  const char *nominal = getenv("PAWL_NOMINAL_MS"), *run = getenv("PAWL_RUN_ID");
  char line[128];
  int n = snprintf(line, sizeof line, "%s %s %lld\n", nominal && *nominal ? nominal : "0", run ? run : "-", now);
  int fd = open(file, O_WRONLY | O_APPEND | O_CREAT, 0644);
  return write(fd, line, (size_t)n) == n ? 0 : 1;
}

static void start(char *self, char *file) {
  char *const argv[] = {self, "stamp", file, NULL};
  pid_t pid;
  if (posix_spawn(&pid, self, NULL, NULL, argv, environ) != 0) exit(1);
}

static int by_clock(char *self, char *file, long n, long period_ms) {
  long long next_ms = now_ns(CLOCK_REALTIME) / 1000000 / period_ms * period_ms;
  for (long i = 0; i < n; i++) {
    char nominal[32];
    next_ms += period_ms;
    struct timespec at = {.tv_sec = next_ms / 1000, .tv_nsec = next_ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) != 0) {}
    snprintf(nominal, sizeof nominal, "%lld", next_ms);
    setenv("PAWL_NOMINAL_MS", nominal, 1);
    start(self, file);
    while (waitpid(-1, NULL, WNOHANG) > 0) {}
  }
  while (wait(NULL) > 0) {}
  return 0;
}

static int loop(char *self, char *file, long n) {
  printf("%lld\n", now_ns(CLOCK_REALTIME));
  for (long i = 0; i < n; i++) start(self, file);
  while (wait(NULL) > 0) {}
  return 0;
}

static int sync_rate(const char *file, long ms) {
  static char page[4096];
  int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  long long begin = now_ns(CLOCK_MONOTONIC), end = begin + ms * 1000000LL, n = 0;
  for (; now_ns(CLOCK_MONOTONIC) < end; n++)
    if (write(fd, page, sizeof page) != sizeof page || fdatasync(fd) != 0) return 1;
  printf("%.0f\n", (double)n * 1e9 / (double)(now_ns(CLOCK_MONOTONIC) - begin));
  return unlink(file);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "stamp") == 0) return stamp(argv[2]);
  if (argc == 5 && strcmp(argv[1], "clock") == 0) return by_clock(argv[0], argv[2], atol(argv[3]), atol(argv[4]));
  if (argc == 4 && strcmp(argv[1], "spawn") == 0) return loop(argv[0], argv[2], atol(argv[3]));
  if (argc == 4 && strcmp(argv[1], "sync") == 0) return sync_rate(argv[2], atol(argv[3]));
  return 2;
}
