/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by /proc, for the worker room only. */
#pragma once
#include "worker/supervisor.h"

/* As pawl_process_end_attempt(), and it ends the members of session `session` too (0: none is known) that started after `process`, which
 * must not be NULL then. With `run` NULL no environment is looked at: nothing of the attempt has been started. */
gboolean pawl_process_end_all(const PawlProcess *process, pid_t session, const PawlId *run, gint attempt, gint64 timeout_ms);
