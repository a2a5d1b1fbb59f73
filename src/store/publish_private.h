/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of apply share. A publication reads all that is stored of the project under the write lock, compares, and writes what
 * differs; a dry run is the same walk on a snapshot with the writes left out, so that diff and apply cannot disagree. */
#pragma once
#include "store/publish.h"
#include "store/store_private.h"

typedef struct {
  PawlId id;
  char *name, *owner_mark /* NULL: nobody's */, *state;
  gint slots, slots_override;
  gboolean overridden;
} PawlStoredPool;

typedef struct {
  gint64 at_ms, until_ms; /* at_ms 0: not paused */
  char *reason, *by;
} PawlStoredPause;

typedef struct {
  PawlId id;
  char *name, *digest;
  gboolean archived, armed;
  gint64 revision, cursor_ms, due_at_ms;
  PawlStoredPause pause;
} PawlStoredTrigger;

typedef struct {
  PawlId id;
  char *name, *owner_mark, *digest;
  gboolean archived, serial;
  gint64 revision;
  gint max_active;
  PawlStoredPause pause;
  GPtrArray *triggers; /* PawlStoredTrigger *, owned */
} PawlStoredTask;

typedef struct {
  PawlStore *store;
  const PawlBundle *bundle;
  const PawlApplyOptions *options;
  gint64 now_ms; /* of the database, read under the lock; all of one publication carries it */
  PawlId project;
  gboolean project_new;
  GHashTable *pools;  /* name (borrowed) -> PawlStoredPool *, owned */
  GHashTable *tasks;  /* name (borrowed) -> PawlStoredTask *, owned */
  GPtrArray *changes; /* PawlChange * */
  GArray *removed;    /* PawlId of removed tasks, whose runs are cancelled */
} PawlPublish;

void pawl_publish_init(PawlPublish *publish, PawlStore *store, const PawlBundle *bundle, const PawlApplyOptions *options);
void pawl_publish_clear(PawlPublish *publish);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PawlPublish, pawl_publish_clear)
/* Inside a transaction of either kind. */
gboolean pawl_publish_load(PawlPublish *publish, GError **error);
/* The values, in no order; borrowed from the table. */
GPtrArray *pawl_publish_values(GHashTable *table);
PawlStoredTrigger *pawl_stored_trigger(const PawlStoredTask *task /* NULL: none */, const char *name);
/* The JSON of a revision: `sql` is SPEC_TASK or SPEC_TRIGGER. NULL with an error. Caller g_free()s. */
char *pawl_publish_json(PawlStore *store, PawlSql sql, const PawlId *id, gint64 revision, GError **error);

/* Records a change; the format makes the object's name. Lines may be added to what is returned, which the publication owns. */
PawlChange *pawl_publish_change(PawlPublish *publish, PawlChangeKind kind, const char *format, ...) G_GNUC_PRINTF(3, 4);
void pawl_change_line(PawlChange *change, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* One line for each leaf that differs between two JSON texts. Values of inputs and environments are never shown. */
void pawl_change_diff(PawlChange *change, const char *before, const char *after);
/* A note for a pause that a file does not undo. Nothing when there is none. */
void pawl_publish_note_pause(PawlPublish *publish, const PawlStoredPause *pause, const char *object);

/* Deleted, or on its way there: nothing new may name it. */
gboolean pawl_stored_pool_goes(const PawlStoredPool *pool);
gboolean pawl_publish_pools(PawlPublish *publish, GError **error);
gboolean pawl_publish_pools_gone(PawlPublish *publish, GError **error);
gboolean pawl_publish_tasks(PawlPublish *publish, GError **error);
gboolean pawl_publish_tasks_gone(PawlPublish *publish, GError **error);
/* `task`: as stored before (NULL: new). `task_id`, `task_revision`: as they are now. `task_changed`: the revision is new. */
gboolean pawl_publish_triggers(PawlPublish *publish, const PawlTaskDef *def, const PawlStoredTask *task, const PawlId *task_id,
  gint64 task_revision, gboolean task_changed, GError **error);
/* Whether the two place their occurrences alike. Jitter and windows count as the header of civil says: a window does, jitter does not. */
gboolean pawl_timing_same(const PawlTriggerSpec *a, const PawlTriggerSpec *b);
/* Waits, outside any transaction, for due cursors whose timing is about to change to be settled by the scheduler; at most 2 s. */
gboolean pawl_publish_wait(PawlStore *store, const PawlBundle *bundle, const PawlApplyOptions *options, GError **error);

/* ---- delete.c, inside the caller's transaction ---- */
gboolean pawl_store_remove_trigger(PawlStore *store, const PawlId *trigger, gint64 now_ms, GError **error);
gboolean pawl_store_remove_task(PawlStore *store, const PawlId *task, gint64 now_ms, GError **error);
#define PAWL_CANCEL_AT_ONCE                                                                                                                \
  10000 /* runs of removed tasks that are cancelled in the removing transaction itself; the rest follows in bites */
/* After the commit: what was too much for one transaction. */
gboolean pawl_store_cancel_rest(PawlStore *store, const PawlId *task, const char *reason, guint *ret_cancelled, GError **error);
