/* SPDX-License-Identifier: Apache-2.0 */
/* Files of tasks, as the verbs that take -f read them. */
#pragma once
#include "cli/verb.h"

/* Reads FILE ("-": standard input). Issues go to standard error, one line each (with --json they are left to the caller). NULL with
 * `error` (CONFIG) when there is an error among them. `issues` (PawlIssue *) gets all. */
PawlBundle *pawl_bundle_read(PawlCall *call, const char *file, GPtrArray *issues, GError **error);
json_t *pawl_json_issues(const GPtrArray *issues);
/* The mark under which a file's tasks are owned: its absolute path; "cli" for standard input. Caller frees. */
char *pawl_owner_mark(const char *file);
