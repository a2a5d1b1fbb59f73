/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>

#define JSON_MAX_BYTES (16 * 1024 * 1024)
#define JSON_MAX_DEPTH 64

static guint depth_of(const json_t *json) {
  guint deepest = 0;
  const char *key;
  json_t *value;
  size_t i;
  if (json_is_object(json)) {
    json_object_foreach((json_t *)json, key, value) deepest = MAX(deepest, depth_of(value));
    return deepest + 1;
  }
  if (json_is_array(json)) {
    json_array_foreach(json, i, value) deepest = MAX(deepest, depth_of(value));
    return deepest + 1;
  }
  return 0;
}

json_t *pawl_json_parse(const char *text, gsize bytes, GError **error) {
  json_error_t why;
  if (bytes > JSON_MAX_BYTES) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "JSON of %" G_GSIZE_FORMAT " bytes; at most %d are read", bytes, JSON_MAX_BYTES);
    return NULL;
  }
  /* jansson's own parser stops at a depth of 2048, which the walk below survives */
  json_t *json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
  if (json == NULL) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "JSON line %d, column %d: %s", why.line, why.column, why.text);
    return NULL;
  }
  if (depth_of(json) > JSON_MAX_DEPTH) {
    json_decref(json);
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "JSON nested deeper than %d", JSON_MAX_DEPTH);
    return NULL;
  }
  return json;
}

char *pawl_json_canonical(const json_t *json) {
  char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
  char *copy = g_strdup(text);
  free(text);
  return copy;
}

char *pawl_digest(const char *text, gssize bytes) { return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, bytes); }

void pawl_json_set_text(json_t *object, const char *key, const char *value) {
  if (value == NULL) {
    json_object_set_new(object, key, json_null());
    return;
  }
  g_autofree char *valid = g_utf8_make_valid(value, -1);
  json_object_set_new(object, key, json_string(valid));
}

void pawl_json_set_instant(json_t *object, const char *key, gint64 at_ms) {
  char text[PAWL_INSTANT_TEXT];
  json_object_set_new(object, key, at_ms == 0 ? json_null() : json_string(pawl_instant_text(at_ms, text)));
}
