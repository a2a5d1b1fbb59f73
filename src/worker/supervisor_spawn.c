/* SPDX-License-Identifier: Apache-2.0 */
/* From a PawlWork to a runner that waits for GO.
 *
 * One runner is spawned ahead (the spare), so that a start does not wait until the kernel has made a process: it has been told nothing
 * yet and waits for its spec. Whoever takes it lets the next one be made a moment later, when the start is over. */
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

#define SPARE_LATER_MS 20 /* so long after a start the next spare is made: the start's own work comes first */

/* The runner's ends, and pawl's. -1: none. */
typedef struct {
  int control[2], input[2], out[2][2]; /* [0] is pawl's, [1] the runner's */
} Ends;

static const Ends no_ends = {{-1, -1}, {-1, -1}, {{-1, -1}, {-1, -1}}};

static void close_pair(int pair[2]) {
  for (int i = 0; i < 2; i++)
    if (pair[i] >= 0) close(pair[i]);
}

static void close_ends(Ends *ends) {
  close_pair(ends->control);
  close_pair(ends->input);
  close_pair(ends->out[0]);
  close_pair(ends->out[1]);
}

/* posix_spawn moves the runner's ends to 0 to 3 one after the other: none may already be there (pawl was started with a closed stdin). */
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
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends->control) != 0 || !lift(ends->control)) return FALSE;
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
static int spawn_runner(PawlSupervisor *supervisor, const Ends *ends, pid_t *ret_pid) {
  static char *const argv[] = {(char *)"pawl-runner", NULL};
  char *no_environment[] = {NULL}; /* nothing of pawl's settings, and no mark of an attempt */
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  int from[] = {ends->input[1] >= 0 ? ends->input[1] : supervisor->null_fd, ends->out[0][1], ends->out[1][1], ends->control[1]};
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

static void send_spec(Attempt *attempt) {
  RunnerSpec spec = spec_of(attempt);
  gsize bytes = sizeof(RunnerHead) + runner_spec_bytes(&spec);
  attempt->unsent = g_byte_array_new();
  g_byte_array_set_size(attempt->unsent, (guint)bytes);
  runner_spec_write(&spec, attempt->unsent->data);
  pawl_attempt_flush(attempt);
}

/* A runner, its identity, and a handle that tells of its end. Returns 0 or an errno; then nothing is left. */
static int make_runner(PawlSupervisor *supervisor, gboolean with_input, Ends *ends, PawlProcess *process, int *ret_handle) {
  if (!make_ends(with_input, ends)) return errno;
  int error = spawn_runner(supervisor, ends, &process->pid);
  if (error) return error;
  pawl_process_identify(process->pid, process); /* it is no stranger: a child that was not waited for keeps its number */
  *ret_handle = (int)syscall(SYS_pidfd_open, process->pid, 0);
  if (*ret_handle >= 0) return 0;
  error = errno;
  kill(process->pid, SIGKILL);
  while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR) continue;
  return error;
}

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

void pawl_spare_make(PawlSupervisor *supervisor) {
  Spare *spare = &supervisor->spare;
  Ends ends = no_ends;
  int handle = -1;
  supervisor->spare_at_ms = 0;
  if (spare->handle.fd >= 0 || supervisor->close_at_ms) return;
  if (make_runner(supervisor, FALSE, &ends, &spare->process, &handle) == 0) {
    *spare = (Spare){.process = spare->process,
      .handle = {.kind = WATCH_SPARE, .fd = handle},
      .control = ends.control[0],
      .out = {ends.out[0][0], ends.out[1][0]}};
    ends.control[0] = ends.out[0][0] = ends.out[1][0] = -1;
    if (!pawl_supervisor_watch(supervisor, &spare->handle, EPOLLIN)) pawl_spare_drop(supervisor);
  }
  close_ends(&ends);
}

void pawl_spare_later(PawlSupervisor *supervisor) {
  supervisor->spare_at_ms = pawl_clock_boot_ms() + SPARE_LATER_MS;
  pawl_supervisor_set_timer(supervisor, supervisor->spare_at_ms);
}

void pawl_spare_drop(PawlSupervisor *supervisor) {
  Spare *spare = &supervisor->spare;
  if (spare->handle.fd < 0) return;
  kill(spare->process.pid, SIGKILL);
  while (waitpid(spare->process.pid, NULL, 0) < 0 && errno == EINTR) continue;
  pawl_supervisor_close_watch(supervisor, &spare->handle);
  close_fd(&spare->control);
  close_fd(&spare->out[0]);
  close_fd(&spare->out[1]);
}

/* FALSE: there is none, or the work has an input, and the spare has no pipe for one. */
static gboolean take_spare(Attempt *attempt, Ends *ends, int *ret_handle) {
  PawlSupervisor *supervisor = attempt->supervisor;
  Spare *spare = &supervisor->spare;
  if (spare->handle.fd < 0 || has_input(attempt->work)) return FALSE;
  attempt->process = spare->process;
  *ret_handle = spare->handle.fd;
  ends->control[0] = spare->control;
  ends->out[0][0] = spare->out[0];
  ends->out[1][0] = spare->out[1];
  spare->handle.fd = spare->control = spare->out[0] = spare->out[1] = -1;
  return TRUE;
}

static void adopt(Watch *watch, WatchKind kind, Attempt *attempt, int *fd) {
  *watch = (Watch){.kind = kind, .fd = *fd, .attempt = attempt};
  *fd = -1;
}

static gboolean watch_ends(Attempt *attempt, Ends *ends, int *handle, gboolean was_spare) {
  PawlSupervisor *supervisor = attempt->supervisor;
  adopt(&attempt->runner, WATCH_RUNNER, attempt, handle);
  adopt(&attempt->control, WATCH_CONTROL, attempt, &ends->control[0]);
  adopt(&attempt->input, WATCH_INPUT, attempt, &ends->input[0]);
  adopt(&attempt->out[0], WATCH_STDOUT, attempt, &ends->out[0][0]);
  adopt(&attempt->out[1], WATCH_STDERR, attempt, &ends->out[1][0]);
  if (was_spare) pawl_supervisor_rewatch(supervisor, &attempt->runner, EPOLLIN); /* it was watched as the spare */
  return (was_spare || pawl_supervisor_watch(supervisor, &attempt->runner, EPOLLIN)) &&
         pawl_supervisor_watch(supervisor, &attempt->control, EPOLLIN) && pawl_supervisor_watch(supervisor, &attempt->out[0], EPOLLIN) &&
         pawl_supervisor_watch(supervisor, &attempt->out[1], EPOLLIN) &&
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

/* Returns 0 or an errno. */
static int obtain_runner(Attempt *attempt, Ends *ends) {
  int handle = -1, error = 0;
  if (pawl_fault_hit("worker.spawn")) return EAGAIN;
  gboolean was_spare = take_spare(attempt, ends, &handle);
  if (!was_spare) error = make_runner(attempt->supervisor, has_input(attempt->work), ends, &attempt->process, &handle);
  if (error) return error;
  give_pipe(attempt->work, ends->input);
  give_pipe(attempt->work, ends->out[0]);
  give_pipe(attempt->work, ends->out[1]);
  if (watch_ends(attempt, ends, &handle, was_spare)) return 0;
  error = errno;
  kill(attempt->process.pid, SIGKILL);
  while (waitpid(attempt->process.pid, NULL, 0) < 0 && errno == EINTR) continue;
  return error;
}

gboolean pawl_spawn_is_want(int error) { return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM; }

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
  pawl_spare_later(attempt->supervisor);
  const PawlWork *work = attempt->work;
  attempt->timeout_ms = CLAMP(work->timeout_ms, 0, RUNNER_TIME_MAX_MS);
  attempt->kill_after_ms = CLAMP(work->kill_after_ms, 0, RUNNER_TIME_MAX_MS);
  attempt->drain_output_ms = work->drain_output_ms;
  attempt->output_cap_bytes = work->output_cap_bytes;
  attempt->output = pawl_output_new(work->output_cap_bytes, work->secrets);
  attempt->unread = pawl_unread_ref(NULL);
  if (attempt->input.fd >= 0) attempt->input_bytes = g_bytes_ref(work->input);
  send_spec(attempt);
  g_clear_pointer(&attempt->work, pawl_work_free);
  if (attempt->input.fd >= 0) pawl_attempt_write_input(attempt);
  pawl_attempt_guard_lease(attempt);
  return TRUE;
}
