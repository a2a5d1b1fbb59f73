/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of pawl-runner (runner_main.c says what it is). libc only, and little of it; one thread. */
#pragma once
#include "worker/runner_proto.h"

#include <sys/syscall.h>
#include <unistd.h>

/* close_range(2), which not every libc has. */
#define RUNNER_CLOSE_ON_EXEC (1u << 2)
static inline int runner_close_range(unsigned first, unsigned last, unsigned flags) {
  return (int)syscall(SYS_close_range, first, last, flags);
}

/* Why the work could not be executed, as the child tells it through the pipe that closes on exec. */
typedef struct {
  int32_t step;  /* RunnerStep */
  int32_t error; /* errno */
  int32_t found; /* the file exists, so ENOENT is about its interpreter */
} RunnerStartFailure;

/* Makes the child that becomes the work: own session and group, user, umask, working directory, default signals, and the descriptors
 * `given` as its 0, 1 and 2, no others. It dies with the runner (PR_SET_PDEATHSIG). Returns its pid, or -1 with errno. `*ret_failure_fd`
 * is at its end once the work is executed, and gives one RunnerStartFailure when it could not be; until then what `spec` points to stays
 * as it is. One start at a time. */
pid_t runner_start(const RunnerSpec *spec, const int given[3], int *ret_failure_fd);

/* Sends `signal` and then SIGCONT to each living descendant once. */
void runner_tree_signal(int signal);
/* Stops each descendant that no earlier call has stopped, so that none forks away. False when there was none. */
bool runner_tree_stop(void);
/* Kills each descendant. Who comes to be in spite of it needs another call. */
void runner_tree_kill(void);

/* Zeroed memory straight from the kernel; NULL when there is none. */
void *runner_memory(size_t bytes);
