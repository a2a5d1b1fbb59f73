/* SPDX-License-Identifier: Apache-2.0 */
/* From clone to exec: what stands between the runner and the work.
 *
 * The child begins in the runner's own memory, on a stack of its own, beside the runner, which goes on at once: nothing is copied that
 * exec would throw away, and whatever the child waits for (a dead disk) does not keep the runner from its lease. So it writes to nothing
 * that the runner reads; errno too is the runner's, and its system calls are made without it. Where that is not written for a machine, and
 * where the child becomes another user (memory that two users share is for nobody), it is forked. */
#include "worker/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A system call's result, or the negative errno. */
#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__
#define SHARES_MEMORY true
static long call(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}
#elif defined __aarch64__ && !defined __SANITIZE_ADDRESS__
#define SHARES_MEMORY true
static long call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#else
#define SHARES_MEMORY false
static long call(long number, long a, long b, long c, long d) {
  long result = syscall(number, a, b, c, d);
  return result < 0 ? -errno : result;
}
#endif

typedef struct {
  RunnerSpec spec;
  int given[3]; /* the work's 0, 1 and 2 */
  pid_t runner;
  int failure;
} Start;

static const char default_path[] = "/usr/local/bin:/usr/bin:/bin";

/* Groups first, the user last: each step needs the right that the last one gives away. Forked only. Returns 0 or an errno. */
static int become_user(const RunnerSpec *spec) {
  return setgroups(spec->n_groups, spec->groups) == 0 && setgid(spec->gid) == 0 && setuid(spec->uid) == 0 ? 0 : errno;
}

static void place_descriptors(const Start *start) {
  for (int fd = 0; fd < 3; fd++) call(SYS_dup3, start->given[fd], fd, 0, 0);
  if (call(SYS_close_range, 3, (long)~0u, RUNNER_CLOSE_ON_EXEC, 0) == 0) return;
  /* A kernel before 5.11, or a filter that does not know the call. The runner itself has closed whatever it did not open. */
  for (int fd = 3; fd < 64; fd++) call(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC, 0);
}

static const char *path_of(char *const *envp) {
  for (; *envp; envp++)
    if (strncmp(*envp, "PATH=", 5) == 0) return *envp + 5;
  return default_path;
}

static int execute(const char *file, const RunnerSpec *spec) {
  return (int)-call(SYS_execve, (long)file, (long)spec->argv, (long)spec->envp, 0);
}

/* As execvp(3), but by the PATH of the work, and without its guess that a file of unknown format is a shell script. Returns errno. */
static int exec_work(const RunnerSpec *spec) {
  const char *name = spec->argv[0];
  if (strchr(name, '/')) return execute(name, spec);
  int error = ENOENT;
  size_t name_bytes = strlen(name) + 1;
  for (const char *dir = path_of(spec->envp); name_bytes > 1;) {
    const char *end = strchrnul(dir, ':');
    char file[PATH_MAX];
    size_t dir_bytes = (size_t)(end - dir);
    if (dir_bytes + 1 + name_bytes <= sizeof file) {
      memcpy(file, dir, dir_bytes);
      file[dir_bytes] = '/';
      memcpy(file + dir_bytes + (dir_bytes > 0), name, name_bytes); /* an empty entry is the working directory */
      int refused = execute(file, spec);
      if (refused == EACCES)
        error = EACCES;
      else if (refused != ENOENT && refused != ENOTDIR && refused != ENAMETOOLONG && refused != ELOOP)
        return refused;
    }
    if (!*end) break;
    dir = end + 1;
  }
  return error;
}

static _Noreturn void end(int status) {
  for (;;) call(SYS_exit_group, status, 0, 0, 0);
}

static _Noreturn void fail(const Start *start, RunnerStep step, int error, bool found) {
  RunnerStartFailure failure = {.step = step, .error = error, .found = found};
  long n = call(SYS_write, start->failure, (long)&failure, sizeof failure, 0);
  end(n == sizeof failure ? 127 : 126);
}

/* pawl started the runner with default dispositions, except for two: glibc's posix_spawn leaves its own signals 32 and 33 ignored, and
 * its sigaction() does not reach them. */
static void reset_signals(void) {
  static const unsigned long kernel_default[8]; /* the kernel's struct sigaction: SIG_DFL, no flags, empty mask */
  for (long signal = 32; signal <= 33; signal++) call(SYS_rt_sigaction, signal, (long)kernel_default, 0, 8);
  call(SYS_rt_sigprocmask, SIG_SETMASK, (long)kernel_default, 0, 8);
}

static bool exists(const char *file) { return call(SYS_faccessat, AT_FDCWD, (long)file, F_OK, 0) == 0; }

static int become_work(void *data) {
  const Start *start = data;
  const RunnerSpec *spec = &start->spec;
  long error = call(SYS_setsid, 0, 0, 0, 0);
  if (error < 0) fail(start, RUNNER_STEP_SESSION, (int)-error, false);
  if (spec->umask >= 0) call(SYS_umask, spec->umask, 0, 0, 0);
  if (spec->flags & RUNNER_CHANGE_USER && (error = become_user(spec)) != 0) fail(start, RUNNER_STEP_USER, (int)error, false);
  /* After the change of user, which clears it; and a runner that died before it was set is noticed by who the parent is. */
  if (call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0) != 0 || call(SYS_getppid, 0, 0, 0, 0) != start->runner) end(126);
  if (*spec->cwd && (error = call(SYS_chdir, (long)spec->cwd, 0, 0, 0)) != 0) fail(start, RUNNER_STEP_CWD, (int)-error, false);
  place_descriptors(start);
  reset_signals();
  error = exec_work(spec);
  fail(start, RUNNER_STEP_EXEC, (int)error, error == ENOENT && strchr(spec->argv[0], '/') && exists(spec->argv[0]));
}

pid_t runner_start(const RunnerSpec *spec, const int given[3], int *ret_failure_fd) {
  static Start start; /* the child reads it after this has returned */
  static _Alignas(16) uint8_t stack[32 << 10];
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) return -1;
  start = (Start){*spec, {given[0], given[1], given[2]}, getpid(), failure[1]};
  bool shares_memory = SHARES_MEMORY && !(spec->flags & RUNNER_CHANGE_USER);
  pid_t pid = shares_memory ? clone(become_work, stack + sizeof stack, CLONE_VM | SIGCHLD, &start) : fork();
  if (pid == 0) become_work(&start);
  int error = errno;
  close(failure[1]);
  if (pid < 0) {
    close(failure[0]);
    errno = error;
    return -1;
  }
  *ret_failure_fd = failure[0];
  return pid;
}
