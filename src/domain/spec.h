/* SPDX-License-Identifier: Apache-2.0 */
/* Task and trigger specs between a JSON tree and their structs. Private to domain/.
 *
 * The normal form that is stored is the user's form with every key written out, so one set of readers serves both: a file is read over
 * its `defaults:`, these over the built-in ones; a stored revision is read alone. */
#pragma once
#include "domain/reader.h"

#define PAWL_POOL_DEFAULT "default"
#define PAWL_SLOTS_MAX 1000000

extern const PawlKeyTable pawl_task_keys, pawl_trigger_keys;

/* The built-in defaults. To be freed with pawl_task_spec_free() and pawl_trigger_spec_free(). */
PawlTaskSpec *pawl_task_spec_new(void);
PawlTriggerSpec *pawl_trigger_spec_new(void);

/* Over the built-in defaults: `defaults` (an object, NULL: none; what is wrong in it is not said again), then `object` in `scope`. Never
 * NULL; what is wrong is said to the reader, and then the spec is of no use. */
PawlTaskSpec *pawl_task_spec_read(PawlReader *reader, const json_t *defaults, const json_t *object, guint scope);
/* `full_name`: what H is spread by, pawl_trigger_full_name(). */
PawlTriggerSpec *pawl_trigger_spec_read(
  PawlReader *reader, const json_t *defaults, const json_t *object, guint scope, const char *full_name);
char *pawl_trigger_full_name(const char *project, const char *task, const char *trigger);

/* The normal form. New references. */
json_t *pawl_task_spec_to_json(const PawlTaskSpec *spec);
json_t *pawl_trigger_spec_to_json(const PawlTriggerSpec *spec);

/* The tree of a stored revision, and whether it was read without an error; else PAWL_ERROR_INTERNAL. `what`: "task". */
json_t *pawl_stored_parse(const char *json, const char *what, GError **error);
gboolean pawl_stored_check(const PawlReader *reader, const char *what, GError **error);

/* Built-in defaults that the table of `pawl defaults` shows too (a test compares them). */
#define PAWL_DEFAULT_ZONE "UTC"
#define PAWL_DEFAULT_SHELL "/bin/sh"
#define PAWL_DEFAULT_KILL_AFTER_MS (10 * PAWL_SECOND_MS)
#define PAWL_DEFAULT_BACKOFF_MS (30 * PAWL_SECOND_MS)
#define PAWL_DEFAULT_MAX_BACKOFF_MS (10 * PAWL_MINUTE_MS)
#define PAWL_DEFAULT_KEEP_MS (7 * PAWL_DAY_MS)
#define PAWL_DEFAULT_OUTPUT_BYTES (256 * 1024)
#define PAWL_DEFAULT_MISFIRE_LIMIT 100
