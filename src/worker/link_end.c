/* SPDX-License-Identifier: Apache-2.0 */
/* How an attempt ended, in the words of the machine. */
#include "base/clock.h"
#include "base/log.h"
#include "domain/metrics.h"
#include "worker/link_private.h"

#include <string.h>

#define EXIT_LATER 75 /* EX_TEMPFAIL of sysexits.h */

/* Why pawl itself stopped it; PAWL_STOP_NONE has no row: then its own end decides. */
static const struct {
  PawlStop stop;
  PawlMachineEvent event;
  const char *reason;
} stops[] = {
  {PAWL_STOP_CANCEL, PAWL_EVENT_CANCEL, "cancelled"},
  {PAWL_STOP_TIMEOUT, PAWL_EVENT_TIME_OUT, "ran longer than its timeout"},
  {PAWL_STOP_LEASE, PAWL_EVENT_LOSE, "its lease ended before it could be renewed; it may have done part of its work"},
  {PAWL_STOP_DRAIN, PAWL_EVENT_LOSE, "drained: pawl was stopped; it may have done part of its work"},
};

static void judge_own_end(PawlJob *job) {
  const PawlReport *report = job->ended;
  PawlFinish *finish = &job->finish;
  switch (report->end) {
  case PAWL_END_EXITED:
    finish->exit_code = report->code;
    if (report->code == 0)
      finish->event = PAWL_EVENT_SUCCEED;
    else if (report->code == EXIT_LATER && job->retry_later) {
      finish->event = PAWL_EVENT_LATER;
      job->reason = g_strdup("it asked to be run later (exit code 75)");
    } else {
      finish->event = PAWL_EVENT_FAIL;
      job->reason = g_strdup_printf("exit code %d", report->code);
    }
    return;
  case PAWL_END_SIGNALLED:
    finish->event = PAWL_EVENT_FAIL;
    job->reason = g_strdup_printf("ended by signal %d (SIG%s)", report->signal, sigabbrev_np(report->signal));
    return;
  case PAWL_END_NOT_STARTED:
    finish->event = report->try_again ? PAWL_EVENT_LOSE : PAWL_EVENT_FAIL; /* lost before its start: it waits again */
    job->reason = g_strdup(report->detail != NULL ? report->detail : "it could not be started");
    return;
  case PAWL_END_RUNNER_LOST:
    finish->event = PAWL_EVENT_LOSE;
    job->reason = g_strdup("its runner was killed; it may have done part of its work");
    return;
  }
}

void pawl_link_judge(PawlJob *job) {
  const PawlReport *report = job->ended;
  PawlFinish *finish = &job->finish;
  *finish = (PawlFinish){.run = job->fence.run,
    .token = job->fence.token,
    .attempt = job->fence.attempt,
    .lease_version = job->fence.lease_version,
    .exit_code = report->end == PAWL_END_EXITED ? report->code : -1,
    .signal = report->end == PAWL_END_SIGNALLED ? report->signal : 0,
    .output_bytes = report->output_bytes,
    .omitted_bytes = report->omitted_bytes,
    .cpu_ms = report->cpu_ms,
    .max_rss_kib = report->max_rss_kib};
  gsize i = 0;
  while (i < G_N_ELEMENTS(stops) && stops[i].stop != report->stop) i++;
  if (i == G_N_ELEMENTS(stops))
    judge_own_end(job);
  else {
    finish->event = stops[i].event;
    job->reason = report->killed ? g_strconcat(stops[i].reason, " (it had to be killed)", NULL) : g_strdup(stops[i].reason);
  }
  finish->reason = job->reason;
}

static gboolean is_end(PawlRunState state) { return state >= PAWL_RUN_SUCCEEDED; }

static void count_end(const PawlJob *job) {
  const PawlFinish *finish = &job->finish;
  if (job->ended != NULL && job->ended->stop == PAWL_STOP_LEASE) pawl_metric_add(PAWL_METRIC_LEASES_LOST, 0, 1);
  if (!finish->accepted || !is_end(finish->run_state)) return;
  pawl_metric_add(PAWL_METRIC_RUNS_ENDED, pawl_metric_value(PAWL_METRIC_RUNS_ENDED, pawl_run_state_name(finish->run_state)), 1);
}

void pawl_link_log_end(const PawlJob *job) {
  const PawlFinish *finish = &job->finish;
  char id[PAWL_ID_TEXT];
  PawlLogLevel level = finish->event == PAWL_EVENT_SUCCEED ? PAWL_LOG_INFO : PAWL_LOG_WARNING;
  if (job->kind == PAWL_JOB_NOOP) level = PAWL_LOG_DEBUG;
  const char *word = finish->run_state == PAWL_RUN_QUEUED ? "waits again" : pawl_run_state_name(finish->run_state);
  gint64 ended_at_ms = job->ended != NULL ? job->ended->at_ms : finish->started_at_ms;
  count_end(job);
  g_autofree char *took = pawl_duration_text(job->started_at_ms != 0 ? MAX(ended_at_ms - job->started_at_ms, 0) : 0);
  g_autofree char *message =
    g_strdup_printf("%s %s %s", job->label, pawl_id_short(&job->fence.run, id), finish->accepted ? word : "ended, but its lease was gone");
  pawl_log(level, "run.ended", message, "after", took, "reason", job->reason, NULL);
}
