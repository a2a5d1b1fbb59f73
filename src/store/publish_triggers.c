/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers of a publication: revisions, and what becomes of the cursor.
 *
 * A trigger that was deleted and comes back always gets a new revision, also for an equal spec: a revision's birth marks from when on its
 * occurrences are accounted for. An edit of a trigger or of its task ends a quarantine, since it may well be the cure. */
#include "base/clock.h"
#include "base/error.h"
#include "store/publish_private.h"

gboolean pawl_timing_same(const PawlTriggerSpec *a, const PawlTriggerSpec *b) {
  const PawlTiming *x = &a->timing, *y = &b->timing;
  if (x->kind != y->kind || x->every_ms != y->every_ms || x->offset_ms != y->offset_ms || x->at_ms != y->at_ms ||
      x->from_ms != y->from_ms || x->until_ms != y->until_ms)
    return FALSE;
  if (x->kind != PAWL_TIMING_CRON) return TRUE;
  g_autofree char *p = pawl_cron_text(x->cron), *q = pawl_cron_text(y->cron);
  return g_str_equal(p, q) && g_str_equal(pawl_zone_name(pawl_cron_zone(x->cron)), pawl_zone_name(pawl_cron_zone(y->cron)));
}

typedef struct {
  PawlPublish *publish;
  const PawlTaskDef *task_def;
  const PawlStoredTask *task; /* NULL: new */
  PawlId task_id;
  gint64 task_revision;
  gboolean task_changed;
} TriggerJob;

static gint64 revision_of_task(const TriggerJob *job, const PawlTriggerDef *def) {
  return def->spec->task_revision != 0 ? def->spec->task_revision : job->task_revision;
}

static gboolean add_revision(
  const TriggerJob *job, const PawlTriggerDef *def, const PawlId *id, gint64 revision, gint64 cursor_ms, GError **error) {
  PawlPublish *publish = job->publish;
  char next[PAWL_INSTANT_TEXT];
  g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, revision);
  return pawl_db_exec(publish->store->db, PAWL_SQL_TRIGGER_REVISION_INSERT, NULL, error,
           PAWL_ROW(pawl_id(id), PAWL_INT(revision), pawl_text(def->digest), pawl_text(def->json), PAWL_INT(publish->now_ms))) &&
         pawl_store_act(publish->store, id, "trigger.published", error, "revision", text, "next",
           cursor_ms != 0 ? pawl_instant_text(cursor_ms, next) : NULL, NULL);
}

static gboolean add_trigger(const TriggerJob *job, const PawlTriggerDef *def, GError **error) {
  PawlPublish *publish = job->publish;
  PawlDb *db = publish->store->db;
  pawl_publish_change(publish, PAWL_CHANGE_ADD, "trigger %s/%s", job->task_def->name, def->name);
  if (publish->options->dry_run) return TRUE;
  g_auto(PawlSchedule) schedule = {.trigger = pawl_id_new(publish->now_ms)};
  schedule.task_paused = job->task != NULL && !job->task->archived && job->task->pause.at_ms != 0;
  pawl_schedule_aim(&schedule, def->spec, publish->now_ms);
  pawl_schedule_arm(&schedule, def->spec);
  PawlValue id = pawl_id(&schedule.trigger);
  return pawl_db_exec(db, PAWL_SQL_TRIGGER_INSERT, NULL, error,
           PAWL_ROW(id, pawl_id(&job->task_id), pawl_text(def->name), pawl_text(def->digest), PAWL_INT(publish->now_ms))) &&
         pawl_db_exec(db, PAWL_SQL_SCHEDULE_INSERT, NULL, error,
           PAWL_ROW(id, pawl_id(&job->task_id), pawl_id(&publish->project), PAWL_INT(1), PAWL_INT(revision_of_task(job, def)),
             PAWL_INT(schedule.armed), pawl_int_or_null(schedule.cursor_ms), pawl_int_or_null(schedule.due_at_ms))) &&
         add_revision(job, def, &schedule.trigger, 1, schedule.cursor_ms, error);
}

/* Puts the new spec into the schedule: passes over what the old one leaves unsettled where the cursor moves, keeps the cursor where it
 * need not. */
static gboolean move_schedule(const TriggerJob *job, const PawlTriggerDef *def, const PawlTriggerSpec *old /* NULL: was deleted */,
  PawlSchedule *schedule, GError **error) {
  PawlPublish *publish = job->publish;
  schedule->archived = FALSE;
  schedule->clear_quarantine = TRUE;
  schedule->task_revision = revision_of_task(job, def);
  if (old == NULL || !pawl_timing_same(old, def->spec) || old->enabled != def->spec->enabled) {
    const char *outcome = def->spec->enabled ? "superseded" : "disabled";
    if (old != NULL && !pawl_schedule_pass_over(publish->store, schedule, old, publish->now_ms, outcome, NULL, error)) return FALSE;
    pawl_schedule_aim(schedule, def->spec, publish->now_ms);
  } else if (schedule->cursor_ms != 0) {
    schedule->due_at_ms = schedule->cursor_ms + pawl_timing_jitter(&def->spec->timing, &schedule->trigger, schedule->cursor_ms);
  }
  pawl_schedule_arm(schedule, def->spec);
  return TRUE;
}

static gboolean write_edit(
  const TriggerJob *job, const PawlTriggerDef *def, const PawlStoredTrigger *trigger, const PawlTriggerSpec *old, GError **error) {
  PawlPublish *publish = job->publish;
  PawlStore *store = publish->store;
  g_auto(PawlSchedule) schedule = {0};
  if (!pawl_schedule_read(store, &trigger->id, &schedule, error)) return FALSE;
  schedule.trigger_revision = trigger->revision + 1;
  return move_schedule(job, def, old, &schedule, error) && pawl_schedule_write(store, &schedule, error) &&
         pawl_db_exec(store->db, PAWL_SQL_TRIGGER_PUBLISH, NULL, error,
           PAWL_ROW(pawl_id(&trigger->id), PAWL_INT(schedule.trigger_revision), pawl_text(def->digest), PAWL_INT(publish->now_ms))) &&
         add_revision(job, def, &trigger->id, schedule.trigger_revision, schedule.cursor_ms, error);
}

static void note_pause(const TriggerJob *job, const PawlStoredTrigger *trigger) {
  if (trigger->pause.at_ms == 0) return;
  g_autofree char *object = g_strdup_printf("trigger %s/%s", job->task_def->name, trigger->name);
  pawl_publish_note_pause(job->publish, &trigger->pause, object);
}

static gboolean edit_trigger(const TriggerJob *job, const PawlTriggerDef *def, const PawlStoredTrigger *trigger, GError **error) {
  PawlPublish *publish = job->publish;
  const char *task = job->task_def->name;
  if (trigger->archived) {
    pawl_publish_change(publish, PAWL_CHANGE_ADD, "trigger %s/%s", task, def->name);
    return publish->options->dry_run || write_edit(job, def, trigger, NULL, error);
  }
  PawlChange *change = pawl_publish_change(publish, PAWL_CHANGE_EDIT, "trigger %s/%s", task, def->name);
  g_autofree char *json = pawl_publish_json(publish->store, PAWL_SQL_SPEC_TRIGGER, &trigger->id, trigger->revision, error);
  if (json == NULL) return FALSE;
  pawl_change_diff(change, json, def->json);
  note_pause(job, trigger);
  g_autoptr(PawlTriggerSpec) old = pawl_trigger_spec_from_stored(json, publish->bundle->project, task, def->name, error);
  if (old == NULL) return FALSE;
  return publish->options->dry_run || write_edit(job, def, trigger, old, error);
}

/* The trigger is the same, its task has a new revision: every outstanding claim must see that. */
static gboolean touch_trigger(const TriggerJob *job, const PawlTriggerDef *def, const PawlStoredTrigger *trigger, GError **error) {
  g_auto(PawlSchedule) schedule = {0};
  if (!pawl_schedule_read(job->publish->store, &trigger->id, &schedule, error)) return FALSE;
  schedule.task_revision = revision_of_task(job, def);
  schedule.clear_quarantine = TRUE;
  pawl_schedule_arm(&schedule, def->spec);
  return pawl_schedule_write(job->publish->store, &schedule, error);
}

static gboolean remove_missing(const TriggerJob *job, GHashTable *kept, GError **error) {
  PawlPublish *publish = job->publish;
  for (guint i = 0; job->task != NULL && i < job->task->triggers->len; i++) {
    const PawlStoredTrigger *trigger = g_ptr_array_index(job->task->triggers, i);
    if (trigger->archived || g_hash_table_contains(kept, trigger->name)) continue;
    pawl_publish_change(publish, PAWL_CHANGE_REMOVE, "trigger %s/%s", job->task->name, trigger->name);
    if (!publish->options->dry_run && !pawl_store_remove_trigger(publish->store, &trigger->id, publish->now_ms, error)) return FALSE;
  }
  return TRUE;
}

gboolean pawl_publish_triggers(PawlPublish *publish, const PawlTaskDef *def, const PawlStoredTask *task, const PawlId *task_id,
  gint64 task_revision, gboolean task_changed, GError **error) {
  TriggerJob job = {publish, def, task, *task_id, task_revision, task_changed};
  g_autoptr(GHashTable) kept = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < def->triggers->len; i++) {
    const PawlTriggerDef *trigger_def = g_ptr_array_index(def->triggers, i);
    const PawlStoredTrigger *trigger = pawl_stored_trigger(task, trigger_def->name);
    g_hash_table_add(kept, trigger_def->name);
    if (trigger == NULL) {
      if (!add_trigger(&job, trigger_def, error)) return FALSE;
    } else if (trigger->archived || !g_str_equal(trigger->digest, trigger_def->digest)) {
      if (!edit_trigger(&job, trigger_def, trigger, error)) return FALSE;
    } else {
      pawl_publish_change(publish, PAWL_CHANGE_SAME, "trigger %s/%s", def->name, trigger_def->name);
      note_pause(&job, trigger);
      if (task_changed && !publish->options->dry_run && !touch_trigger(&job, trigger_def, trigger, error)) return FALSE;
    }
  }
  return remove_missing(&job, kept, error);
}
