/* SPDX-License-Identifier: Apache-2.0 */
/* The work of the integration tests: a task that leaves a trace of when it lived.
 *
 *   beat FILE MS [deaf] [fork] [exit=N]
 *
 * Appends to FILE, one write() a line: "S run attempt pid mono_ms", then "H …" every 10 ms for MS milliseconds, then "E …". `deaf`: TERM
 * is ignored. `fork`: a child in a session of its own beats for a minute ("C …" lines) and is left behind. mono_ms is
 * CLOCK_MONOTONIC, so that lines of different processes can be compared. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int out;

static long long mono_ms(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (long long)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void line(char kind) {
  const char *run = getenv("PAWL_RUN_ID"), *attempt = getenv("PAWL_ATTEMPT");
  char text[160];
  int n = snprintf(text, sizeof text, "%c %s %s %d %lld\n", kind, run ? run : "-", attempt ? attempt : "0", (int)getpid(), mono_ms());
  if (write(out, text, (size_t)n) != n) _exit(99);
}

static void beat(char kind, long ms) {
  long long end = mono_ms() + ms;
  struct timespec step = {.tv_nsec = 10 * 1000000};
  while (mono_ms() < end) {
    nanosleep(&step, NULL);
    line(kind);
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 98;
  int code = 0, leave_child = 0;
  for (int i = 3; i < argc; i++) {
    if (strcmp(argv[i], "deaf") == 0) signal(SIGTERM, SIG_IGN);
    if (strcmp(argv[i], "fork") == 0) leave_child = 1;
    if (strncmp(argv[i], "exit=", 5) == 0) code = atoi(argv[i] + 5);
  }
  out = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (out < 0) return 97;
  line('S');
  if (leave_child && fork() == 0) {
    setsid();
    beat('C', 60000);
    _exit(0);
  }
  beat('H', atol(argv[2]));
  line('E');
  return code;
}
