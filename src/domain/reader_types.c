/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of the plain types that keys have. */
#include "domain/reader.h"

#include "base/clock.h"

#include <string.h>

#define INPUT_MAX_BYTES (1024 * 1024)

static gboolean is_none(const PawlKey *key, const json_t *value) {
  if (key->none == NULL) return FALSE;
  return json_is_null(value) || (json_is_string(value) && strcmp(json_string_value(value), key->none) == 0);
}

static gboolean has_nul(const json_t *value) { return strlen(json_string_value(value)) != json_string_length(value); }

void pawl_read_text(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  char **field = PAWL_FIELD(char *, target, key);
  gint64 max = key->max > 0 ? key->max : PAWL_ARGV_MAX_BYTES;
  if (key->none != NULL && json_is_null(value)) {
    g_clear_pointer(field, g_free);
    return;
  }
  if (!json_is_string(value) || (gint64)json_string_length(value) < key->min) {
    pawl_say_expected(reader, key->expected, value);
    return;
  }
  if (has_nul(value)) {
    pawl_say_error(reader, NULL, "a NUL byte cannot stand in %s", key->expected);
    return;
  }
  if ((gint64)json_string_length(value) > max) {
    pawl_say_error(reader, NULL, "longer than %" G_GINT64_FORMAT " bytes", max);
    return;
  }
  g_free(*field);
  *field = g_strdup(json_string_value(value));
}

void pawl_read_bool(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  static const char *const meant[] = {"yes", "no", "on", "off", "y", "n", NULL};
  if (json_is_boolean(value)) {
    *PAWL_FIELD(gboolean, target, key) = json_is_true(value);
    return;
  }
  gboolean text = json_is_string(value) && g_strv_contains(meant, json_string_value(value));
  if (text)
    pawl_say_error(reader, "only true and false are booleans", "expected true or false, found the text '%s'", json_string_value(value));
  else
    pawl_say_expected(reader, "true or false", value);
}

static gboolean take_int(PawlReader *reader, const PawlKey *key, const json_t *value, gint64 *ret) {
  if (is_none(key, value)) {
    *ret = key->none_value;
    return TRUE;
  }
  if (!json_is_integer(value)) {
    pawl_say_expected(reader, key->expected, value);
    return FALSE;
  }
  gint64 number = json_integer_value(value);
  if (number < key->min || number > key->max) {
    pawl_say_error(reader, NULL, "%" G_GINT64_FORMAT " is out of range; it goes from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, number,
      key->min, key->max);
    return FALSE;
  }
  *ret = number;
  return TRUE;
}

void pawl_read_int(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  gint64 number;
  if (take_int(reader, key, value, &number)) *PAWL_FIELD(gint, target, key) = (gint)number;
}

void pawl_read_int64(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  gint64 number;
  if (take_int(reader, key, value, &number)) *PAWL_FIELD(gint64, target, key) = number;
}

void pawl_read_duration(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  gint64 *field = PAWL_FIELD(gint64, target, key), ms;
  g_autoptr(GError) error = NULL;
  g_autofree char *number = NULL;
  if (is_none(key, value)) {
    *field = key->none_value;
    return;
  }
  if (!json_is_string(value) && !(json_is_integer(value) && json_integer_value(value) >= 0)) {
    pawl_say_expected(reader, key->expected, value);
    return;
  }
  /* a bare number is seconds, quoted or not */
  if (json_is_integer(value)) number = g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
  if (!pawl_duration_parse(number != NULL ? number : json_string_value(value), &ms, &error)) {
    pawl_say_gerror(reader, NULL, &error);
    return;
  }
  if (ms < key->min || (key->max > 0 && ms > key->max)) {
    g_autofree char *low = pawl_duration_text(key->min), *high = pawl_duration_text(key->max);
    if (key->max > 0)
      pawl_say_error(reader, NULL, "out of range; it goes from %s to %s", low, high);
    else
      pawl_say_error(reader, NULL, "too short; it is at least %s", low);
    return;
  }
  *field = ms;
}

void pawl_read_instant(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  gint64 at_ms;
  g_autoptr(GError) error = NULL;
  if (is_none(key, value))
    *PAWL_FIELD(gint64, target, key) = 0;
  else if (!json_is_string(value))
    pawl_say_expected(reader, key->expected, value);
  else if (!pawl_instant_parse(json_string_value(value), &at_ms, &error))
    pawl_say_gerror(reader, NULL, &error);
  else
    *PAWL_FIELD(gint64, target, key) = at_ms;
}

static const struct {
  const char *name;
  gint64 bytes;
} size_units[] = {
  {"", 1},
  {"B", 1},
  {"KiB", 1024},
  {"MiB", 1024 * 1024},
  {"GiB", 1024 * 1024 * 1024},
  {"kB", 1000},
  {"KB", 1000},
  {"MB", 1000000},
  {"GB", 1000000000},
};

static gboolean parse_bytes(const char *text, gint64 *ret_bytes) {
  char *end;
  if (!g_ascii_isdigit(*text)) return FALSE;
  guint64 number = g_ascii_strtoull(text, &end, 10);
  while (*end == ' ') end++;
  for (gsize i = 0; i < G_N_ELEMENTS(size_units); i++) {
    if (strcmp(size_units[i].name, end) != 0) continue;
    if (number > (guint64)(G_MAXINT64 / size_units[i].bytes)) return FALSE;
    *ret_bytes = (gint64)number * size_units[i].bytes;
    return TRUE;
  }
  return FALSE;
}

void pawl_read_bytes(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  gint64 bytes;
  if (json_is_integer(value))
    bytes = json_integer_value(value);
  else if (!json_is_string(value) || !parse_bytes(json_string_value(value), &bytes)) {
    pawl_say_expected(reader, key->expected, value);
    return;
  }
  if (bytes < key->min || bytes > key->max) {
    pawl_say_error(reader, NULL, "out of range; it goes from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " bytes", key->min, key->max);
    return;
  }
  *PAWL_FIELD(gint64, target, key) = bytes;
}

const char *pawl_word_of(const PawlWord *words, gint value) {
  for (; words->word != NULL; words++)
    if (words->value == value) return words->word;
  return NULL;
}

void pawl_read_word(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  g_autoptr(GPtrArray) known = g_ptr_array_new();
  g_autofree char *hint = NULL;
  if (!json_is_string(value)) {
    pawl_say_expected(reader, key->expected, value);
    return;
  }
  const char *word = json_string_value(value);
  for (const PawlWord *w = key->words; w->word != NULL; w++) {
    if (strcmp(w->word, word) == 0) {
      *PAWL_FIELD(gint, target, key) = w->value;
      return;
    }
    g_ptr_array_add(known, (gpointer)w->word);
  }
  g_ptr_array_add(known, NULL);
  const char *nearest = pawl_nearest_word(word, (const char *const *)known->pdata);
  if (nearest != NULL) hint = g_strdup_printf("did you mean '%s'?", nearest);
  pawl_say_error(reader, hint, "expected %s, found '%.40s'", key->expected, word);
}

void pawl_read_nothing(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {}

void pawl_read_input(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  char **field = PAWL_FIELD(char *, target, key);
  g_autofree char *text = NULL;
  if (json_is_string(value) && has_nul(value)) {
    pawl_say_error(reader, NULL, "a NUL byte cannot stand in an input");
    return;
  }
  if (json_is_string(value))
    text = g_strdup(json_string_value(value));
  else if (!json_is_null(value))
    text = pawl_json_canonical(value);
  if (text != NULL && strlen(text) > INPUT_MAX_BYTES) {
    pawl_say_error(reader, NULL, "the input is longer than %d bytes", INPUT_MAX_BYTES);
    return;
  }
  g_free(*field);
  *field = g_steal_pointer(&text);
}
