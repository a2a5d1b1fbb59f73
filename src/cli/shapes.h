/* SPDX-License-Identifier: Apache-2.0 */
/* How rows of the store look in JSON, and as tables and cards: one place for each, used by every verb that shows them. The JSON shapes
 * are an interface: fields are added, never renamed or taken away. Each json function returns a new reference. */
#pragma once
#include "cli/format.h"
#include "store/runs.h"

/* run_id, project, task, trigger, origin, nominal_at, state, attempts, queued_at, started_at, finished_at, exit_code, reason; then
 * signal, retry_of, requested_by, task_revision. */
json_t *pawl_json_run(const PawlRunRow *run);
json_t *pawl_json_attempt(const PawlAttemptRow *attempt);
json_t *pawl_json_event(const PawlEventRow *event);
json_t *pawl_json_trigger(const PawlTriggerRow *trigger, gboolean with_spec);
json_t *pawl_json_task(const PawlTaskRow *task, gboolean with_spec);
json_t *pawl_json_pool(const PawlPoolRow *pool);
json_t *pawl_json_occurrence(const PawlOccurrence *occurrence);
/* Strings of an array as a JSON array. */
json_t *pawl_json_texts(const GPtrArray *texts);
/* Adds an id, or null for the zero id. */
void pawl_json_set_id(json_t *object, const char *key, const PawlId *id);
/* Adds a number, or null when it is `none`. */
void pawl_json_set_number(json_t *object, const char *key, gint64 value, gint64 none);

/* "task/trigger", or the task alone. Caller frees. */
char *pawl_full_name(const char *task, const char *trigger);
/* "exit code 3", "signal 9", the reason, or both; "" when there is none. Caller frees. */
char *pawl_run_outcome(const PawlRunRow *run);
/* A trigger's timing in a few words: the expression, "every 15m", "at 2027-01-01T00:00:00Z". Caller frees. The second answers "?" for a
 * spec that can't be read. */
char *pawl_timing_text(const PawlTriggerSpec *spec);
char *pawl_trigger_timing(const PawlTaskRow *task, const PawlTriggerRow *trigger);
/* `away`: no pawl runs, so that what stands as running was left behind. */
void pawl_print_runs(PawlOut *out, const GPtrArray *runs, gint64 now_ms, gboolean away);
