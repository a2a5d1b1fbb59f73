/* SPDX-License-Identifier: Apache-2.0 */
/* From a PawlWork to a runner that waits for GO. */
#include "worker/supervisor_private.h"

#include "base/clock.h"
#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The work's ends, and pawl's. -1: none. */
typedef struct {
  int input[2], out[2][2]; /* [0] is pawl's, [1] the work's */
} Ends;

static const Ends no_ends = {{-1, -1}, {{-1, -1}, {-1, -1}}};

static void close_pair(int pair[2]) {
  for (int i = 0; i < 2; i++)
    if (pair[i] >= 0) close(pair[i]);
}

static void close_ends(Ends *ends) {
  close_pair(ends->input);
  close_pair(ends->out[0]);
  close_pair(ends->out[1]);
}

/* posix_spawn moves the runner's ends to 0 to 3 one after the other: none may already be there (pawl was started with a closed stdin), and
 * who writes to such a number may not write to a runner or to a work. */
static gboolean lift(int pair[2]) {
  for (int i = 0; i < 2; i++) {
    if (pair[i] > RUNNER_CONTROL_FD) continue;
    int lifted = fcntl(pair[i], F_DUPFD_CLOEXEC, RUNNER_CONTROL_FD + 1);
    if (lifted < 0) return FALSE;
    close(pair[i]);
    pair[i] = lifted;
  }
  return TRUE;
}

/* Only pawl's end does not block: the work gets an ordinary pipe. */
static gboolean make_pipe(int ret_pair[2], gboolean pawl_reads) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return FALSE;
  ret_pair[0] = fds[pawl_reads ? 0 : 1];
  ret_pair[1] = fds[pawl_reads ? 1 : 0];
  return lift(ret_pair) && fcntl(ret_pair[0], F_SETFL, O_NONBLOCK) == 0;
}

/* A pipe belongs to who made it: without this, a work of another user could write to its stdout but not open /dev/stdout. */
static void give_pipe(const PawlWork *work, const int pair[2]) {
  if (work->change_user && pair[0] >= 0 && fchown(pair[0], work->uid, work->gid) != 0) return; /* it can still be written to */
}

static gboolean has_input(const PawlWork *work) { return work->input && g_bytes_get_size(work->input) > 0; }

static gboolean make_ends(gboolean with_input, Ends *ends) {
  if (with_input && !make_pipe(ends->input, FALSE)) return FALSE;
  return make_pipe(ends->out[0], TRUE) && make_pipe(ends->out[1], TRUE);
}

/* An upgrade that replaces the file does not change what a running pawl starts: then the old file is still there by its descriptor.
 * That way is not always taken, because it costs some 5 % of a start (the kernel makes up a folder of /proc for it). */
static const char *path_of_runner(const PawlSupervisor *supervisor) {
  struct stat st;
  gboolean same =
    stat(supervisor->runner_path, &st) == 0 && st.st_ino == supervisor->runner_stat.st_ino && st.st_dev == supervisor->runner_stat.st_dev;
  return same ? supervisor->runner_path : supervisor->runner_fd_path;
}

/* Returns 0 or an errno. */
static int spawn_runner(PawlSupervisor *supervisor, int control, pid_t *ret_pid) {
  static char *const argv[] = {(char *)"pawl-runner", NULL};
  char *no_environment[] = {NULL}; /* nothing of pawl's settings, and no mark of an attempt */
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  int from[] = {supervisor->null_fd, supervisor->null_fd, supervisor->null_fd, control};
  for (int fd = 0; fd <= RUNNER_CONTROL_FD && !error; fd++) error = posix_spawn_file_actions_adddup2(&actions, from[fd], fd);
  if (!error) error = posix_spawn(ret_pid, path_of_runner(supervisor), &actions, &supervisor->spawn_attributes, argv, no_environment);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static RunnerSpec spec_of(const Attempt *attempt) {
  const PawlWork *work = attempt->work;
  RunnerSpec spec = {.lease_end_boot_ms = CLAMP(attempt->lease_end_boot_ms, 0, RUNNER_TIME_MAX_MS),
    .timeout_ms = CLAMP(work->timeout_ms, 0, RUNNER_TIME_MAX_MS),
    .kill_after_ms = CLAMP(work->kill_after_ms, 0, RUNNER_TIME_MAX_MS),
    .umask = work->umask < 0 ? -1 : work->umask & 0777,
    .cwd = work->cwd ? work->cwd : "",
    .argv = work->argv,
    .envp = work->envp};
  if (work->keep_background) spec.flags |= RUNNER_KEEP_BACKGROUND;
  if (work->change_user) {
    spec.flags |= RUNNER_CHANGE_USER;
    spec.uid = work->uid;
    spec.gid = work->gid;
    spec.groups = work->groups;
    spec.n_groups = (uint32_t)work->n_groups;
  }
  return spec;
}

/* The spec, and the work's three descriptors with its first byte. Returns 0 or an errno. */
static int send_spec(Attempt *attempt, const Ends *ends) {
  int fds[] = {ends->input[1] >= 0 ? ends->input[1] : attempt->supervisor->null_fd, ends->out[0][1], ends->out[1][1]};
  RunnerSpec spec = spec_of(attempt);
  gsize bytes = sizeof(RunnerHead) + runner_spec_bytes(&spec);
  g_autoptr(GByteArray) frame = g_byte_array_new();
  g_byte_array_set_size(frame, (guint)bytes);
  runner_spec_write(&spec, frame->data);
  union {
    struct cmsghdr head;
    guint8 bytes[CMSG_SPACE(sizeof fds)];
  } extra = {.head = {.cmsg_len = CMSG_LEN(sizeof fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  memcpy(CMSG_DATA(&extra.head), fds, sizeof fds);
  struct iovec part = {.iov_base = frame->data, .iov_len = frame->len};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
  gssize n;
  do n = sendmsg(attempt->runner->control.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n < 0) return errno;
  if ((gsize)n == bytes) return 0;
  g_byte_array_remove_range(frame, 0, (guint)n);
  attempt->unsent = g_steal_pointer(&frame);
  pawl_attempt_flush(attempt);
  return 0;
}

void pawl_runner_serve(Runner *runner, Attempt *attempt) { runner->control.attempt = runner->handle.attempt = attempt; }

void pawl_runner_free(PawlSupervisor *supervisor, Runner *runner) {
  if (!runner) return;
  pawl_supervisor_close_watch(supervisor, &runner->control);
  pawl_supervisor_close_watch(supervisor, &runner->handle);
  g_free(runner);
}

void pawl_runner_kill(Runner *runner) {
  if (runner->handle.fd >= 0)
    syscall(SYS_pidfd_send_signal, runner->handle.fd, SIGKILL, NULL, 0);
  else
    kill(runner->process.pid, SIGKILL); /* just spawned: no stranger */
  while (waitpid(runner->process.pid, NULL, 0) < 0 && errno == EINTR) continue;
}

Runner *pawl_runner_new(PawlSupervisor *supervisor) {
  int pair[2], error;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) return NULL;
  Runner *runner = g_new0(Runner, 1);
  runner->handle = (Watch){.kind = WATCH_RUNNER, .fd = -1};
  error = lift(pair) ? spawn_runner(supervisor, pair[1], &runner->process.pid) : errno;
  runner->control = (Watch){.kind = WATCH_CONTROL, .fd = pair[0]};
  close(pair[1]);
  if (!error) {
    pawl_process_identify(runner->process.pid, &runner->process);
    runner->handle.fd = (int)syscall(SYS_pidfd_open, runner->process.pid, 0);
    if (runner->handle.fd >= 0 && pawl_supervisor_watch(supervisor, &runner->handle, EPOLLIN) &&
        pawl_supervisor_watch(supervisor, &runner->control, EPOLLIN))
      return runner;
    error = errno;
    pawl_runner_kill(runner);
  }
  pawl_runner_free(supervisor, runner);
  errno = error;
  return NULL;
}

static void adopt(Watch *watch, WatchKind kind, Attempt *attempt, int *fd) {
  *watch = (Watch){.kind = kind, .fd = *fd, .attempt = attempt};
  *fd = -1;
}

static gboolean watch_ends(Attempt *attempt, Ends *ends) {
  PawlSupervisor *supervisor = attempt->supervisor;
  adopt(&attempt->input, WATCH_INPUT, attempt, &ends->input[0]);
  adopt(&attempt->out[0], WATCH_STDOUT, attempt, &ends->out[0][0]);
  adopt(&attempt->out[1], WATCH_STDERR, attempt, &ends->out[1][0]);
  return pawl_supervisor_watch(supervisor, &attempt->out[0], EPOLLIN) && pawl_supervisor_watch(supervisor, &attempt->out[1], EPOLLIN) &&
         (attempt->input.fd < 0 || pawl_supervisor_watch(supervisor, &attempt->input, EPOLLOUT));
}

static char *too_large(const PawlWork *work) {
  if (!work->argv || !work->argv[0]) return g_strdup("no program: argv is empty");
  RunnerSpec spec = {.cwd = work->cwd ? work->cwd : "", .argv = work->argv, .envp = work->envp, .n_groups = (uint32_t)work->n_groups};
  gsize bytes = runner_spec_bytes(&spec);
  if (bytes <= RUNNER_SPEC_MAX_BYTES) return NULL;
  return g_strdup_printf("exec %s: arguments and environment take %" G_GSIZE_FORMAT " bytes, more than the kernel takes; "
                         "hand large data over as the input",
    work->argv[0], bytes);
}

/* A runner that has its spec. Returns 0 or an errno; then there is none. */
static int obtain_runner(Attempt *attempt, Ends *ends) {
  PawlSupervisor *supervisor = attempt->supervisor;
  if (pawl_fault_hit("worker.spawn")) return EAGAIN;
  if (!make_ends(has_input(attempt->work), ends)) return errno;
  give_pipe(attempt->work, ends->input);
  give_pipe(attempt->work, ends->out[0]);
  give_pipe(attempt->work, ends->out[1]);
  for (;;) {
    gboolean was_spare = (attempt->runner = pawl_spare_take(supervisor, attempt)) != NULL;
    if (!was_spare && !(attempt->runner = pawl_runner_new(supervisor))) return errno;
    pawl_runner_serve(attempt->runner, attempt);
    int error = send_spec(attempt, ends);
    if (!error && watch_ends(attempt, ends)) break;
    if (!error) error = errno;
    pawl_runner_kill(attempt->runner);
    pawl_supervisor_close_watch(supervisor, &attempt->runner->control);
    pawl_supervisor_close_watch(supervisor, &attempt->runner->handle);
    g_ptr_array_add(supervisor->dropped, g_steal_pointer(&attempt->runner));
    if (!was_spare || error != EPIPE) return error; /* EPIPE: somebody has killed the spare one */
  }
  attempt->process = attempt->runner->process;
  return 0;
}

gboolean pawl_spawn_is_want(int error) {
  return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM || error == ENOBUFS || error == ETOOMANYREFS;
}

gboolean pawl_attempt_spawn(Attempt *attempt, char **ret_why) {
  char *why = too_large(attempt->work);
  Ends ends = no_ends;
  int error = why ? 0 : obtain_runner(attempt, &ends);
  attempt->try_again = pawl_spawn_is_want(error);
  if (error) why = g_strdup_printf("pawl-runner: %s", g_strerror(error));
  close_ends(&ends);
  if (why) {
    *ret_why = why;
    return FALSE;
  }
  const PawlWork *work = attempt->work;
  attempt->timeout_ms = CLAMP(work->timeout_ms, 0, RUNNER_TIME_MAX_MS);
  attempt->kill_after_ms = CLAMP(work->kill_after_ms, 0, RUNNER_TIME_MAX_MS);
  attempt->drain_output_ms = work->drain_output_ms;
  attempt->output_cap_bytes = work->output_cap_bytes;
  attempt->output = pawl_output_new(work->output_cap_bytes, work->secrets);
  attempt->unread = pawl_unread_ref(NULL);
  if (attempt->input.fd >= 0) attempt->input_bytes = g_bytes_ref(work->input);
  g_clear_pointer(&attempt->work, pawl_work_free);
  attempt->begins = TRUE;
  attempt->supervisor->n_begin++;
  if (attempt->input.fd >= 0) pawl_attempt_write_input(attempt);
  pawl_attempt_guard_lease(attempt);
  return TRUE;
}
