/* SPDX-License-Identifier: Apache-2.0 */
/* pawl pools: how many slots there are and who waits, and their change at run time. */
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"
#include "store/publish.h"

#include <string.h>

#define UNLIMITED (-1)

static const PawlExample examples[] = {
  {"pawl pools", "slots, use and waiting of every pool"},
  {"pawl pools resize io 4", "over what the file says, until it is reset"},
  {"pawl pools pause io", "nothing of it starts any more"},
  {"pawl pools reset io", "back to what the file says"},
};

static char *slots_text(gint slots) { return slots == UNLIMITED ? g_strdup("unlimited") : g_strdup_printf("%d", slots); }

static void print_pools(PawlOut *out, const GPtrArray *pools) {
  static const PawlColumn columns[] = {{"POOL", FALSE, TRUE}, {"STATE", FALSE, FALSE}, {"SLOTS", TRUE, FALSE}, {"USED", TRUE, FALSE},
    {"WAITING", TRUE, FALSE}, {"", FALSE, TRUE}};
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < pools->len; i++) {
    const PawlPoolRow *pool = g_ptr_array_index(pools, i);
    gboolean is_default = strcmp(pool->project, "default") == 0;
    g_autofree char *slots = slots_text(pool->slots), *file = slots_text(pool->slots_file);
    pawl_table_cellf(table, PAWL_COLOUR_BOLD, "%s%s%s", is_default ? "" : pool->project, is_default ? "" : ": ", pool->name);
    pawl_table_cell(table, pawl_state_colour(pool->state), pool->state);
    pawl_table_cell(table, PAWL_COLOUR_NONE, slots);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%d", pool->used);
    pawl_table_cellf(table, pool->waiting > 0 ? PAWL_COLOUR_WARN : PAWL_COLOUR_NONE, "%d", pool->waiting);
    if (pool->overridden)
      pawl_table_cellf(table, PAWL_COLOUR_DIM, "the file says %s", file);
    else
      pawl_table_cell(table, PAWL_COLOUR_NONE, NULL);
  }
  pawl_table_print(table, out);
}

static int list_pools(PawlCall *call, const char *only, GError **error) {
  g_autoptr(GPtrArray) pools = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_pool_row_free);
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_ONLY, error);
  if (store == NULL || !pawl_store_pools(store, pools, error)) return PAWL_EXIT_FAILED;
  const char *project = only != NULL ? pawl_call_project(call) : pawl_call_project_if_set(call);
  for (guint i = pools->len; i-- > 0;) {
    const PawlPoolRow *pool = g_ptr_array_index(pools, i);
    if ((only != NULL && strcmp(pool->name, only) != 0) || (project != NULL && strcmp(pool->project, project) != 0))
      g_ptr_array_remove_index(pools, i);
  }
  if (only != NULL && pools->len == 0) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no pool '%s' in project '%s'; see `pawl pools`", only, project);
    return PAWL_EXIT_FAILED;
  }
  if (!pawl_out_json_wanted(call->out)) {
    print_pools(call->out, pools);
    return PAWL_EXIT_OK;
  }
  json_t *array = json_array();
  for (guint i = 0; i < pools->len; i++) json_array_append_new(array, pawl_json_pool(g_ptr_array_index(pools, i)));
  pawl_out_json(call->out, array);
  return PAWL_EXIT_OK;
}

int pawl_show_pool(PawlCall *call, const char *name, GError **error) { return list_pools(call, name, error); }

static gboolean read_slots(PawlCall *call, const char *text, gint *ret_slots, GError **error) {
  gint64 slots;
  if (strcmp(text, "unlimited") == 0) {
    *ret_slots = UNLIMITED;
    return TRUE;
  }
  if (!g_ascii_string_to_signed(text, 10, UNLIMITED, 1000000, &slots, NULL)) {
    pawl_usage_error(call, error, "'%.60s' is no number of slots; write 0 to 1000000, or unlimited", text);
    return FALSE;
  }
  *ret_slots = (gint)slots;
  return TRUE;
}

static int set_slots(PawlCall *call, const char *pool, gint slots, GError **error) {
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_WRITE, error);
  if (store == NULL || !pawl_store_pool_override(store, pawl_call_project(call), pool, slots, error)) return PAWL_EXIT_FAILED;
  pawl_db_ring(pawl_store_db(store));
  pawl_store_close(g_steal_pointer(&store));
  return list_pools(call, pool, error);
}

static int run(PawlCall *call, GError **error) {
  const char *act = call->n_args > 0 ? call->args[0] : NULL;
  gint slots;
  if (act == NULL) return list_pools(call, NULL, error);
  if (strcmp(act, "resize") == 0 && call->n_args == 3)
    return read_slots(call, call->args[2], &slots, error) ? set_slots(call, call->args[1], slots, error) : PAWL_EXIT_USAGE;
  if (call->n_args == 2 && strcmp(act, "pause") == 0) return set_slots(call, call->args[1], 0, error);
  if (call->n_args == 2 && (strcmp(act, "reset") == 0 || strcmp(act, "resume") == 0))
    return set_slots(call, call->args[1], G_MININT, error);
  return pawl_usage_error(call, error, "write `pawl pools`, or resize NAME N, reset NAME, pause NAME or resume NAME after it");
}

const PawlVerb pawl_verb_pools = {
  .name = "pools",
  .group = "Operate",
  .summary = "Show pools, and change their slots",
  .synopsis = "[resize NAME N|reset NAME|pause NAME|resume NAME]",
  .description =
    "What is set here stands over what the file says, also after apply, until reset. 0 slots is a pause; `unlimited` takes the limit away. Shrinking "
    "kills nothing: it only starts nothing until there is room. resume is reset.",
  .json = "an array of {project, pool, state, slots (-1: unlimited), slots_file, overridden, used, waiting}",
  PAWL_EXAMPLES(examples),
  .min_args = 0,
  .max_args = 3,
  .run = run,
};
