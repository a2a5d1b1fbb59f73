/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt: what is asked of it, what its runner and its pipes have to say, and its end. */
#include "worker/supervisor_private.h"

#include "base/clock.h"
#include "base/fault.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_BYTES (64 * 1024) /* of one pipe in one round: what a pipe holds */
#define GUARD_MS 1000          /* so long after the lease's end the runner must have ended */
#define STOP_GUARD_MS 3000     /* so long after the KILL of a stop */
#define TIMEOUT_GUARD_MS 2000  /* so long after the KILL of a time-out */
#define SLOW_READER_MS 200     /* the receiver still has the last batches: look again then */
#define DRAIN_ROUNDS 16        /* without time to drain, at most so many reads */

static void settle(Attempt *attempt);

Attempt *pawl_attempt_new(PawlSupervisor *supervisor, PawlWork *work) {
  Attempt *attempt = g_new0(Attempt, 1);
  attempt->supervisor = supervisor;
  attempt->fence = work->fence;
  attempt->work = work;
  attempt->lease_end_boot_ms = work->lease_end_boot_ms;
  attempt->input.fd = attempt->out[0].fd = attempt->out[1].fd = -1;
  return attempt;
}

static void close_runner(Attempt *attempt) {
  if (!attempt->runner) return;
  pawl_supervisor_close_watch(attempt->supervisor, &attempt->runner->control);
  pawl_supervisor_close_watch(attempt->supervisor, &attempt->runner->handle);
}

static void close_all(Attempt *attempt) {
  close_runner(attempt);
  pawl_supervisor_close_watch(attempt->supervisor, &attempt->input);
  pawl_supervisor_close_watch(attempt->supervisor, &attempt->out[0]);
  pawl_supervisor_close_watch(attempt->supervisor, &attempt->out[1]);
}

void pawl_attempt_free(Attempt *attempt) {
  close_all(attempt);
  pawl_runner_free(attempt->supervisor, attempt->runner);
  pawl_work_free(attempt->work);
  g_clear_pointer(&attempt->unsent, g_byte_array_unref);
  g_clear_pointer(&attempt->input_bytes, g_bytes_unref);
  pawl_output_free(attempt->output);
  pawl_unread_unref(attempt->unread);
  pawl_report_free(attempt->ended);
  g_free(attempt);
}

static void report(Attempt *attempt, PawlReport *what) { attempt->supervisor->options.report(what, attempt->supervisor->options.data); }

void pawl_attempt_go(Attempt *attempt) {
  if (attempt->work) attempt->go_wanted = TRUE;
  if (attempt->work || attempt->went) return;
  PAWL_FAULT("worker.go");
  attempt->went = TRUE;
  pawl_attempt_send(attempt, RUNNER_GO, NULL, 0);
  pawl_attempt_guard_timeout(attempt); /* it may be stopped before it says that it has started */
}

static void set_guard(Attempt *attempt, gint64 at_ms) {
  if (attempt->guard_at_ms && attempt->guard_at_ms <= at_ms) return;
  attempt->guard_at_ms = at_ms;
  pawl_supervisor_set_timer(attempt->supervisor, at_ms);
}

void pawl_attempt_guard_lease(Attempt *attempt) {
  if (attempt->asked == PAWL_STOP_NONE) attempt->guard_at_ms = 0;
  if (attempt->lease_end_boot_ms) set_guard(attempt, MAX(attempt->lease_end_boot_ms, pawl_clock_boot_ms()) + GUARD_MS);
  if (attempt->timeout_guard_at_ms) set_guard(attempt, attempt->timeout_guard_at_ms);
}

/* A runner that was stopped by somebody can't watch the time-out, and its lease is renewed all the same. */
void pawl_attempt_guard_timeout(Attempt *attempt) {
  if (attempt->timeout_ms == 0) return;
  attempt->timeout_guard_at_ms = pawl_clock_boot_ms() + attempt->timeout_ms + attempt->kill_after_ms + TIMEOUT_GUARD_MS;
  pawl_attempt_guard_lease(attempt); /* a guard that was set for an earlier start is put off */
}

void pawl_attempt_renew(Attempt *attempt, gint64 lease_end_boot_ms) {
  attempt->lease_end_boot_ms = CLAMP(lease_end_boot_ms, 0, RUNNER_TIME_MAX_MS);
  if (attempt->work) return;
  RunnerRenew renew = {.lease_end_boot_ms = attempt->lease_end_boot_ms};
  pawl_attempt_send(attempt, RUNNER_RENEW, &renew, sizeof renew);
  pawl_attempt_guard_lease(attempt);
}

void pawl_attempt_stop(Attempt *attempt, PawlStop why, gboolean at_once) {
  if (attempt->asked == PAWL_STOP_NONE) attempt->asked = why;
  if (attempt->work) {
    pawl_attempt_not_started(attempt, why, "stopped before it was started");
    return;
  }
  RunnerStop stop = {.why = why};
  pawl_attempt_send(attempt, at_once ? RUNNER_KILL : RUNNER_STOP, &stop, sizeof stop);
  set_guard(attempt, pawl_clock_boot_ms() + (at_once ? 0 : attempt->kill_after_ms) + STOP_GUARD_MS);
}

void pawl_attempt_write_input(Attempt *attempt) {
  while (attempt->input_bytes && attempt->input.fd >= 0) {
    gsize n_bytes;
    const guint8 *bytes = g_bytes_get_data(attempt->input_bytes, &n_bytes);
    gssize n = write(attempt->input.fd, bytes + attempt->input_at, n_bytes - attempt->input_at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n > 0) attempt->input_at += (gsize)n;
    if (n > 0 && attempt->input_at < n_bytes) continue;
    g_clear_pointer(&attempt->input_bytes, g_bytes_unref); /* all is written, or nobody reads it any more */
    pawl_supervisor_close_watch(attempt->supervisor, &attempt->input);
  }
}

static void take_output(Attempt *attempt, gint64 now_ms) {
  PawlOutputBatch batch;
  if (pawl_output_take(attempt->output, now_ms, &batch)) report(attempt, pawl_report_new_output(&attempt->fence, &batch, attempt->unread));
}

static void finish(Attempt *attempt) {
  if (attempt->finished) return;
  attempt->finished = TRUE;
  close_all(attempt);
  PawlReport *ended = g_steal_pointer(&attempt->ended);
  if (attempt->output) {
    pawl_output_finish(attempt->output, ended->at_ms);
    take_output(attempt, pawl_clock_boot_ms());
    ended->output_bytes = pawl_output_bytes(attempt->output);
    ended->omitted_bytes = pawl_output_omitted_bytes(attempt->output);
  }
  report(attempt, ended);
  g_ptr_array_add(attempt->supervisor->finished, attempt);
}

/* Reads one pipe once. TRUE: there was something. */
static gboolean read_output(Attempt *attempt, Watch *out) {
  gssize n = read(out->fd, attempt->supervisor->buffer, READ_BYTES);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return FALSE;
  if (n <= 0) {
    pawl_supervisor_close_watch(attempt->supervisor, out);
    return FALSE;
  }
  PawlStream stream = out->kind == WATCH_STDOUT ? PAWL_STREAM_STDOUT : PAWL_STREAM_STDERR;
  pawl_output_add(attempt->output, stream, attempt->supervisor->buffer, (gsize)n, pawl_clock_wall_ms(), pawl_clock_boot_ms());
  return TRUE;
}

static void stop_reading(Attempt *attempt) {
  for (int i = 0; i < 2; i++) {
    for (int round = 0; attempt->out[i].fd >= 0 && round < DRAIN_ROUNDS && read_output(attempt, &attempt->out[i]); round++) continue;
    pawl_supervisor_close_watch(attempt->supervisor, &attempt->out[i]);
  }
}

/* Reports the end if all that belongs to it is there. */
static void settle(Attempt *attempt) {
  if (!attempt->ended || attempt->rescuing || (!attempt->reaped && attempt->process.pid > 0)) return;
  if (attempt->out[0].fd >= 0 || attempt->out[1].fd >= 0) {
    gint64 now_ms = pawl_clock_boot_ms();
    if (attempt->drain_at_ms == 0) attempt->drain_at_ms = now_ms + MAX(attempt->drain_output_ms, 0);
    if (now_ms < attempt->drain_at_ms) {
      pawl_supervisor_set_timer(attempt->supervisor, attempt->drain_at_ms);
      return;
    }
    stop_reading(attempt);
  }
  finish(attempt);
}

void pawl_attempt_began(Attempt *attempt) {
  if (!attempt->begins) return;
  attempt->begins = FALSE;
  attempt->supervisor->n_begin--;
}

void pawl_attempt_not_started(Attempt *attempt, PawlStop stop, const char *why) {
  attempt->process.pid = 0; /* there is no runner, or none any more */
  pawl_attempt_set_ended(attempt, PAWL_END_NOT_STARTED, stop, why);
  attempt->ended->try_again = attempt->try_again;
  finish(attempt);
}

/* Why it was stopped, where its runner can't say so any more. */
static PawlStop stop_of_lost(const Attempt *attempt) {
  gboolean expired = attempt->lease_end_boot_ms && pawl_clock_boot_ms() >= attempt->lease_end_boot_ms;
  gboolean too_long = attempt->timeout_guard_at_ms && pawl_clock_boot_ms() >= attempt->timeout_guard_at_ms;
  if (attempt->asked != PAWL_STOP_NONE) return attempt->asked;
  return too_long ? PAWL_STOP_TIMEOUT : expired ? PAWL_STOP_LEASE : PAWL_STOP_NONE;
}

static void lost(Attempt *attempt) {
  if (!attempt->went)
    pawl_attempt_set_ended(attempt, PAWL_END_NOT_STARTED, stop_of_lost(attempt), "pawl-runner ended before it started anything");
  else if (!attempt->rescuing && !pawl_rescue_start(attempt))
    set_guard(attempt, pawl_clock_boot_ms() + GUARD_MS); /* tries again */
}

static void reap(Attempt *attempt) {
  pawl_attempt_read_runner(attempt); /* its last words */
  if (!attempt->runner) return;
  siginfo_t info = {0};
  int done = waitid(P_PIDFD, (id_t)attempt->runner->handle.fd, &info, WEXITED | WNOHANG);
  if (done == 0 && info.si_pid == 0) return;
  /* Otherwise it was reaped here or, when pawl is PID 1, by the kernel (ECHILD). */
  attempt->reaped = TRUE;
  close_runner(attempt);
  if (!attempt->ended) lost(attempt);
}

void pawl_attempt_rescued(Attempt *attempt, gboolean all_dead) {
  attempt->rescuing = FALSE;
  if (attempt->reaped && all_dead) pawl_attempt_set_ended(attempt, PAWL_END_RUNNER_LOST, stop_of_lost(attempt), NULL);
  settle(attempt);
}

static void set_output_timer(Attempt *attempt) {
  gint64 due_ms = pawl_output_due_ms(attempt->output);
  if (due_ms && attempt->slow_reader_until_ms > due_ms) due_ms = attempt->slow_reader_until_ms;
  attempt->output_at_ms = due_ms;
  if (due_ms) pawl_supervisor_set_timer(attempt->supervisor, due_ms);
}

void pawl_attempt_event(Attempt *attempt, Watch *watch, guint32 events) {
  switch (watch->kind) {
  case WATCH_CONTROL:
    if (events & EPOLLOUT) pawl_attempt_flush(attempt);
    if (events & ~(guint32)EPOLLOUT) pawl_attempt_read_runner(attempt);
    break;
  case WATCH_RUNNER: reap(attempt); break;
  case WATCH_INPUT:
    if (events & EPOLLERR) g_clear_pointer(&attempt->input_bytes, g_bytes_unref); /* all readers are gone */
    if (attempt->input_bytes)
      pawl_attempt_write_input(attempt);
    else
      pawl_supervisor_close_watch(attempt->supervisor, &attempt->input);
    break;
  case WATCH_STDOUT:
  case WATCH_STDERR:
    if (read_output(attempt, watch)) set_output_timer(attempt);
    break;
  case WATCH_WAKE:
  case WATCH_TIMER: break;
  }
  settle(attempt);
}

static void act_on_output(Attempt *attempt, gint64 now_ms) {
  if (!attempt->output_at_ms || now_ms < attempt->output_at_ms) return;
  /* What the receiver has not freed is held to the tail's size; what waits here then is dropped from the old end. */
  if (pawl_output_in_tail(attempt->output) && atomic_load(&attempt->unread->bytes) > attempt->output_cap_bytes / 2)
    attempt->slow_reader_until_ms = now_ms + SLOW_READER_MS;
  else
    take_output(attempt, now_ms);
  set_output_timer(attempt);
}

static void act_on_guard(Attempt *attempt, gint64 now_ms) {
  if (!attempt->guard_at_ms || now_ms < attempt->guard_at_ms) return;
  attempt->guard_at_ms = 0;
  pawl_attempt_read_runner(attempt); /* after a sleep of the machine, what it has said may not have been read yet */
  if (attempt->guard_at_ms) return;  /* it has just started */
  if (!attempt->ended && !attempt->rescuing && !pawl_rescue_start(attempt)) set_guard(attempt, now_ms + GUARD_MS);
}

static gint64 earlier(gint64 a_ms, gint64 b_ms) { return a_ms == 0 ? b_ms : b_ms == 0 ? a_ms : MIN(a_ms, b_ms); }

gint64 pawl_attempt_act_on_time(Attempt *attempt, gint64 now_ms) {
  if (attempt->finished || attempt->work) return 0;
  act_on_output(attempt, now_ms);
  act_on_guard(attempt, now_ms);
  if (attempt->drain_at_ms && now_ms >= attempt->drain_at_ms) settle(attempt);
  if (attempt->finished) return 0;
  return earlier(attempt->output_at_ms, earlier(attempt->guard_at_ms, attempt->drain_at_ms));
}
