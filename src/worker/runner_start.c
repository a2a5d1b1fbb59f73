/* SPDX-License-Identifier: Apache-2.0 */
/* From fork to exec: what stands between the runner and the work. */
#include "worker/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char default_path[] = "/usr/local/bin:/usr/bin:/bin";

/* Groups first, the user last: each step needs the right that the last one gives away. */
static bool become_user(const RunnerSpec *spec) {
  return setgroups(spec->n_groups, spec->groups) == 0 && setgid(spec->gid) == 0 && setuid(spec->uid) == 0;
}

static void hide_descriptors(void) {
  if (runner_close_range(3, ~0u, RUNNER_CLOSE_ON_EXEC) == 0) return;
  /* A kernel before 5.11, or a filter that does not know the call. The runner itself has closed whatever it did not open. */
  for (int fd = 3; fd < 64; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static const char *path_of(char *const *envp) {
  for (; *envp; envp++)
    if (strncmp(*envp, "PATH=", 5) == 0) return *envp + 5;
  return default_path;
}

/* As execvp(3), but by the PATH of the work, and without its guess that a file of unknown format is a shell script. Returns errno. */
static int exec_work(const RunnerSpec *spec) {
  const char *name = spec->argv[0];
  if (strchr(name, '/')) {
    execve(name, spec->argv, spec->envp);
    return errno;
  }
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
      execve(file, spec->argv, spec->envp);
      if (errno == EACCES)
        error = EACCES;
      else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG && errno != ELOOP)
        return errno;
    }
    if (!*end) break;
    dir = end + 1;
  }
  return error;
}

static _Noreturn void fail(int failure_fd, RunnerStep step, int error, bool found) {
  RunnerStartFailure failure = {.step = step, .error = error, .found = found};
  ssize_t n = write(failure_fd, &failure, sizeof failure);
  _exit(n == sizeof failure ? 127 : 126);
}

/* pawl started the runner with default dispositions, except for two: glibc's posix_spawn leaves its own signals 32 and 33 ignored, and
 * its sigaction() does not reach them. */
static void reset_signals(void) {
  static const unsigned long kernel_default[8]; /* the kernel's struct sigaction: SIG_DFL, no flags, empty mask */
  for (long signal = 32; signal <= 33; signal++) syscall(SYS_rt_sigaction, signal, kernel_default, NULL, 8l);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void become_work(const RunnerSpec *spec, pid_t runner, int failure_fd) {
  if (setsid() < 0) fail(failure_fd, RUNNER_STEP_SESSION, errno, false);
  if (spec->umask >= 0) umask((mode_t)spec->umask);
  if (spec->flags & RUNNER_CHANGE_USER && !become_user(spec)) fail(failure_fd, RUNNER_STEP_USER, errno, false);
  /* After the change of user, which clears it; and a runner that died before it was set is noticed by who the parent is. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != runner) _exit(126);
  if (*spec->cwd && chdir(spec->cwd) != 0) fail(failure_fd, RUNNER_STEP_CWD, errno, false);
  hide_descriptors();
  reset_signals();
  int error = exec_work(spec);
  fail(failure_fd, RUNNER_STEP_EXEC, error, error == ENOENT && strchr(spec->argv[0], '/') && access(spec->argv[0], F_OK) == 0);
}

pid_t runner_start(const RunnerSpec *spec, int *ret_failure_fd) {
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) return -1;
  pid_t runner = getpid();
  pid_t pid = fork();
  if (pid == 0) become_work(spec, runner, failure[1]);
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
