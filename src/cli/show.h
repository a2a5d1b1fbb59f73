/* SPDX-License-Identifier: Apache-2.0 */
/* Finding what a reference names, for show and explain. */
#pragma once
#include "cli/verb.h"
#include "store/runs.h"

typedef struct {
  PawlTaskRow *task;             /* NULL: it is a run */
  const PawlTriggerRow *trigger; /* within task; NULL: the task itself */
  PawlId run;
} PawlSubject;
void pawl_subject_clear(PawlSubject *subject);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PawlSubject, pawl_subject_clear)
/* A task or trigger of the call's project, or else a run by its id or the end of it. NOT_FOUND names the nearest. */
gboolean pawl_subject_find(PawlCall *call, PawlStore *store, const char *text, PawlSubject *ret_subject, GError **error);

/* show_definition.c: under a heading, as a file of this one task that `validate` takes, and a trigger's mapping. */
void pawl_print_task_definition(PawlOut *out, PawlStore *store, const PawlTaskRow *task);
void pawl_print_trigger_definition(PawlOut *out, const PawlTriggerRow *trigger);
