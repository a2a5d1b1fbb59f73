/* SPDX-License-Identifier: Apache-2.0 */
/* pawl status: the first thing one types. Is it running, on which store, what failed, what is late, what comes next. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"
#include "store/replicas.h"

#define LATE_MS (5 * PAWL_SECOND_MS) /* due for longer than this is worth a word */

static const PawlExample examples[] = {
  {"pawl status", "how things stand"},
  {"pawl status --json | jq .running", "for a program"},
};

typedef struct {
  char *url;
  const char *source;
  PawlStore *store;   /* NULL: there is none yet */
  PawlStatus *status; /* likewise */
  gint64 holder_pid;
  GPtrArray *replicas; /* PawlReplica *: those that live, of a shared store; NULL: none */
  gboolean running;
} Picture;

static void picture_clear(Picture *picture) {
  pawl_status_free(picture->status);
  pawl_store_close(picture->store);
  if (picture->replicas != NULL) g_ptr_array_unref(picture->replicas);
  g_free(picture->url);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Picture, picture_clear)

static gboolean read_replicas(Picture *picture, GError **error) {
  picture->replicas = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_replica_free);
  if (!pawl_store_replicas(picture->store, picture->replicas, error)) return FALSE;
  for (guint i = picture->replicas->len; i-- > 0;)
    if (!pawl_replica_lives(g_ptr_array_index(picture->replicas, i))) g_ptr_array_remove_index(picture->replicas, i);
  return TRUE;
}

static gboolean take_picture(PawlCall *call, Picture *picture, GError **error) {
  g_autoptr(GError) why = NULL;
  if (!pawl_settings_store(call->settings, &picture->url, &picture->source, error)) return FALSE;
  picture->store = pawl_call_store_if_any(call, PAWL_DB_READ_ONLY, FALSE, &why);
  gboolean absent = g_error_matches(why, PAWL_ERROR, PAWL_ERROR_NOT_FOUND);
  if (absent && g_str_has_prefix(picture->url, "sqlite:")) return TRUE;
  if (picture->store == NULL) { /* of a server without a schema the message says it, and shows no password */
    if (absent) why->code = PAWL_ERROR_UNAVAILABLE;
    g_propagate_error(error, g_steal_pointer(&why));
    return FALSE;
  }
  g_free(picture->url);
  picture->url = g_strdup(pawl_db_url(pawl_store_db(picture->store)));
  picture->holder_pid = pawl_db_holder(pawl_store_db(picture->store));
  if (!read_replicas(picture, error)) return FALSE;
  picture->running = picture->holder_pid != 0 || picture->replicas->len > 0;
  picture->status = pawl_store_status(picture->store, error);
  return picture->status != NULL;
}

static json_t *json_runs(const GPtrArray *runs) {
  json_t *array = json_array();
  for (guint i = 0; i < runs->len; i++) json_array_append_new(array, pawl_json_run(g_ptr_array_index(runs, i)));
  return array;
}

static json_t *json_coming(const GPtrArray *coming) {
  json_t *array = json_array();
  for (guint i = 0; i < coming->len; i++) {
    const PawlComing *row = g_ptr_array_index(coming, i);
    json_t *object = json_object();
    pawl_json_set_instant(object, "at", row->at_ms);
    pawl_json_set_text(object, "task", row->task);
    pawl_json_set_text(object, "trigger", row->trigger);
    json_array_append_new(array, object);
  }
  return array;
}

static void add_numbers(json_t *object, const PawlStatus *status) {
  const struct {
    const char *key;
    gint64 value;
  } numbers[] = {
    {"tasks", status->tasks},
    {"triggers", status->triggers},
    {"paused", status->paused},
    {"quarantined", status->quarantined},
    {"running_runs", status->running},
    {"waiting_runs", status->waiting},
    {"parked_runs", status->parked},
    {"manual_runs", status->manual},
    {"succeeded_24h", status->succeeded_day},
    {"failed_24h", status->failed_day},
    {"oldest_due_ms", status->oldest_due_ms},
    {"oldest_waiting_ms", status->oldest_waiting_ms},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) json_object_set_new(object, numbers[i].key, json_integer(numbers[i].value));
  pawl_json_set_instant(object, "now", status->now_ms);
  json_object_set_new(object, "failed", json_runs(status->failed));
  json_object_set_new(object, "running_now", json_runs(status->running_rows));
  json_object_set_new(object, "coming", json_coming(status->coming));
}

static json_t *json_replicas(const GPtrArray *replicas) {
  json_t *array = json_array();
  for (guint i = 0; i < replicas->len; i++) {
    const PawlReplica *replica = g_ptr_array_index(replicas, i);
    json_t *object = json_object();
    pawl_json_set_text(object, "name", replica->name);
    pawl_json_set_text(object, "state", pawl_replica_state(replica));
    json_array_append_new(array, object);
  }
  return array;
}

static void print_json(PawlOut *out, const Picture *picture) {
  json_t *object = json_object(), *store = json_object();
  pawl_json_set_text(store, "url", picture->url);
  pawl_json_set_text(store, "source", picture->source);
  json_object_set_new(store, "exists", json_boolean(picture->store != NULL));
  json_object_set_new(object, "running", json_boolean(picture->running));
  pawl_json_set_number(object, "pid", picture->holder_pid, 0);
  json_object_set_new(object, "store", store);
  if (picture->store != NULL && pawl_store_shared(picture->store))
    json_object_set_new(object, "replicas", json_replicas(picture->replicas));
  if (picture->status != NULL) {
    pawl_json_set_text(store, "engine", pawl_db_version(pawl_store_db(picture->store)));
    json_object_set_new(store, "schema", json_integer(pawl_store_schema_version(picture->store)));
    add_numbers(object, picture->status);
  }
  pawl_out_json(out, object);
}

static void print_nothing_yet(PawlOut *out, const Picture *picture) {
  pawl_card_line(out, "pawl", PAWL_COLOUR_WARN, "not running");
  pawl_card_linef(out, "store", PAWL_COLOUR_NONE, "%s (%s): there is none yet", picture->url, picture->source);
  pawl_out_text(out, "\nStart it with\n  pawl up -f pawl.yaml                 the tasks of a file\n"
                     "  pawl up --crontab /etc/cron.d/NAME   a crontab as it is\n");
}

static void print_replicas(PawlOut *out, const GPtrArray *replicas) {
  gboolean ready = FALSE;
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < replicas->len; i++) {
    const PawlReplica *replica = g_ptr_array_index(replicas, i);
    gboolean this_ready = g_str_equal(replica->state, "ready");
    ready = ready || this_ready;
    g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", replica->name);
    if (!this_ready) g_string_append_printf(names, " (%s)", replica->state);
  }
  pawl_card_linef(out, "pawl", ready ? PAWL_COLOUR_GOOD : PAWL_COLOUR_WARN, "running, %u replica%s: %s", replicas->len,
    replicas->len == 1 ? "" : "s", names->str);
}

static void print_head(PawlOut *out, const Picture *picture) {
  const PawlStatus *status = picture->status;
  if (picture->holder_pid != 0)
    pawl_card_linef(out, "pawl", PAWL_COLOUR_GOOD, "running, pid %" G_GINT64_FORMAT, picture->holder_pid);
  else if (picture->running)
    print_replicas(out, picture->replicas);
  else
    pawl_card_line(out, "pawl", PAWL_COLOUR_BAD, "not running: nothing is started until `pawl up` runs");
  pawl_card_linef(
    out, "store", PAWL_COLOUR_NONE, "%s (%s), %s", picture->url, picture->source, pawl_db_version(pawl_store_db(picture->store)));
  pawl_card_linef(out, "tasks", PAWL_COLOUR_NONE, "%" G_GINT64_FORMAT ", triggers %" G_GINT64_FORMAT, status->tasks, status->triggers);
  if (status->paused > 0) pawl_card_linef(out, "paused", PAWL_COLOUR_WARN, "%" G_GINT64_FORMAT, status->paused);
  if (status->quarantined > 0)
    pawl_card_linef(out, "quarantined", PAWL_COLOUR_BAD, "%" G_GINT64_FORMAT " (`pawl list` names them)", status->quarantined);
  pawl_card_linef(out, "runs", PAWL_COLOUR_NONE, "%" G_GINT64_FORMAT " running, %" G_GINT64_FORMAT " waiting, %" G_GINT64_FORMAT " parked",
    picture->running ? status->running : 0, status->waiting, status->parked);
  if (!picture->running && status->running > 0)
    pawl_card_linef(out, "left behind", PAWL_COLOUR_BAD, "%" G_GINT64_FORMAT " %s running when pawl went away", status->running,
      status->running == 1 ? "was" : "were");
  if (status->manual > 0)
    pawl_card_linef(out, "put aside", PAWL_COLOUR_BAD, "%" G_GINT64_FORMAT " wait for a person (`pawl doctor`)", status->manual);
  pawl_card_linef(out, "last 24 h", status->failed_day > 0 ? PAWL_COLOUR_WARN : PAWL_COLOUR_NONE,
    "%" G_GINT64_FORMAT " succeeded, %" G_GINT64_FORMAT " did not", status->succeeded_day, status->failed_day);
  if (status->oldest_due_ms > LATE_MS) {
    g_autofree char *late = pawl_rough_text(status->oldest_due_ms);
    pawl_card_linef(out, "late", PAWL_COLOUR_BAD, "a trigger has been due for %s", late);
  }
  if (status->oldest_waiting_ms > LATE_MS) {
    g_autofree char *waits = pawl_rough_text(status->oldest_waiting_ms);
    pawl_card_linef(out, "waiting", PAWL_COLOUR_WARN, "the oldest run has waited for %s (`pawl runs --state queued`)", waits);
  }
}

static void print_coming(PawlOut *out, const PawlStatus *status) {
  static const PawlColumn columns[] = {{"NEXT", FALSE, FALSE}, {"TRIGGER", FALSE, TRUE}};
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < status->coming->len; i++) {
    const PawlComing *row = g_ptr_array_index(status->coming, i);
    g_autofree char *when = pawl_when_text(row->at_ms, status->now_ms);
    pawl_table_cell(table, PAWL_COLOUR_NONE, when);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%s/%s", row->task, row->trigger);
  }
  pawl_out_text(out, "\n");
  pawl_table_print(table, out);
}

static int run(PawlCall *call, GError **error) {
  g_auto(Picture) picture = {0};
  if (!take_picture(call, &picture, error)) return PAWL_EXIT_FAILED;
  const PawlStatus *status = picture.status;
  if (pawl_out_json_wanted(call->out)) {
    print_json(call->out, &picture);
    return picture.store != NULL ? PAWL_EXIT_OK : PAWL_EXIT_UNAVAILABLE;
  }
  if (status == NULL) {
    print_nothing_yet(call->out, &picture);
    return PAWL_EXIT_UNAVAILABLE;
  }
  print_head(call->out, &picture);
  if (status->running_rows->len > 0) {
    pawl_out_text(call->out, "\n%s\n", picture.running ? "Running now" : "Running when pawl went away");
    pawl_print_runs(call->out, status->running_rows, status->now_ms, !picture.running);
  }
  if (status->failed->len > 0) {
    pawl_out_text(call->out, "\nFailed\n");
    pawl_print_runs(call->out, status->failed, status->now_ms, FALSE);
  }
  if (status->coming->len > 0) print_coming(call->out, status);
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_status = {
  .name = "status",
  .group = "Look",
  .summary = "Is it running, what failed, what is late, what comes next",
  .synopsis = "",
  .description = "Works without a running `pawl up`. Before there is a store it says how to start, and the exit code is 69.",
  .json =
    "{running, pid, store: {url, source, exists, engine, schema}, replicas: [{name, state}] that live (PostgreSQL), tasks, triggers, "
    "paused, quarantined, running_runs, waiting_runs, "
    "parked_runs, manual_runs, succeeded_24h, failed_24h, oldest_due_ms, oldest_waiting_ms, now, failed: [runs], running_now: [runs], "
    "coming: [{at, task, trigger}]}; the first three only, while there is no store",
  PAWL_EXAMPLES(examples),
  .run = run,
};
