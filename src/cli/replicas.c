/* SPDX-License-Identifier: Apache-2.0 */
/* pawl replicas: who schedules and works on a shared store. */
#include "store/replicas.h"

#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"

#include <string.h>

static const PawlExample examples[] = {
  {"pawl replicas", "who lives, by the database's clock"},
  {"pawl replicas --json | jq -r '.[] | select(.state == \"silent\") | .name'", "who has not been heard of"},
};

static PawlColour colour_of(const char *state) {
  if (strcmp(state, "ready") == 0) return PAWL_COLOUR_GOOD;
  if (strcmp(state, "ended") == 0) return PAWL_COLOUR_DIM;
  return strcmp(state, "silent") == 0 ? PAWL_COLOUR_BAD : PAWL_COLOUR_WARN;
}

static json_t *json_replica(const PawlReplica *replica) {
  json_t *object = json_object();
  pawl_json_set_id(object, "id", &replica->id);
  pawl_json_set_text(object, "name", replica->name);
  pawl_json_set_text(object, "state", pawl_replica_state(replica));
  pawl_json_set_text(object, "version", replica->version);
  pawl_json_set_text(object, "host", replica->host);
  json_object_set_new(object, "pid", json_integer(replica->pid));
  pawl_json_set_text(object, "address", replica->address);
  pawl_json_set_instant(object, "started_at", replica->started_at_ms);
  pawl_json_set_instant(object, "heartbeat_at", replica->heartbeat_at_ms);
  pawl_json_set_instant(object, "ended_at", replica->ended_at_ms);
  json_object_set_new(object, "heartbeat_age_ms", json_integer(replica->age_ms));
  json_object_set_new(object, "claims", json_integer(replica->claims));
  return object;
}

static void print_replicas(PawlOut *out, const GPtrArray *replicas) {
  static const PawlColumn columns[] = {{"REPLICA", FALSE, TRUE}, {"STATE", FALSE, FALSE}, {"VERSION", FALSE, FALSE}, {"HOST", FALSE, TRUE},
    {"PID", TRUE, FALSE}, {"HEALTH", FALSE, FALSE}, {"STARTED", FALSE, FALSE}, {"HEARD OF", FALSE, FALSE}, {"CLAIMS", TRUE, FALSE}};
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < replicas->len; i++) {
    const PawlReplica *replica = g_ptr_array_index(replicas, i);
    const char *state = pawl_replica_state(replica);
    g_autofree char *started = pawl_relative_text(replica->started_at_ms, replica->heartbeat_at_ms + replica->age_ms);
    g_autofree char *age = pawl_rough_text(MAX(replica->age_ms, 0));
    pawl_table_cell(table, PAWL_COLOUR_BOLD, replica->name);
    pawl_table_cell(table, colour_of(state), state);
    pawl_table_cell(table, PAWL_COLOUR_NONE, replica->version);
    pawl_table_cell(table, PAWL_COLOUR_NONE, replica->host);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%" G_GINT64_FORMAT, replica->pid);
    pawl_table_cell(table, PAWL_COLOUR_NONE, replica->address);
    pawl_table_cell(table, PAWL_COLOUR_NONE, started);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%s ago", age);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%" G_GINT64_FORMAT, replica->claims);
  }
  pawl_table_print(table, out);
}

static int run(PawlCall *call, GError **error) {
  g_autoptr(GPtrArray) replicas = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_replica_free);
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_ONLY, error);
  if (store == NULL || !pawl_store_replicas(store, replicas, error)) return PAWL_EXIT_FAILED;
  if (pawl_out_json_wanted(call->out)) {
    json_t *array = json_array();
    for (guint i = 0; i < replicas->len; i++) json_array_append_new(array, json_replica(g_ptr_array_index(replicas, i)));
    pawl_out_json(call->out, array);
  } else if (!pawl_store_shared(store))
    pawl_out_note(
      call->out, "%s belongs to one pawl alone and has no replicas; `pawl status` says whether it runs", pawl_db_url(pawl_store_db(store)));
  else if (replicas->len == 0)
    pawl_out_note(call->out, "no replica has ever run; `pawl up` starts one");
  else
    print_replicas(call->out, replicas);
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_replicas = {
  .name = "replicas",
  .group = "Operate",
  .summary = "Who schedules and works on a shared store",
  .synopsis = "",
  .description =
    "Ages are by the database's clock. silent: it has not been heard of for 30 s, so it is gone, frozen, or cut off from the database; "
    "what it had "
    "claimed goes to the others at the end of the claim. A row is forgotten a day after its last sign of life.",
  .json = "an array of {id, name, state (starting, ready, unready, draining, ended, silent), version, host, pid, address, started_at, "
          "heartbeat_at, ended_at, "
          "heartbeat_age_ms, claims}; empty on SQLite",
  PAWL_EXAMPLES(examples),
  .run = run,
};
