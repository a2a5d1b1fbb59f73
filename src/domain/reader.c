/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/reader.h"

#include <string.h>

static void enter(PawlReader *reader, PawlSpot *spot, const json_t *container, const char *key, gsize index) {
  *spot = (PawlSpot){reader->spot, container, key, index};
  reader->spot = spot;
}

void pawl_enter_key(PawlReader *reader, PawlSpot *spot, const json_t *object, const char *key) { enter(reader, spot, object, key, 0); }
void pawl_enter_index(PawlReader *reader, PawlSpot *spot, const json_t *array, gsize index) { enter(reader, spot, array, NULL, index); }
void pawl_leave(PawlReader *reader) { reader->spot = reader->spot->parent; }

PawlPlace pawl_reader_place(const PawlReader *reader, gboolean of_key) {
  const PawlSpot *spot = reader->spot;
  if (spot == NULL) return pawl_places_find(reader->places, NULL, NULL, 0, FALSE);
  return pawl_places_find(reader->places, spot->container, spot->key, spot->index, of_key);
}

static void append_path(GString *path, const PawlSpot *spot) {
  if (spot == NULL) return;
  append_path(path, spot->parent);
  if (spot->key == NULL)
    g_string_append_printf(path, "[%" G_GSIZE_FORMAT "]", spot->index);
  else
    g_string_append_printf(path, "%s%s", path->len > 0 ? "." : "", spot->key);
}

static void say(PawlReader *reader, gboolean warning, gboolean of_key, const char *hint, const char *format, va_list args)
  G_GNUC_PRINTF(5, 0);
static void say(PawlReader *reader, gboolean warning, gboolean of_key, const char *hint, const char *format, va_list args) {
  if (!warning) reader->errors++;
  if (reader->quiet) return;
  g_autoptr(GString) path = g_string_new(NULL);
  append_path(path, reader->spot);
  g_autofree char *message = g_strdup_vprintf(format, args);
  pawl_issues_add(reader->issues, warning, reader->file, pawl_reader_place(reader, of_key), path->str, hint, "%s", message);
}

void pawl_say_error(PawlReader *reader, const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(reader, FALSE, FALSE, hint, format, args);
  va_end(args);
}

void pawl_say_warning(PawlReader *reader, const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(reader, TRUE, FALSE, hint, format, args);
  va_end(args);
}

void pawl_say_key_error(PawlReader *reader, const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(reader, FALSE, TRUE, hint, format, args);
  va_end(args);
}

static const char *kind_of(const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_OBJECT: return "a mapping";
  case JSON_ARRAY: return "a list";
  case JSON_STRING: return *json_string_value(value) == '\0' ? "an empty text" : "a text";
  case JSON_INTEGER: return json_integer_value(value) < 0 ? "a negative number" : "a number";
  case JSON_REAL: return "a number with a fraction";
  case JSON_TRUE:
  case JSON_FALSE: return "true or false";
  case JSON_NULL: break;
  }
  return "nothing";
}

void pawl_say_expected(PawlReader *reader, const char *expected, const json_t *found) {
  gboolean text_wanted = strstr(expected, "text") != NULL;
  gboolean unquoted = json_is_number(found) || json_is_boolean(found);
  pawl_say_error(reader, text_wanted && unquoted ? "put it in quotes" : NULL, "expected %s, found %s", expected, kind_of(found));
}

void pawl_say_gerror(PawlReader *reader, const char *hint, GError **error) {
  pawl_say_error(reader, hint, "%s", (*error)->message);
  g_clear_error(error);
}

const PawlKey *pawl_key_find(const PawlKeyTable *table, guint scopes, const char *name) {
  for (gsize i = 0; i < table->n; i++)
    if ((table->keys[i].scopes & scopes) != 0 && strcmp(table->keys[i].name, name) == 0) return &table->keys[i];
  return NULL;
}

/* The known key that `name` is nearest to. */
static const char *nearest_key(const PawlKeyTable *const *tables, gsize n_tables, guint scopes, const char *name) {
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  for (gsize t = 0; t < n_tables; t++)
    for (gsize i = 0; i < tables[t]->n; i++)
      if ((tables[t]->keys[i].scopes & scopes) != 0) g_ptr_array_add(words, (gpointer)tables[t]->keys[i].name);
  g_ptr_array_add(words, NULL);
  return pawl_nearest_word(name, (const char *const *)words->pdata);
}

void pawl_say_unknown_key(PawlReader *reader, const PawlKeyTable *const *tables, gsize n_tables, guint scopes, const char *name) {
  const PawlKeyTable *first = tables[0];
  g_autofree char *hint = NULL;
  const char *nearest = nearest_key(tables, n_tables, scopes, name);
  for (gsize i = 0; i < first->n_elsewhere && hint == NULL; i++)
    if (strcmp(first->elsewhere[i].name, name) == 0) hint = g_strdup_printf("it belongs to %s", first->elsewhere_what);
  if (hint == NULL && nearest != NULL) hint = g_strdup_printf("did you mean '%s'?", nearest);
  pawl_say_key_error(reader, hint, "unknown key of %s", first->what);
}

void pawl_read_object(
  PawlReader *reader, const PawlKeyTable *table, guint scopes, const json_t *object, gpointer target, gboolean ignore_unknown) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)object, name, value) {
    PawlSpot spot;
    const PawlKey *key = pawl_key_find(table, scopes, name);
    pawl_enter_key(reader, &spot, object, name);
    if (key != NULL)
      key->read(reader, key, value, target);
    else if (!ignore_unknown)
      pawl_say_unknown_key(reader, &table, 1, scopes, name);
    pawl_leave(reader);
  }
}

gboolean pawl_name_valid(const char *name) {
  gsize n = 0;
  if (!g_ascii_isalnum(name[0])) return FALSE;
  for (; name[n] != '\0'; n++)
    if (!g_ascii_isalnum(name[n]) && strchr("_-.", name[n]) == NULL) return FALSE;
  return n <= PAWL_NAME_MAX;
}

gboolean pawl_check_name(PawlReader *reader, const char *name, const char *what) {
  if (pawl_name_valid(name)) return TRUE;
  if (strlen(name) > PAWL_NAME_MAX)
    pawl_say_key_error(reader, NULL, "the name of %s has at most %d characters", what, PAWL_NAME_MAX);
  else
    pawl_say_key_error(
      reader, NULL, "not a name of %s: it has letters a-z, digits, '_', '-' and '.', and begins with a letter or digit", what);
  return FALSE;
}
