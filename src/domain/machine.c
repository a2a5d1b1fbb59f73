/* SPDX-License-Identifier: Apache-2.0 */
/* How attempts move, and what that makes of their run: one table. A row's number is stored with each event, so rows are appended and
 * never renumbered. Where the guard decides there are two rows, one for each answer of the retry rule; else there is one, whose guard is
 * FALSE and which applies either way. */
#include "domain/domain.h"

#include <string.h>

/* clang-format off */
static const PawlTransition machine_table[] = {
  {1, PAWL_ATTEMPT_NONE, PAWL_EVENT_ADMIT, FALSE, PAWL_ATTEMPT_WAITING, PAWL_RUN_QUEUED, FALSE, "an occurrence or a request was admitted"},
  {2, PAWL_ATTEMPT_NONE, PAWL_EVENT_DEFER, FALSE, PAWL_ATTEMPT_WAITING, PAWL_RUN_SCHEDULED, FALSE, "admitted for a later start"},
  {3, PAWL_ATTEMPT_WAITING, PAWL_EVENT_WAKE, FALSE, PAWL_ATTEMPT_WAITING, PAWL_RUN_QUEUED, FALSE, "the instant that it waited for has come"},
  {4, PAWL_ATTEMPT_WAITING, PAWL_EVENT_GRANT, FALSE, PAWL_ATTEMPT_LEASED, PAWL_RUN_RUNNING, FALSE, "a worker holds it and is about to start it"},
  {5, PAWL_ATTEMPT_WAITING, PAWL_EVENT_CANCEL, FALSE, PAWL_ATTEMPT_CANCELLED, PAWL_RUN_CANCELLED, FALSE, "cancelled before anybody had it"},
  {6, PAWL_ATTEMPT_WAITING, PAWL_EVENT_TOO_LATE, FALSE, PAWL_ATTEMPT_CANCELLED, PAWL_RUN_CANCELLED, FALSE, "its latest start has passed"},
  {7, PAWL_ATTEMPT_LEASED, PAWL_EVENT_START, FALSE, PAWL_ATTEMPT_RUNNING, PAWL_RUN_RUNNING, FALSE, "the work is about to be started"},
  {8, PAWL_ATTEMPT_LEASED, PAWL_EVENT_LOSE, FALSE, PAWL_ATTEMPT_WAITING, PAWL_RUN_QUEUED, FALSE, "never started, so no attempt is used up"},
  {9, PAWL_ATTEMPT_LEASED, PAWL_EVENT_CANCEL, FALSE, PAWL_ATTEMPT_CANCELLED, PAWL_RUN_CANCELLED, FALSE, "cancelled before it was started"},
  {10, PAWL_ATTEMPT_LEASED, PAWL_EVENT_TOO_LATE, FALSE, PAWL_ATTEMPT_CANCELLED, PAWL_RUN_CANCELLED, FALSE, "its latest start passed on the way to the worker"},
  {11, PAWL_ATTEMPT_LEASED, PAWL_EVENT_FAIL, FALSE, PAWL_ATTEMPT_FAILED, PAWL_RUN_FAILED, FALSE, "it could not be started"},
  {12, PAWL_ATTEMPT_LEASED, PAWL_EVENT_FAIL, TRUE, PAWL_ATTEMPT_FAILED, PAWL_RUN_RETRY_WAIT, TRUE, "it could not be started; another attempt follows"},
  {13, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_SUCCEED, FALSE, PAWL_ATTEMPT_SUCCEEDED, PAWL_RUN_SUCCEEDED, FALSE, "the work said that it is done"},
  {14, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_FAIL, FALSE, PAWL_ATTEMPT_FAILED, PAWL_RUN_FAILED, FALSE, "the work failed"},
  {15, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_FAIL, TRUE, PAWL_ATTEMPT_FAILED, PAWL_RUN_RETRY_WAIT, TRUE, "the work failed; another attempt follows"},
  {16, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_TIME_OUT, FALSE, PAWL_ATTEMPT_TIMED_OUT, PAWL_RUN_TIMED_OUT, FALSE, "it ran past its timeout and was ended"},
  {17, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_TIME_OUT, TRUE, PAWL_ATTEMPT_TIMED_OUT, PAWL_RUN_RETRY_WAIT, TRUE, "it was ended at its timeout; another attempt follows"},
  {18, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_CANCEL, FALSE, PAWL_ATTEMPT_CANCELLED, PAWL_RUN_CANCELLED, FALSE, "it was ended because somebody asked for it"},
  {19, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_LOSE, FALSE, PAWL_ATTEMPT_LOST, PAWL_RUN_FAILED, FALSE, "its worker is gone; it may have done part of its work"},
  {20, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_LOSE, TRUE, PAWL_ATTEMPT_LOST, PAWL_RUN_RETRY_WAIT, TRUE, "its worker is gone; another attempt follows"},
  {21, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_LATER, FALSE, PAWL_ATTEMPT_FAILED, PAWL_RUN_FAILED, FALSE, "exit code 75, and it may not be put off again"},
  {22, PAWL_ATTEMPT_RUNNING, PAWL_EVENT_LATER, TRUE, PAWL_ATTEMPT_FAILED, PAWL_RUN_RETRY_WAIT, TRUE, "exit code 75: put off without using up an attempt"},
};
/* clang-format on */

static const char *const attempt_names[] = {
  "waiting", "leased", "running", "succeeded", "failed", "cancelled", "timed_out", "lost", "none"};
static const char *const run_names[] = {"scheduled", "queued", "running", "retry_wait", "succeeded", "failed", "cancelled", "timed_out"};
static const char *const event_names[] = {
  "admit", "grant", "start", "succeed", "fail", "time_out", "cancel", "lose", "too_late", "later", "defer", "wake"};
G_STATIC_ASSERT(G_N_ELEMENTS(attempt_names) == PAWL_ATTEMPT_NONE + 1);
G_STATIC_ASSERT(G_N_ELEMENTS(run_names) == PAWL_RUN_TIMED_OUT + 1);
G_STATIC_ASSERT(G_N_ELEMENTS(event_names) == PAWL_EVENT_WAKE + 1);

const PawlTransition *pawl_machine_table(gsize *ret_n) {
  *ret_n = G_N_ELEMENTS(machine_table);
  return machine_table;
}

const PawlTransition *pawl_machine_find(PawlAttemptState from, PawlMachineEvent event, gboolean retry_left) {
  const PawlTransition *unguarded = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(machine_table); i++) {
    const PawlTransition *row = &machine_table[i];
    if (row->from != from || row->event != event) continue;
    if (row->retry_left == !!retry_left) return row;
    if (!row->retry_left) unguarded = row;
  }
  return unguarded;
}

const char *pawl_attempt_state_name(PawlAttemptState state) { return attempt_names[state]; }
const char *pawl_run_state_name(PawlRunState state) { return run_names[state]; }
const char *pawl_machine_event_name(PawlMachineEvent event) { return event_names[event]; }

static gboolean find_name(const char *const *names, gsize n, const char *text, guint *ret_index) {
  for (gsize i = 0; i < n; i++) {
    if (strcmp(names[i], text) != 0) continue;
    *ret_index = (guint)i;
    return TRUE;
  }
  return FALSE;
}

gboolean pawl_run_state_parse(const char *text, PawlRunState *ret_state) {
  guint index;
  if (!find_name(run_names, G_N_ELEMENTS(run_names), text, &index)) return FALSE;
  *ret_state = (PawlRunState)index;
  return TRUE;
}

gboolean pawl_attempt_state_parse(const char *text, PawlAttemptState *ret_state) {
  guint index;
  if (!find_name(attempt_names, G_N_ELEMENTS(attempt_names), text, &index)) return FALSE;
  *ret_state = (PawlAttemptState)index;
  return TRUE;
}

gboolean pawl_run_state_is_end(PawlRunState state) { return state >= PAWL_RUN_SUCCEEDED; }
