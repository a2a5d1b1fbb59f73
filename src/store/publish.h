/* SPDX-License-Identifier: Apache-2.0 */
/* Publication and administration: apply, diff, pause, resume, delete, pools. */
#pragma once
#include "store/store.h"

typedef enum {
  PAWL_CHANGE_ADD,
  PAWL_CHANGE_EDIT,
  PAWL_CHANGE_REMOVE,
  PAWL_CHANGE_SAME,
  PAWL_CHANGE_NOTE /* run-time override or pause that stays */
} PawlChangeKind;
typedef struct {
  PawlChangeKind kind;
  char *object;     /* "task backup", "trigger backup/nightly", "pool io" */
  GPtrArray *lines; /* char *: "timeout: 30m -> 1h" for EDIT; may be empty */
} PawlChange;
void pawl_change_free(PawlChange *change);

typedef struct {
  const char
    *owner_mark;  /* whose tasks these are: an absolute path, or "cli"; a task owned by another mark is refused (CONFLICT) unless `adopt` */
  gboolean prune; /* tasks and pools of this mark that are not in the bundle are removed, their unfinished runs cancelled */
  gboolean adopt;
  gboolean dry_run;  /* diff: the same changes, nothing written, no lock */
  gboolean starting; /* nobody schedules on this store yet (`pawl up` before its engine): a due cursor is not waited for, and a removed
                     * pool with unfinished runs drains instead of being refused, since nothing else would let them end */
} PawlApplyOptions;
/* One transaction. Changes (PawlChange *) are appended. An equal digest writes nothing. New triggers: id made once per (project, task,
 * name) for ever, cursor = the first occurrence after the greater of the clock and the high-water mark. Removed: as delete. A due and
 * unsettled cursor whose timing changes is waited for up to 2 s before the transaction (while a holder runs), then its occurrences up to
 * now go to the ledger as `superseded`. CONFLICT: another mark's task or pool; a pool that is in use is gone from the file. INVALID: a
 * pool or a task revision that does not exist. All are named. A wake-up is the caller's (pawl_db_ring). */
gboolean pawl_store_apply(PawlStore *store, const PawlBundle *bundle, const PawlApplyOptions *options, GPtrArray *changes, GError **error);

/* `reference`: TASK or TASK/TRIGGER in `project`. until_ms 0: until resumed. NOT_FOUND with the nearest name. Pausing what is paused
 * changes until and reason. A paused task's waiting runs do not start (parked `paused`), running ones go on; a paused trigger only stops
 * firing. */
gboolean pawl_store_pause(
  PawlStore *store, const char *project, const char *reference, gint64 until_ms, const char *reason, GError **error);
/* Ends a quarantine too. What is neither paused nor quarantined is left alone. catch_up: missed occurrences are made up by the misfire
 * rule instead of going to the ledger as `paused`. */
gboolean pawl_store_resume(PawlStore *store, const char *project, const char *reference, gboolean catch_up, GError **error);
/* TASK (with its triggers) or TASK/TRIGGER: archived; unfinished runs of a deleted task are cancelled; history stays. `ret_cancelled`
 * counts. */
gboolean pawl_store_delete(PawlStore *store, const char *project, const char *reference, guint *ret_cancelled, GError **error);

/* slots: what `pawl pools resize` sets; G_MININT clears the override. */
gboolean pawl_store_pool_override(PawlStore *store, const char *project, const char *pool, gint slots, GError **error);

/* Calls `each` for every ownership mark that has active tasks, with their number. `mark` is borrowed; NULL: without one. */
gboolean pawl_store_owners(PawlStore *store, void (*each)(const char *mark, gint64 tasks, gpointer data), gpointer data, GError **error);
