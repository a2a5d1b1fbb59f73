/* SPDX-License-Identifier: Apache-2.0 */
/* Specs by id and revision, and below that by digest: what a thousand tasks have in common is parsed once. Revisions never change, so
 * what is cached is never wrong; a full cache is emptied. */
#include "base/error.h"
#include "store/schedules.h"
#include "store/store_private.h"

#include <string.h>

#define CACHE_MAX 256 /* specs of a kind: about 1 KiB each */

typedef struct {
  PawlId id;
  gint64 revision;
} SpecKey;

/* `by_revision` borrows from `by_digest`. */
typedef struct {
  GHashTable *by_revision, *by_digest;
} SpecTable;

struct PawlSpecCache {
  SpecTable triggers, tasks;
};

static guint key_hash(gconstpointer p) {
  const SpecKey *key = p;
  return pawl_id_hash(&key->id) ^ (guint)key->revision;
}

static gboolean key_equal(gconstpointer a, gconstpointer b) {
  const SpecKey *x = a, *y = b;
  return x->revision == y->revision && pawl_id_equal(&x->id, &y->id);
}

static SpecTable table_new(GDestroyNotify free_spec) {
  return (SpecTable){
    g_hash_table_new_full(key_hash, key_equal, g_free, NULL), g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_spec)};
}

static PawlSpecCache *cache_of(PawlStore *store) {
  if (store->specs == NULL) {
    store->specs = g_new0(PawlSpecCache, 1);
    store->specs->triggers = table_new((GDestroyNotify)pawl_trigger_spec_free);
    store->specs->tasks = table_new((GDestroyNotify)pawl_task_spec_free);
  }
  return store->specs;
}

static void table_clear(SpecTable *table) {
  g_hash_table_unref(table->by_revision);
  g_hash_table_unref(table->by_digest);
}

void pawl_spec_cache_free(PawlSpecCache *cache) {
  if (cache == NULL) return;
  table_clear(&cache->triggers);
  table_clear(&cache->tasks);
  g_free(cache);
}

static void make_room(SpecTable *table) {
  if (g_hash_table_size(table->by_revision) < CACHE_MAX * 4 && g_hash_table_size(table->by_digest) < CACHE_MAX) return;
  g_hash_table_remove_all(table->by_revision);
  g_hash_table_remove_all(table->by_digest);
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
  SpecTable *table = &cache_of(store)->triggers;
  PawlTriggerSpec *spec = g_hash_table_lookup(table->by_revision, &key);
  if (spec != NULL) return spec;
  make_room(table);
  g_autoptr(PawlRows) row = revision_row(store, PAWL_SQL_SPEC_TRIGGER, &key, "trigger", error);
  if (row == NULL) return NULL;
  const char *text = pawl_rows_text(row, 0), *project = pawl_rows_text(row, 1), *task = pawl_rows_text(row, 2),
             *name = pawl_rows_text(row, 3);
  gboolean by_name = strchr(text, 'H') != NULL; /* H in an expression is spread by the full name */
  g_autofree char *digest = g_strjoin("/", pawl_rows_text(row, 4), by_name ? project : "", by_name ? task : "", by_name ? name : "", NULL);
  spec = g_hash_table_lookup(table->by_digest, digest);
  if (spec == NULL) {
    spec = pawl_trigger_spec_from_stored(text, project, task, name, error);
    if (spec == NULL) return NULL;
    g_hash_table_insert(table->by_digest, g_steal_pointer(&digest), spec);
  }
  g_hash_table_insert(table->by_revision, g_memdup2(&key, sizeof key), spec);
  return spec;
}

const PawlTaskSpec *pawl_store_task_spec(PawlStore *store, const PawlId *task, gint64 revision, GError **error) {
  SpecKey key = {*task, revision};
  SpecTable *table = &cache_of(store)->tasks;
  PawlTaskSpec *spec = g_hash_table_lookup(table->by_revision, &key);
  if (spec != NULL) return spec;
  make_room(table);
  g_autoptr(PawlRows) row = revision_row(store, PAWL_SQL_SPEC_TASK, &key, "task", error);
  if (row == NULL) return NULL;
  spec = g_hash_table_lookup(table->by_digest, pawl_rows_text(row, 1));
  if (spec == NULL) {
    spec = pawl_task_spec_from_stored(pawl_rows_text(row, 0), error);
    if (spec == NULL) return NULL;
    g_hash_table_insert(table->by_digest, g_strdup(pawl_rows_text(row, 1)), spec);
  }
  g_hash_table_insert(table->by_revision, g_memdup2(&key, sizeof key), spec);
  return spec;
}
