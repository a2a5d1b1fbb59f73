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

/* The row of a revision, open at its first column, the spec; NULL with `error`. */
static PawlRows *revision_row(PawlStore *store, PawlSql sql, const SpecKey *key, const char *what, GError **error) {
  GError *failed = NULL;
  PawlRows *rows = pawl_db_query(store->db, sql, error, PAWL_ROW(pawl_id(&key->id), PAWL_INT(key->revision)));
  if (rows == NULL || pawl_rows_next(rows, &failed)) return rows;
  if (failed != NULL)
    g_propagate_error(error, failed);
  else
    g_set_error(
      error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "revision %" G_GINT64_FORMAT " of a %s is missing from the store", key->revision, what);
  pawl_rows_close(rows);
  return NULL;
}

const PawlTriggerSpec *pawl_store_trigger_spec(PawlStore *store, const PawlId *trigger, gint64 revision, GError **error) {
  SpecKey key = {*trigger, revision};
  PawlTriggerSpec *spec = g_hash_table_lookup(cache_of(store)->triggers, &key);
  if (spec != NULL) return spec;
  g_autoptr(PawlRows) row = revision_row(store, PAWL_SQL_SPEC_TRIGGER, &key, "trigger", error);
  if (row == NULL) return NULL;
  spec =
    pawl_trigger_spec_from_stored(pawl_rows_text(row, 0), pawl_rows_text(row, 1), pawl_rows_text(row, 2), pawl_rows_text(row, 3), error);
  if (spec != NULL) keep(store->specs->triggers, &key, spec);
  return spec;
}

const PawlTaskSpec *pawl_store_task_spec(PawlStore *store, const PawlId *task, gint64 revision, GError **error) {
  SpecKey key = {*task, revision};
  PawlTaskSpec *spec = g_hash_table_lookup(cache_of(store)->tasks, &key);
  if (spec != NULL) return spec;
  g_autoptr(PawlRows) row = revision_row(store, PAWL_SQL_SPEC_TASK, &key, "task", error);
  if (row == NULL) return NULL;
  spec = pawl_task_spec_from_stored(pawl_rows_text(row, 0), error);
  if (spec != NULL) keep(store->specs->tasks, &key, spec);
  return spec;
}
