/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs, each defined in the file of its name. */
#pragma once
#include "cli/verb.h"

extern const PawlVerb pawl_verb_up, pawl_verb_import, pawl_verb_validate, pawl_verb_diff, pawl_verb_apply, pawl_verb_next, pawl_verb_status,
  pawl_verb_list, pawl_verb_show, pawl_verb_run, pawl_verb_runs, pawl_verb_logs, pawl_verb_cancel, pawl_verb_retry, pawl_verb_pause,
  pawl_verb_resume, pawl_verb_delete, pawl_verb_explain, pawl_verb_pools, pawl_verb_replicas, pawl_verb_db, pawl_verb_doctor,
  pawl_verb_defaults, pawl_verb_version, pawl_verb_help;

/* up.c: what the daemon gets; `ret_up->url` is the caller's to free, the rest is borrowed from the call. */
gboolean pawl_up_options_read(PawlCall *call, PawlUpOptions *ret_up, GError **error);
/* pools.c: one pool, as `pawl pools` shows it. */
int pawl_show_pool(PawlCall *call, const char *name, GError **error);
