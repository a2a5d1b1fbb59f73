/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's thread. Without attempts it sleeps without a timer; with silent ones it wakes up for their commands and, when a
 * lease is not renewed, for its end. */
#include "worker/supervisor_private.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_A_ROUND 64
#define CROWD 16
#define CROWD_WAIT_MS 2
#define BUFFER_BYTES (64 * 1024)
#define CLOSE_MS 10000 /* what can't be killed for so long is left to its fate when the supervisor is freed */

gboolean pawl_supervisor_watch(PawlSupervisor *supervisor, Watch *watch, guint32 events) {
  struct epoll_event event = {.events = events, .data.ptr = watch};
  return epoll_ctl(supervisor->epoll, EPOLL_CTL_ADD, watch->fd, &event) == 0;
}

void pawl_supervisor_rewatch(PawlSupervisor *supervisor, Watch *watch, guint32 events) {
  struct epoll_event event = {.events = events, .data.ptr = watch};
  if (watch->fd >= 0) epoll_ctl(supervisor->epoll, EPOLL_CTL_MOD, watch->fd, &event);
}

/* A child that another thread is just starting holds a copy of every descriptor until its exec, so closing one does not always take it out
 * of epoll. */
void pawl_supervisor_close_watch(PawlSupervisor *supervisor, Watch *watch) {
  if (watch->fd < 0) return;
  epoll_ctl(supervisor->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
  close(watch->fd);
  watch->fd = -1;
}

static void arm_timer(PawlSupervisor *supervisor, gint64 at_ms) {
  if (supervisor->timer_at_ms == at_ms) return;
  struct itimerspec when = {.it_value = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000}};
  timerfd_settime(supervisor->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
  supervisor->timer_at_ms = at_ms;
}

void pawl_supervisor_set_timer(PawlSupervisor *supervisor, gint64 at_ms) {
  if (supervisor->timer_at_ms == 0 || at_ms < supervisor->timer_at_ms) arm_timer(supervisor, at_ms);
}

static void act_on_time(PawlSupervisor *supervisor) {
  gint64 now_ms = pawl_clock_boot_ms(), next_ms = 0;
  GHashTableIter iter;
  Attempt *attempt;
  supervisor->timer_at_ms = 0; /* it has fired */
  g_hash_table_iter_init(&iter, supervisor->attempts);
  while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&attempt)) {
    gint64 at_ms = pawl_attempt_act_on_time(attempt, now_ms);
    if (at_ms && (next_ms == 0 || at_ms < next_ms)) next_ms = at_ms;
  }
  if (supervisor->spare_at_ms && supervisor->spare_at_ms <= now_ms)
    pawl_spare_settle(supervisor);
  else if (supervisor->spare_at_ms && (next_ms == 0 || supervisor->spare_at_ms < next_ms))
    next_ms = supervisor->spare_at_ms;
  if (next_ms) pawl_supervisor_set_timer(supervisor, next_ms);
}

void pawl_supervisor_post(PawlSupervisor *supervisor, Command command) {
  Command *copy = g_new(Command, 1);
  *copy = command;
  pthread_mutex_lock(&supervisor->shared.lock);
  gboolean was_empty = g_queue_is_empty(&supervisor->shared.commands);
  g_queue_push_tail(&supervisor->shared.commands, copy);
  pthread_mutex_unlock(&supervisor->shared.lock);
  guint64 one = 1;
  /* It can't be full: it is read before the queue is emptied. */
  if (was_empty)
    while (write(supervisor->wake.fd, &one, sizeof one) < 0 && errno == EINTR) continue;
}

static GQueue take_commands(PawlSupervisor *supervisor) {
  pthread_mutex_lock(&supervisor->shared.lock);
  GQueue commands = supervisor->shared.commands;
  g_queue_init(&supervisor->shared.commands);
  pthread_mutex_unlock(&supervisor->shared.lock);
  return commands;
}

static void submit(PawlSupervisor *supervisor, PawlWork *work) {
  if (g_hash_table_contains(supervisor->attempts, &work->fence)) { /* its end is reported once */
    pawl_work_free(work);
    return;
  }
  Attempt *attempt = pawl_attempt_new(supervisor, work);
  g_hash_table_insert(supervisor->attempts, &attempt->fence, attempt);
  if (supervisor->close_at_ms)
    pawl_attempt_stop(attempt, PAWL_STOP_DRAIN, TRUE);
  else
    g_queue_push_tail(&supervisor->to_spawn, attempt);
}

static void stop_all(PawlSupervisor *supervisor, PawlStop why, gboolean at_once) {
  GHashTableIter iter;
  Attempt *attempt;
  g_hash_table_iter_init(&iter, supervisor->attempts);
  while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&attempt))
    if (!attempt->finished) pawl_attempt_stop(attempt, why, at_once);
}

static void obey(PawlSupervisor *supervisor, const Command *command) {
  Attempt *attempt = g_hash_table_lookup(supervisor->attempts, &command->fence);
  if (attempt && attempt->finished) attempt = NULL;
  switch (command->kind) {
  case COMMAND_SUBMIT: submit(supervisor, command->work); break;
  case COMMAND_GO:
    if (attempt) pawl_attempt_go(attempt);
    break;
  case COMMAND_RENEW:
    if (attempt) pawl_attempt_renew(attempt, command->lease_end_boot_ms);
    break;
  case COMMAND_STOP:
    if (attempt) pawl_attempt_stop(attempt, command->why, FALSE);
    break;
  case COMMAND_STOP_ALL: stop_all(supervisor, command->why, command->at_once); break;
  case COMMAND_RESCUED:
    pthread_join(command->thread, NULL);
    supervisor->n_rescues--;
    if (attempt) pawl_attempt_rescued(attempt, command->at_once);
    break;
  case COMMAND_CLOSE:
    supervisor->close_at_ms = pawl_clock_boot_ms() + CLOSE_MS;
    pawl_supervisor_set_timer(supervisor, supervisor->close_at_ms);
    stop_all(supervisor, PAWL_STOP_DRAIN, TRUE);
    break;
  }
}

static void obey_all(PawlSupervisor *supervisor) {
  GQueue commands = take_commands(supervisor);
  for (Command *command; (command = g_queue_pop_head(&commands));) {
    obey(supervisor, command);
    g_free(command);
  }
}

/* One a round: between two spawns the others are attended to, and a runner is told to go while it still begins (measured with 200 at
 * once: the last one starts a tenth earlier than with 32 a round). */
static void spawn_next(PawlSupervisor *supervisor) {
  Attempt *attempt;
  do attempt = g_queue_pop_head(&supervisor->to_spawn);
  while (attempt && attempt->finished); /* stopped while it waited here */
  if (!attempt) return;
  g_autofree char *why = NULL;
  if (!pawl_attempt_spawn(attempt, &why)) {
    pawl_attempt_not_started(attempt, PAWL_STOP_NONE, why);
    return;
  }
  PawlReport *ready = pawl_report_new(PAWL_REPORT_READY, &attempt->fence, pawl_clock_wall_ms());
  ready->runner = attempt->process;
  supervisor->options.report(ready, supervisor->options.data);
  if (attempt->go_wanted) pawl_attempt_go(attempt);
}

/* So many begin that another runner would only take the processor from them; one of theirs may soon be free. Time breaks it: what hangs
 * before its exec holds up nobody. */
static gboolean is_crowded(const PawlSupervisor *supervisor) { return supervisor->n_begin >= CROWD && supervisor->spares.length == 0; }

static void bury(PawlSupervisor *supervisor) {
  for (guint i = 0; i < supervisor->finished->len; i++) {
    Attempt *attempt = g_ptr_array_index(supervisor->finished, i);
    g_queue_remove(&supervisor->to_spawn, attempt);
    g_hash_table_remove(supervisor->attempts, &attempt->fence); /* frees it */
  }
  g_ptr_array_set_size(supervisor->finished, 0);
  g_ptr_array_set_size(supervisor->dropped, 0);
}

static gboolean is_over(const PawlSupervisor *supervisor) {
  if (supervisor->close_at_ms == 0) return FALSE;
  return supervisor->n_rescues == 0 && (g_hash_table_size(supervisor->attempts) == 0 || pawl_clock_boot_ms() >= supervisor->close_at_ms);
}

static void take_event(PawlSupervisor *supervisor, Watch *watch, guint32 events) {
  guint64 count;
  if (watch->fd < 0) return; /* closed earlier in this round */
  if (watch->attempt) {
    if (!watch->attempt->finished) pawl_attempt_event(watch->attempt, watch, events);
    return;
  }
  if (watch->kind == WATCH_RUNNER || watch->kind == WATCH_CONTROL) { /* somebody killed it */
    pawl_spare_lost(supervisor, watch);
    return;
  }
  if (read(watch->fd, &count, sizeof count) < 0) return;
  if (watch->kind == WATCH_TIMER) act_on_time(supervisor);
}

static void *supervisor_main(void *data) {
  PawlSupervisor *supervisor = data;
  struct epoll_event events[EVENTS_A_ROUND];
  pthread_setname_np(pthread_self(), "supervisor");
  pawl_spare_settle(supervisor);
  while (!is_over(supervisor)) {
    int wait_ms = g_queue_is_empty(&supervisor->to_spawn) ? -1 : is_crowded(supervisor) ? CROWD_WAIT_MS : 0;
    pawl_pulse_sleep(&supervisor->pulse, wait_ms);
    int n = epoll_wait(supervisor->epoll, events, EVENTS_A_ROUND, wait_ms);
    pawl_pulse_busy(&supervisor->pulse);
    for (int i = 0; i < n; i++) take_event(supervisor, events[i].data.ptr, events[i].events);
    obey_all(supervisor);
    if (n == 0 || !is_crowded(supervisor)) spawn_next(supervisor);
    bury(supervisor);
  }
  pawl_spare_drop_all(supervisor);
  bury(supervisor);
  pawl_pulse_end(&supervisor->pulse);
  return NULL;
}

gint64 pawl_supervisor_overdue_ms(const PawlSupervisor *supervisor) { return pawl_pulse_overdue_ms(&supervisor->pulse); }

static guint fence_hash(gconstpointer key) {
  const PawlFence *fence = key;
  return pawl_id_hash(&fence->run) ^ (guint)fence->attempt ^ ((guint)fence->lease_version << 8);
}

static gboolean fence_equal(gconstpointer a, gconstpointer b) { return pawl_fence_equal(a, b); }

/* The runner begins with all signals blocked, so that none meant for pawl's group ends it before it is set up; with default
 * dispositions, because the work inherits them; and in a session of its own. */
static gboolean set_spawn_attributes(PawlSupervisor *supervisor) {
  sigset_t all, defaults;
  sigfillset(&all);
  sigfillset(&defaults);
  sigdelset(&defaults, SIGKILL);
  sigdelset(&defaults, SIGSTOP);
  return posix_spawnattr_init(&supervisor->spawn_attributes) == 0 && posix_spawnattr_setsigmask(&supervisor->spawn_attributes, &all) == 0 &&
         posix_spawnattr_setsigdefault(&supervisor->spawn_attributes, &defaults) == 0 &&
         posix_spawnattr_setflags(&supervisor->spawn_attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID) == 0;
}

static int lifted(int fd) {
  if (fd < 0 || fd > RUNNER_CONTROL_FD) return fd;
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, RUNNER_CONTROL_FD + 1);
  close(fd);
  return copy;
}

static gboolean open_descriptors(PawlSupervisor *supervisor, GError **error) {
  int probe = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (probe < 0) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "pidfd_open: %s; the worker needs Linux 5.4 or newer", g_strerror(errno));
    return FALSE;
  }
  close(probe);
  supervisor->runner_fd = lifted(open(supervisor->runner_path, O_PATH | O_CLOEXEC));
  if (supervisor->runner_fd < 0 || fstat(supervisor->runner_fd, &supervisor->runner_stat) != 0) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "pawl-runner: %s: %s", supervisor->runner_path, g_strerror(errno));
    return FALSE;
  }
  g_snprintf(supervisor->runner_fd_path, sizeof supervisor->runner_fd_path, "/proc/self/fd/%d", supervisor->runner_fd);
  supervisor->null_fd = lifted(open("/dev/null", O_RDONLY | O_CLOEXEC));
  supervisor->epoll = lifted(epoll_create1(EPOLL_CLOEXEC));
  supervisor->wake = (Watch){.kind = WATCH_WAKE, .fd = lifted(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
  supervisor->timer = (Watch){.kind = WATCH_TIMER, .fd = lifted(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK))};
  if (supervisor->null_fd >= 0 && supervisor->epoll >= 0 && supervisor->wake.fd >= 0 && supervisor->timer.fd >= 0 &&
      pawl_supervisor_watch(supervisor, &supervisor->wake, EPOLLIN) && pawl_supervisor_watch(supervisor, &supervisor->timer, EPOLLIN))
    return TRUE;
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "supervisor: %s", g_strerror(errno));
  return FALSE;
}

/* With SA_NOCLDWAIT the kernel reaps every child of PID 1, runners too: they are watched by handles, which need no status, and what
 * they have to say they have said before. So an orphan costs no wake-up. */
static void reap_orphans(PawlSupervisor *supervisor) {
  struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
  sigaction(SIGCHLD, &action, &supervisor->former_sigchld);
}

/* Signals to the process go to other threads; those that a fault raises stay. */
static int start_thread(PawlSupervisor *supervisor) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  sigset_t blocked, former;
  sigfillset(&blocked);
  for (gsize i = 0; i < G_N_ELEMENTS(faults); i++) sigdelset(&blocked, faults[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, &former);
  int failed = pthread_create(&supervisor->thread, NULL, supervisor_main, supervisor);
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  return failed;
}

static void close_fd(int fd) {
  if (fd >= 0) close(fd);
}

static void free_all(PawlSupervisor *supervisor) {
  g_queue_clear(&supervisor->to_spawn);
  g_hash_table_unref(supervisor->attempts);
  g_ptr_array_unref(supervisor->finished);
  g_ptr_array_unref(supervisor->dropped);
  g_free(supervisor->runner_path);
  close_fd(supervisor->epoll);
  close_fd(supervisor->wake.fd);
  close_fd(supervisor->timer.fd);
  close_fd(supervisor->null_fd);
  close_fd(supervisor->runner_fd);
  posix_spawnattr_destroy(&supervisor->spawn_attributes);
  pthread_mutex_destroy(&supervisor->shared.lock);
  g_free(supervisor->buffer);
  g_free(supervisor);
}

PawlSupervisor *pawl_supervisor_new(const PawlSupervisorOptions *options, GError **error) {
  PawlSupervisor *supervisor = g_new0(PawlSupervisor, 1);
  supervisor->options = *options;
  supervisor->runner_path = g_strdup(options->runner_path);
  supervisor->epoll = supervisor->null_fd = supervisor->runner_fd = supervisor->wake.fd = supervisor->timer.fd = -1;
  supervisor->attempts = g_hash_table_new_full(fence_hash, fence_equal, NULL, (GDestroyNotify)pawl_attempt_free);
  supervisor->finished = g_ptr_array_new();
  supervisor->dropped = g_ptr_array_new_with_free_func(g_free);
  g_queue_init(&supervisor->spares);
  supervisor->buffer = g_malloc(BUFFER_BYTES);
  g_queue_init(&supervisor->to_spawn);
  g_queue_init(&supervisor->shared.commands);
  pthread_mutex_init(&supervisor->shared.lock, NULL);
  gboolean made = set_spawn_attributes(supervisor) && open_descriptors(supervisor, error);
  if (made && options->reap_orphans) reap_orphans(supervisor);
  int failed = made ? start_thread(supervisor) : 0;
  if (made && !failed) return supervisor;
  if (failed) g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "supervisor: no thread: %s", g_strerror(failed));
  if (made && options->reap_orphans) sigaction(SIGCHLD, &supervisor->former_sigchld, NULL);
  free_all(supervisor);
  return NULL;
}

void pawl_supervisor_submit(PawlSupervisor *supervisor, PawlWork *work) {
  pawl_supervisor_post(supervisor, (Command){.kind = COMMAND_SUBMIT, .fence = work->fence, .work = work});
}

void pawl_supervisor_go(PawlSupervisor *supervisor, const PawlFence *fence) {
  pawl_supervisor_post(supervisor, (Command){.kind = COMMAND_GO, .fence = *fence});
}

void pawl_supervisor_renew(PawlSupervisor *supervisor, const PawlFence *fence, gint64 lease_end_boot_ms) {
  pawl_supervisor_post(supervisor, (Command){.kind = COMMAND_RENEW, .fence = *fence, .lease_end_boot_ms = lease_end_boot_ms});
}

void pawl_supervisor_stop(PawlSupervisor *supervisor, const PawlFence *fence, PawlStop why) {
  pawl_supervisor_post(supervisor, (Command){.kind = COMMAND_STOP, .fence = *fence, .why = why});
}

void pawl_supervisor_stop_all(PawlSupervisor *supervisor, PawlStop why, gboolean at_once) {
  pawl_supervisor_post(supervisor, (Command){.kind = COMMAND_STOP_ALL, .why = why, .at_once = at_once});
}

void pawl_supervisor_free(PawlSupervisor *supervisor) {
  if (!supervisor) return;
  atomic_store(&supervisor->shared.closing, TRUE);
  pawl_supervisor_post(supervisor, (Command){.kind = COMMAND_CLOSE});
  pthread_join(supervisor->thread, NULL);
  if (supervisor->options.reap_orphans) sigaction(SIGCHLD, &supervisor->former_sigchld, NULL);
  free_all(supervisor);
}
