/* SPDX-License-Identifier: Apache-2.0 */
/* What one file says: its defaults, pools and tasks, each checked, and the references between them. */
#include "domain/spec.h"
#include "domain/spec_trigger.h"

#include "base/clock.h"

#include <string.h>

#define PROJECT_DEFAULT "default"

static const PawlKey bundle_rows[] = {
  {.name = "project",
    .scopes = PAWL_IN_FILE,
    .read = pawl_read_text,
    .offset = G_STRUCT_OFFSET(PawlBundle, project),
    .min = 1,
    .expected = "a text, a project's name"},
  {.name = "defaults", .scopes = PAWL_IN_FILE, .read = pawl_read_nothing},
  {.name = "pools", .scopes = PAWL_IN_FILE, .read = pawl_read_nothing},
  {.name = "tasks", .scopes = PAWL_IN_FILE, .read = pawl_read_nothing},
};
static const PawlKeyTable bundle_keys = {.keys = bundle_rows, .n = G_N_ELEMENTS(bundle_rows), .what = "the file"};

static const PawlKey pool_rows[] = {
  {.name = "slots",
    .scopes = PAWL_IN_FILE,
    .read = pawl_read_int,
    .offset = G_STRUCT_OFFSET(PawlPoolSpec, slots),
    .min = 0,
    .max = PAWL_SLOTS_MAX,
    .none = "unlimited",
    .none_value = -1,
    .expected = "a number of slots, or unlimited"},
};
static const PawlKeyTable pool_keys = {.keys = pool_rows, .n = G_N_ELEMENTS(pool_rows), .what = "a pool"};

static void pool_free(gpointer data) {
  PawlPoolSpec *pool = data;
  g_free(pool->name);
  g_free(pool);
}

static void trigger_def_free(gpointer data) {
  PawlTriggerDef *def = data;
  g_free(def->name);
  g_free(def->json);
  g_free(def->digest);
  pawl_trigger_spec_free(def->spec);
  g_free(def);
}

static void task_def_free(gpointer data) {
  PawlTaskDef *def = data;
  g_free(def->name);
  g_free(def->json);
  g_free(def->digest);
  pawl_task_spec_free(def->spec);
  g_ptr_array_unref(def->triggers);
  g_free(def);
}

void pawl_bundle_free(PawlBundle *bundle) {
  if (bundle == NULL) return;
  g_free(bundle->project);
  g_ptr_array_unref(bundle->pools);
  g_ptr_array_unref(bundle->tasks);
  g_free(bundle);
}

/* The member `key` of the file as an object, entered at `spot`; NULL: there is none, or it is no object, which is said. Always leave. */
static const json_t *enter_object(PawlReader *reader, PawlSpot *spot, const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  pawl_enter_key(reader, spot, object, key);
  if (value == NULL || json_is_object(value)) return value;
  pawl_say_expected(reader, "a mapping", value);
  return NULL;
}

/* `defaults:` is checked once, here; the tasks and triggers then read it again without a word. */
static const json_t *read_defaults(PawlReader *reader, const json_t *root) {
  static const PawlKeyTable *const tables[] = {&pawl_task_keys, &pawl_trigger_keys};
  static const PawlKeyTable unknown = {.what = "defaults", .elsewhere = NULL};
  PawlSpot spot;
  const char *name;
  json_t *value;
  g_autoptr(PawlTaskSpec) task = pawl_task_spec_new();
  g_autoptr(PawlTriggerSpec) trigger = pawl_trigger_spec_new();
  const json_t *defaults = enter_object(reader, &spot, root, "defaults");
  json_object_foreach((json_t *)defaults, name, value) {
    static const PawlKeyTable *const all[] = {&unknown, &pawl_task_keys, &pawl_trigger_keys};
    PawlSpot key_spot;
    const PawlKey *key = pawl_key_find(tables[0], PAWL_IN_DEFAULTS, name);
    gpointer target = key != NULL ? (gpointer)task : (gpointer)trigger;
    if (key == NULL) key = pawl_key_find(tables[1], PAWL_IN_DEFAULTS, name);
    pawl_enter_key(reader, &key_spot, defaults, name);
    if (key != NULL)
      key->read(reader, key, value, target);
    else if (pawl_key_find(&pawl_task_keys, PAWL_IN_FILE, name) != NULL)
      pawl_say_key_error(reader, "it belongs to a task", "unknown key of defaults");
    else if (pawl_key_find(&pawl_trigger_keys, PAWL_IN_FILE, name) != NULL)
      pawl_say_key_error(reader, "it belongs to a trigger", "unknown key of defaults");
    else
      pawl_say_unknown_key(reader, all, G_N_ELEMENTS(all), PAWL_IN_DEFAULTS, name);
    pawl_leave(reader);
  }
  pawl_leave(reader);
  return defaults;
}

static void read_pools(PawlReader *reader, const json_t *root, PawlBundle *bundle, GHashTable *by_name) {
  PawlSpot spot;
  const char *name;
  json_t *value;
  const json_t *pools = enter_object(reader, &spot, root, "pools");
  json_object_foreach((json_t *)pools, name, value) {
    PawlSpot pool_spot;
    pawl_enter_key(reader, &pool_spot, pools, name);
    PawlPoolSpec *pool = g_new0(PawlPoolSpec, 1);
    pool->name = g_strdup(name);
    pool->slots = -1;
    g_ptr_array_add(bundle->pools, pool);
    g_hash_table_insert(by_name, pool->name, pool);
    pawl_check_name(reader, name, "a pool");
    if (json_is_object(value))
      pawl_read_object(reader, &pool_keys, PAWL_IN_FILE, value, pool, FALSE);
    else
      pawl_say_expected(reader, "a mapping such as {slots: 2}", value);
    if (json_is_object(value) && json_object_get(value, "slots") == NULL)
      pawl_say_error(reader, "write {slots: 2}, or {slots: unlimited}", "it does not say how many slots there are");
    pawl_leave(reader);
  }
  pawl_leave(reader);
}

static void finish_json(json_t *tree, char **ret_json, char **ret_digest) {
  *ret_json = pawl_json_canonical(tree);
  *ret_digest = pawl_digest(*ret_json, -1);
  json_decref(tree);
}

static void read_triggers(PawlReader *reader, const json_t *defaults, const json_t *task, const char *project, PawlTaskDef *def) {
  PawlSpot spot;
  const char *name;
  json_t *value;
  const json_t *triggers = enter_object(reader, &spot, task, "triggers");
  json_object_foreach((json_t *)triggers, name, value) {
    PawlSpot trigger_spot;
    guint before = reader->errors;
    g_autofree char *full_name = pawl_trigger_full_name(project, def->name, name);
    pawl_enter_key(reader, &trigger_spot, triggers, name);
    pawl_check_name(reader, name, "a trigger");
    if (json_is_object(value)) {
      PawlTriggerDef *trigger = g_new0(PawlTriggerDef, 1);
      trigger->name = g_strdup(name);
      trigger->line = pawl_reader_place(reader, TRUE).line;
      trigger->column = pawl_reader_place(reader, TRUE).column;
      trigger->spec = pawl_trigger_spec_read(reader, defaults, value, PAWL_IN_FILE, full_name);
      g_ptr_array_add(def->triggers, trigger);
      if (reader->errors == before) {
        pawl_trigger_warn(reader, value, trigger->spec);
        finish_json(pawl_trigger_spec_to_json(trigger->spec), &trigger->json, &trigger->digest);
      }
    } else
      pawl_say_expected(reader, "a mapping such as {cron: \"0 2 * * *\"}", value);
    pawl_leave(reader);
  }
  pawl_leave(reader);
}

/* What refers to a pool: an unknown one is an error, too small a one a warning. A pool that comes from defaults is checked there. */
static void check_pool(PawlReader *reader, const json_t *task, const PawlTaskSpec *spec, GHashTable *pools) {
  PawlSpot spot;
  const PawlPoolSpec *pool = g_hash_table_lookup(pools, spec->pool);
  if (pool == NULL && strcmp(spec->pool, PAWL_POOL_DEFAULT) != 0) {
    if (json_object_get(task, "pool") == NULL) return;
    g_autofree const char **names = (const char **)g_hash_table_get_keys_as_array(pools, NULL);
    const char *nearest = pawl_nearest_word(spec->pool, names);
    g_autofree char *hint =
      nearest != NULL ? g_strdup_printf("did you mean '%s'?", nearest) : g_strdup_printf("add it: pools: {%s: {slots: 1}}", spec->pool);
    pawl_enter_key(reader, &spot, task, "pool");
    pawl_say_error(reader, hint, "there is no pool '%s' in the file", spec->pool);
    pawl_leave(reader);
  } else if (pool != NULL && pool->slots > 0 && spec->slots > pool->slots) {
    gboolean own = json_object_get(task, "slots") != NULL;
    if (own) pawl_enter_key(reader, &spot, task, "slots");
    pawl_say_warning(reader, NULL, "unsatisfiable: it takes %d slots and pool '%s' has %d", spec->slots, pool->name, pool->slots);
    if (own) pawl_leave(reader);
  }
}

static void check_timeout(PawlReader *reader, const PawlTaskDef *def) {
  if (def->spec->timeout_ms != 0) return;
  for (guint i = 0; i < def->triggers->len; i++) {
    const PawlTriggerDef *trigger = g_ptr_array_index(def->triggers, i);
    if (trigger->spec->overlap == PAWL_OVERLAP_ALLOW || def->spec->kind == PAWL_WORK_NOOP) continue;
    pawl_say_warning(reader, "add timeout: 1h",
      "no timeout: a run that hangs keeps trigger '%s' from running again, as its overlap is not allow", trigger->name);
    return;
  }
}

static void read_task(
  PawlReader *reader, const json_t *defaults, const char *name, const json_t *task, PawlBundle *bundle, GHashTable *pools) {
  guint before = reader->errors;
  pawl_check_name(reader, name, "a task");
  if (!json_is_object(task)) {
    pawl_say_expected(reader, "a mapping", task);
    return;
  }
  PawlTaskDef *def = g_new0(PawlTaskDef, 1);
  def->name = g_strdup(name);
  def->line = pawl_reader_place(reader, TRUE).line;
  def->column = pawl_reader_place(reader, TRUE).column;
  def->triggers = g_ptr_array_new_with_free_func(trigger_def_free);
  g_ptr_array_add(bundle->tasks, def);
  def->spec = pawl_task_spec_read(reader, defaults, task, PAWL_IN_FILE);
  read_triggers(reader, defaults, task, bundle->project, def);
  check_pool(reader, task, def->spec, pools);
  if (reader->errors != before) return;
  check_timeout(reader, def);
  finish_json(pawl_task_spec_to_json(def->spec), &def->json, &def->digest);
}

static void read_tasks(PawlReader *reader, const json_t *root, const json_t *defaults, PawlBundle *bundle, GHashTable *pools) {
  PawlSpot spot;
  const char *name;
  json_t *value;
  const json_t *tasks = enter_object(reader, &spot, root, "tasks");
  if (json_object_size(tasks) > PAWL_BUNDLE_MAX_TASKS) {
    pawl_say_error(
      reader, "split the file", "%" G_GSIZE_FORMAT " tasks; a file has at most %d", json_object_size(tasks), PAWL_BUNDLE_MAX_TASKS);
    tasks = NULL;
  }
  json_object_foreach((json_t *)tasks, name, value) {
    PawlSpot task_spot;
    pawl_enter_key(reader, &task_spot, tasks, name);
    read_task(reader, defaults, name, value, bundle, pools);
    pawl_leave(reader);
  }
  pawl_leave(reader);
}

static void check_default_pool(PawlReader *reader, const json_t *defaults, GHashTable *pools) {
  PawlSpot spot, pool_spot;
  const char *pool = json_string_value(json_object_get(defaults, "pool"));
  if (pool == NULL || strcmp(pool, PAWL_POOL_DEFAULT) == 0 || g_hash_table_contains(pools, pool)) return;
  pawl_enter_key(reader, &spot, NULL, "defaults");
  pawl_enter_key(reader, &pool_spot, defaults, "pool");
  pawl_say_error(reader, NULL, "there is no pool '%.128s' in the file", pool);
  pawl_leave(reader);
  pawl_leave(reader);
}

static gboolean check_root(PawlReader *reader, const json_t *root) {
  if (json_is_object(root)) return TRUE;
  if (json_is_null(root))
    pawl_say_error(reader, "a file without tasks is written as tasks: {}", "the file is empty");
  else
    pawl_say_expected(reader, "a mapping with tasks, pools, defaults or project", root);
  return FALSE;
}

static PawlBundle *read_bundle(const json_t *root, const char *file, const PawlPlaces *places, GPtrArray *issues) {
  PawlReader reader = {.issues = issues, .file = file, .places = places};
  PawlSpot spot;
  if (!check_root(&reader, root)) return NULL;
  g_autoptr(GHashTable) pools = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(PawlBundle) bundle = g_new0(PawlBundle, 1);
  bundle->pools = g_ptr_array_new_with_free_func(pool_free);
  bundle->tasks = g_ptr_array_new_with_free_func(task_def_free);
  bundle->project = g_strdup(PROJECT_DEFAULT);
  pawl_read_object(&reader, &bundle_keys, PAWL_IN_FILE, root, bundle, FALSE);
  pawl_enter_key(&reader, &spot, root, "project");
  if (!pawl_name_valid(bundle->project)) pawl_say_error(&reader, NULL, "not a name of a project");
  pawl_leave(&reader);
  const json_t *defaults = read_defaults(&reader, root);
  read_pools(&reader, root, bundle, pools);
  check_default_pool(&reader, defaults, pools);
  read_tasks(&reader, root, defaults, bundle, pools);
  return reader.errors == 0 ? g_steal_pointer(&bundle) : NULL;
}

PawlBundle *pawl_bundle_from_yaml(const char *text, gsize bytes, const char *file, GPtrArray *issues) {
  g_autoptr(PawlPlaces) places = pawl_places_new();
  g_autoptr(json_t) root = pawl_yaml_parse(text, bytes, file, places, issues);
  return root == NULL ? NULL : read_bundle(root, file, places, issues);
}

PawlBundle *pawl_bundle_from_json(const json_t *json, GPtrArray *issues) { return read_bundle(json, "", NULL, issues); }

/* ---- what only a clock can tell ---- */

static void review_trigger(const char *file, const PawlTaskDef *task, const PawlTriggerDef *def, gint64 now_ms, GPtrArray *issues) {
  const PawlTriggerSpec *spec = def->spec;
  PawlPlace place = {def->line, def->column};
  gint64 at_ms;
  g_autofree char *path = g_strdup_printf("tasks.%s.triggers.%s", task->name, def->name);
  if (spec->timing.kind == PAWL_TIMING_REBOOT || !pawl_timing_next(&spec->timing, -1, &at_ms))
    return; /* the latter was said when it was read */
  gboolean again = pawl_timing_next(&spec->timing, now_ms, &at_ms);
  if (!again && spec->timing.kind == PAWL_TIMING_AT)
    pawl_issues_add(issues, TRUE, file, place, path, NULL, "at is in the past, so it never fires");
  else if (!again)
    pawl_issues_add(issues, TRUE, file, place, path, NULL, "never fires again");
  if (!again || spec->timing.kind != PAWL_TIMING_CRON) return;
  g_autoptr(GPtrArray) warnings = pawl_cron_warnings_of_loss(spec->timing.cron, now_ms);
  for (guint i = 0; i < warnings->len; i++)
    pawl_issues_add(issues, TRUE, file, place, path, NULL, "%s", (const char *)g_ptr_array_index(warnings, i));
}

void pawl_bundle_review(const PawlBundle *bundle, const char *file, gint64 now_ms, GPtrArray *issues) {
  for (guint i = 0; i < bundle->tasks->len; i++) {
    const PawlTaskDef *task = g_ptr_array_index(bundle->tasks, i);
    for (guint j = 0; j < task->triggers->len; j++) review_trigger(file, task, g_ptr_array_index(task->triggers, j), now_ms, issues);
  }
}
