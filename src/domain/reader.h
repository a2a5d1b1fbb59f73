/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON objects by tables of keys. Private to domain/.
 *
 * Each kind of object has one const table: a row says what the key is called, what it expects (the words of the error), which function
 * reads it, and where it lands. The same rows read a user's file, its `defaults:`, and a revision as it is stored; a row's scopes say
 * where it is allowed. */
#pragma once
#include "domain/yaml_tree.h"

/* Where we are in the tree: the chain of these on the stack is the path. */
typedef struct PawlSpot {
  const struct PawlSpot *parent;
  const json_t *container; /* NULL: the root */
  const char *key;         /* NULL: element `index` */
  gsize index;
} PawlSpot;

typedef struct {
  GPtrArray *issues;
  const char *file;
  const PawlPlaces *places; /* NULL: none are known */
  const PawlSpot *spot;
  gboolean quiet;  /* what was already said is not said again */
  gboolean stored; /* a revision's canonical JSON: what a newer version may have written is an error */
  guint errors;
} PawlReader;

void pawl_enter_key(PawlReader *reader, PawlSpot *spot, const json_t *object, const char *key);
void pawl_enter_index(PawlReader *reader, PawlSpot *spot, const json_t *array, gsize index);
void pawl_leave(PawlReader *reader);
PawlPlace pawl_reader_place(const PawlReader *reader, gboolean of_key);

/* About the value at the current spot. `hint` may be NULL. */
void pawl_say_error(PawlReader *reader, const char *hint, const char *format, ...) G_GNUC_PRINTF(3, 4);
void pawl_say_warning(PawlReader *reader, const char *hint, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* About the key at the current spot. */
void pawl_say_key_error(PawlReader *reader, const char *hint, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* "expected …, found …". Never shows the value, which may be a secret. */
void pawl_say_expected(PawlReader *reader, const char *expected, const json_t *found);
/* Passes a GError on and clears it. */
void pawl_say_gerror(PawlReader *reader, const char *hint, GError **error);

enum { PAWL_IN_FILE = 1, PAWL_IN_DEFAULTS = 2, PAWL_IN_STORED = 4, PAWL_EVERYWHERE = 7, PAWL_IN_SPEC = 5 };

typedef struct {
  const char *word;
  gint value;
} PawlWord; /* tables end with a NULL word */

typedef struct PawlKey PawlKey;
/* Reads `value` into the struct `target`, freeing what it replaces. */
typedef void (*PawlReadFunc)(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
struct PawlKey {
  const char *name;
  guint scopes;
  PawlReadFunc read;
  gsize offset;         /* of the field in the target */
  const char *expected; /* "a duration such as 30m" */
  gint64 min, max;      /* of numbers and durations, both inclusive */
  const PawlWord *words;
  const char *none; /* a word that, like null, stands for min's neighbour "none"; NULL: null is refused */
  gint64 none_value;
};
#define PAWL_FIELD(type, target, key) ((type *)((char *)(target) + (key)->offset))

typedef struct {
  const PawlKey *keys;
  gsize n;
  const char *what;         /* "a task" */
  const PawlKey *elsewhere; /* another table, for the hint "it belongs to …"; may be NULL */
  gsize n_elsewhere;
  const char *elsewhere_what;
} PawlKeyTable;

/* Reads each member of `object` whose key has a row in one of `scopes`; others are unknown keys, except that with `ignore_unknown` they are
 * passed over. */
void pawl_read_object(
  PawlReader *reader, const PawlKeyTable *table, guint scopes, const json_t *object, gpointer target, gboolean ignore_unknown);
const PawlKey *pawl_key_find(const PawlKeyTable *table, guint scopes, const char *name);
void pawl_say_unknown_key(PawlReader *reader, const PawlKeyTable *const *tables, gsize n_tables, guint scopes, const char *name);

/* Readers for PawlKey.read. */
void pawl_read_text(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);     /* char *: no NUL, not empty */
void pawl_read_bool(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);     /* gboolean */
void pawl_read_int(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);      /* gint */
void pawl_read_int64(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);    /* gint64 */
void pawl_read_duration(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target); /* gint64, ms */
void pawl_read_instant(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);  /* gint64, ms */
void pawl_read_bytes(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);    /* gint64 */
void pawl_read_word(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);     /* an enum */
void pawl_read_nothing(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);  /* read elsewhere */
void pawl_read_input(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target); /* char *: text, or any JSON as text */

const char *pawl_word_of(const PawlWord *words, gint value);
/* A name of a project, pool, task or trigger: says what is wrong with it at the current spot's key. */
gboolean pawl_check_name(PawlReader *reader, const char *name, const char *what);
