/* SPDX-License-Identifier: Apache-2.0 */
/* A stored definition as YAML: what a user would write, with every default said. */
#include "cli/show.h"

#include <string.h>

static gboolean is_empty(const char *key, const json_t *value) {
  if (json_is_object(value) && json_object_size(value) == 0) return strcmp(key, "noop") != 0;
  return json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
}

/* A stored definition without what says nothing; NULL: it cannot be read. */
static json_t *definition_of(const char *text) {
  g_autoptr(json_t) spec = text != NULL ? pawl_json_parse(text, strlen(text), NULL) : NULL;
  const char *key;
  json_t *value;
  if (spec == NULL) return NULL;
  json_t *kept = json_object();
  json_object_foreach(spec, key, value) {
    const char *when = strcmp(key, "mail") == 0 ? json_string_value(json_object_get(value, "when")) : NULL;
    if (g_strcmp0(when, "never") == 0)
      json_object_set_new(kept, key, json_string("never"));
    else if (!is_empty(key, value))
      json_object_set(kept, key, value);
  }
  return kept;
}

static void print_yaml(PawlOut *out, const json_t *json, const char *title) {
  g_autofree char *yaml = pawl_json_to_yaml(json);
  g_auto(GStrv) lines = g_strsplit(yaml, "\n", -1);
  pawl_out_text(out, "\n%s%s%s\n", pawl_out_colour(out, PAWL_COLOUR_BOLD), title, pawl_out_plain(out));
  for (guint i = 0; lines[i] != NULL && (lines[i][0] != '\0' || lines[i + 1] != NULL); i++) {
    g_autofree char *shown = pawl_display_text(lines[i]);
    pawl_out_text(out, "%s\n", shown);
  }
}

/* The pool that a task names, so that the file is whole by itself. */
static json_t *pools_of(PawlStore *store, const PawlTaskRow *task, const char *name) {
  g_autoptr(GPtrArray) pools = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_pool_row_free);
  if (name == NULL || !pawl_store_pools(store, pools, NULL)) return NULL;
  for (guint i = 0; i < pools->len; i++) {
    const PawlPoolRow *pool = g_ptr_array_index(pools, i);
    if (strcmp(pool->project, task->project) != 0 || strcmp(pool->name, name) != 0) continue;
    if (strcmp(name, "default") == 0 && pool->slots_file < 0) return NULL; /* it needs no line */
    return json_pack("{s{so}}", name, "slots", pool->slots_file < 0 ? json_string("unlimited") : json_integer(pool->slots_file));
  }
  return NULL;
}

void pawl_print_task_definition(PawlOut *out, PawlStore *store, const PawlTaskRow *task) {
  json_t *spec = definition_of(task->json), *triggers = json_object();
  if (spec == NULL) {
    json_decref(triggers);
    return;
  }
  for (guint i = 0; i < task->triggers->len; i++) {
    const PawlTriggerRow *trigger = g_ptr_array_index(task->triggers, i);
    json_t *one = definition_of(trigger->json);
    if (one != NULL) json_object_set_new(triggers, trigger->name, one);
  }
  json_object_set_new(spec, "triggers", triggers);
  g_autoptr(json_t) file = json_object();
  json_t *pools = pools_of(store, task, json_string_value(json_object_get(spec, "pool")));
  if (strcmp(task->project, "default") != 0) pawl_json_set_text(file, "project", task->project);
  if (pools != NULL) json_object_set_new(file, "pools", pools);
  json_object_set_new(file, "tasks", json_pack("{so}", task->name, spec));
  print_yaml(out, file, "Definition");
}

void pawl_print_trigger_definition(PawlOut *out, const PawlTriggerRow *trigger) {
  g_autoptr(json_t) spec = definition_of(trigger->json);
  if (spec != NULL) print_yaml(out, spec, "Definition");
}
