/* SPDX-License-Identifier: Apache-2.0 */
/* Specs by id and revision. Revisions never change, so what is cached is never wrong; a full cache is emptied. */
#include "base/error.h"
#include "store/schedules.h"
#include "store/store_private.h"

#define CACHE_MAX 256 /* specs of a kind: about 1 KiB each */

typedef struct {
  PawlId id;
  gint64 revision;
} SpecKey;

struct PawlSpecCache {
  GHashTable *triggers, *tasks;
};

static guint key_hash(gconstpointer p) {
  const SpecKey *key = p;
  return pawl_id_hash(&key->id) ^ (guint)key->revision;
}

static gboolean key_equal(gconstpointer a, gconstpointer b) {
  const SpecKey *x = a, *y = b;
  return x->revision == y->revision && pawl_id_equal(&x->id, &y->id);
}

static PawlSpecCache *cache_of(PawlStore *store) {
  if (store->specs == NULL) {
    store->specs = g_new0(PawlSpecCache, 1);
    store->specs->triggers = g_hash_table_new_full(key_hash, key_equal, g_free, (GDestroyNotify)pawl_trigger_spec_free);
    store->specs->tasks = g_hash_table_new_full(key_hash, key_equal, g_free, (GDestroyNotify)pawl_task_spec_free);
  }
  return store->specs;
}

void pawl_spec_cache_free(PawlSpecCache *cache) {
  if (cache == NULL) return;
  g_hash_table_unref(cache->triggers);
  g_hash_table_unref(cache->tasks);
  g_free(cache);
}

static void keep(GHashTable *table, const SpecKey *key, gpointer spec) {
  if (g_hash_table_size(table) >= CACHE_MAX) g_hash_table_remove_all(table);
  g_hash_table_insert(table, g_memdup2(key, sizeof *key), spec);
}

static void missing(const char *what, gint64 revision, GError **error) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "revision %" G_GINT64_FORMAT " of a %s is missing from the store", revision, what);
}

const PawlTriggerSpec *pawl_store_trigger_spec(PawlStore *store, const PawlId *trigger, gint64 revision, GError **error) {
  SpecKey key = {*trigger, revision};
  GHashTable *table = cache_of(store)->triggers;
  PawlTriggerSpec *spec = g_hash_table_lookup(table, &key);
  if (spec != NULL) return spec;
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_SPEC_TRIGGER, error, PAWL_ROW(pawl_id(trigger), PAWL_INT(revision)));
  if (rows == NULL) return NULL;
  if (!pawl_rows_next(rows, &failed)) {
    if (failed != NULL)
      g_propagate_error(error, failed);
    else
      missing("trigger", revision, error);
    return NULL;
  }
  spec = pawl_trigger_spec_from_stored(
    pawl_rows_text(rows, 0), pawl_rows_text(rows, 1), pawl_rows_text(rows, 2), pawl_rows_text(rows, 3), error);
  if (spec != NULL) keep(table, &key, spec);
  return spec;
}

const PawlTaskSpec *pawl_store_task_spec(PawlStore *store, const PawlId *task, gint64 revision, GError **error) {
  SpecKey key = {*task, revision};
  GHashTable *table = cache_of(store)->tasks;
  PawlTaskSpec *spec = g_hash_table_lookup(table, &key);
  if (spec != NULL) return spec;
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_SPEC_TASK, error, PAWL_ROW(pawl_id(task), PAWL_INT(revision)));
  if (rows == NULL) return NULL;
  if (!pawl_rows_next(rows, &failed)) {
    if (failed != NULL)
      g_propagate_error(error, failed);
    else
      missing("task", revision, error);
    return NULL;
  }
  spec = pawl_task_spec_from_stored(pawl_rows_text(rows, 0), error);
  if (spec != NULL) keep(table, &key, spec);
  return spec;
}
