/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation with one runner. */
#include "worker/supervisor_private.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

G_STATIC_ASSERT((int)RUNNER_STOP_CANCEL == (int)PAWL_STOP_CANCEL && (int)RUNNER_STOP_TIMEOUT == (int)PAWL_STOP_TIMEOUT &&
                (int)RUNNER_STOP_LEASE == (int)PAWL_STOP_LEASE && (int)RUNNER_STOP_DRAIN == (int)PAWL_STOP_DRAIN);

static gboolean has_control(const Attempt *attempt) { return attempt->runner && attempt->runner->control.fd >= 0; }

void pawl_attempt_flush(Attempt *attempt) {
  GByteArray *unsent = attempt->unsent;
  if (!unsent || !has_control(attempt)) return;
  gssize n = send(attempt->runner->control.fd, unsent->data, unsent->len, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && errno != EAGAIN && errno != EINTR) n = unsent->len; /* it is gone: what it has said is still to be read */
  if (n > 0) g_byte_array_remove_range(unsent, 0, (guint)n);
  gboolean all_sent = unsent->len == 0;
  if (all_sent) g_clear_pointer(&attempt->unsent, g_byte_array_unref);
  if (all_sent == attempt->wants_to_send) {
    attempt->wants_to_send = !all_sent;
    pawl_supervisor_rewatch(attempt->supervisor, &attempt->runner->control, all_sent ? EPOLLIN : EPOLLIN | EPOLLOUT);
  }
}

void pawl_attempt_send(Attempt *attempt, RunnerFrameType type, const void *payload, gsize bytes) {
  guint8 frame[sizeof(RunnerHead) + RUNNER_COMMAND_MAX_BYTES];
  RunnerHead head = runner_head(type, bytes);
  memcpy(frame, &head, sizeof head);
  if (bytes) memcpy(frame + sizeof head, payload, bytes);
  bytes += sizeof head;
  if (!has_control(attempt)) return;
  if (!attempt->unsent && send(attempt->runner->control.fd, frame, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (gssize)bytes) return;
  if (!attempt->unsent) attempt->unsent = g_byte_array_new(); /* a stream socket takes so few bytes whole or not at all */
  g_byte_array_append(attempt->unsent, frame, (guint)bytes);
  pawl_attempt_flush(attempt);
}

void pawl_attempt_set_ended(Attempt *attempt, PawlEnd end, PawlStop stop, const char *detail) {
  if (attempt->ended) return;
  pawl_attempt_began(attempt);
  attempt->ended = pawl_report_new(PAWL_REPORT_ENDED, &attempt->fence, pawl_clock_wall_ms());
  attempt->ended->end = end;
  attempt->ended->stop = stop;
  attempt->ended->detail = g_strdup(detail);
}

static PawlStop valid_stop(guint32 stop) { return stop <= PAWL_STOP_DRAIN ? (PawlStop)stop : PAWL_STOP_NONE; }

static void take_started(Attempt *attempt, const guint8 *payload) {
  RunnerStarted started;
  memcpy(&started, payload, sizeof started);
  attempt->work_pid = started.pid;
  pawl_attempt_began(attempt);
  pawl_attempt_guard_timeout(attempt);
  PawlReport *what = pawl_report_new(PAWL_REPORT_STARTED, &attempt->fence, pawl_clock_wall_ms());
  what->work_pid = started.pid;
  attempt->supervisor->options.report(what, attempt->supervisor->options.data);
}

static void take_ended(Attempt *attempt, const guint8 *payload) {
  RunnerEnded ended;
  memcpy(&ended, payload, sizeof ended);
  gboolean signalled = WIFSIGNALED(ended.status);
  pawl_attempt_set_ended(attempt, signalled ? PAWL_END_SIGNALLED : PAWL_END_EXITED, valid_stop(ended.stop), NULL);
  if (signalled)
    attempt->ended->signal = WTERMSIG(ended.status);
  else
    attempt->ended->code = WEXITSTATUS(ended.status);
  attempt->stays = ended.stays != 0;
  attempt->ended->killed = ended.killed;
  attempt->ended->left_background = ended.left_background;
  attempt->ended->cpu_ms = ended.cpu_ms;
  attempt->ended->max_rss_kib = ended.max_rss_kib;
}

static const char *exec_hint(const char *program, const RunnerNotStarted *what) {
  switch (what->error) {
  case ENOENT:
    if (what->found) return " (the file is there, but the interpreter that its first line or its ELF header names is not)";
    return strchr(program, '/') ? "" : " (not found in PATH)";
  case ENOEXEC: return " (neither a program for this machine nor a script with a #! line)";
  case E2BIG: return " (arguments and environment are larger than the kernel takes; hand large data over as the input)";
  default: return "";
  }
}

/* "cwd /x: No such file or directory" */
static char *not_started_text(const RunnerNotStarted *what, const char *subject) {
  const char *why = g_strerror(what->error);
  switch ((RunnerStep)what->step) {
  case RUNNER_STEP_NONE:
    return g_strdup(what->stop == PAWL_STOP_LEASE ? "the lease ended before it was started" : "stopped before it was started");
  case RUNNER_STEP_SET_UP: return g_strdup_printf("pawl-runner: %s", why);
  case RUNNER_STEP_FORK: return g_strdup_printf("fork: %s", why);
  case RUNNER_STEP_SESSION: return g_strdup_printf("new session: %s", why);
  case RUNNER_STEP_USER: return g_strdup_printf("change of user: %s", why);
  case RUNNER_STEP_CWD: return g_strdup_printf("cwd %s: %s", subject, why);
  case RUNNER_STEP_EXEC: return g_strdup_printf("exec %s: %s%s", subject, why, exec_hint(subject, what));
  }
  return g_strdup(why);
}

static void take_not_started(Attempt *attempt, const guint8 *payload, gsize bytes) {
  RunnerNotStarted what;
  memcpy(&what, payload, sizeof what);
  g_autofree char *subject = g_utf8_make_valid((const char *)payload + sizeof what, (gssize)(bytes - sizeof what));
  g_autofree char *text = not_started_text(&what, subject);
  if (attempt->ended) return;
  pawl_attempt_set_ended(attempt, PAWL_END_NOT_STARTED, valid_stop(what.stop), text);
  /* From the change of user on, the same numbers can be the fault of the task itself, and for ever. */
  gboolean own = what.step == RUNNER_STEP_SET_UP || what.step == RUNNER_STEP_FORK;
  attempt->ended->try_again = own && pawl_spawn_is_want(what.error);
}

/* Takes the frames that are complete. FALSE: malformed. */
static gboolean take_frames(Attempt *attempt) {
  RunnerHead head;
  while (attempt->frame_bytes >= sizeof head) {
    memcpy(&head, attempt->frame, sizeof head);
    if (!runner_head_valid(&head, false)) return FALSE;
    gsize bytes = sizeof head + head.bytes;
    if (attempt->frame_bytes < bytes) return TRUE;
    const guint8 *payload = attempt->frame + sizeof head;
    if (head.type == RUNNER_STARTED)
      take_started(attempt, payload);
    else if (head.type == RUNNER_ENDED)
      take_ended(attempt, payload);
    else
      take_not_started(attempt, payload, head.bytes);
    attempt->frame_bytes -= bytes;
    memmove(attempt->frame, attempt->frame + bytes, attempt->frame_bytes);
  }
  return TRUE;
}

/* It can serve another: nothing of this attempt is on its way any more, in either direction, and nobody is about to end it. */
static void give_back(Attempt *attempt) {
  PawlSupervisor *supervisor = attempt->supervisor;
  if (attempt->frame_bytes > 0 || attempt->unsent || attempt->rescuing || !pawl_spare_is_wanted(supervisor)) {
    pawl_supervisor_close_watch(supervisor, &attempt->runner->control); /* it ends */
    return;
  }
  pawl_spare_put(supervisor, g_steal_pointer(&attempt->runner));
  attempt->reaped = TRUE;
}

void pawl_attempt_read_runner(Attempt *attempt) {
  while (has_control(attempt)) {
    int fd = attempt->runner->control.fd;
    gssize n = recv(fd, attempt->frame + attempt->frame_bytes, sizeof attempt->frame - attempt->frame_bytes, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n > 0) attempt->frame_bytes += (gsize)n;
    gboolean sound = n > 0 && take_frames(attempt);
    if (n > 0 && !sound) kill(attempt->process.pid, SIGKILL); /* not reaped yet, so the number is still its own */
    if (!sound)
      pawl_supervisor_close_watch(attempt->supervisor, &attempt->runner->control);
    else if (attempt->stays)
      give_back(attempt);
  }
}
