/* SPDX-License-Identifier: Apache-2.0 */
/* How two revisions differ, for people: "timeout: 30m -> 1h". */
#include "base/clock.h"
#include "store/publish_private.h"

#include <stdlib.h>

#define VALUE_MAX 80 /* characters of a value that are shown */

/* What may hold a secret is named and never shown. */
static gboolean is_hidden(const char *path) {
  return g_str_has_prefix(path, "env.") || g_str_equal(path, "env") || g_str_equal(path, "input");
}

static char *value_text(const json_t *value) {
  if (value == NULL || json_is_null(value)) return g_strdup("none");
  char *dumped = json_is_string(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
  char *text = g_strdup(dumped != NULL ? dumped : json_string_value(value));
  free(dumped);
  if (g_utf8_strlen(text, -1) <= VALUE_MAX) return text;
  g_autofree char *whole = text;
  g_autofree char *front = g_utf8_substring(whole, 0, VALUE_MAX);
  return g_strconcat(front, "…", NULL);
}

static void diff_values(PawlChange *change, const char *path, const json_t *before, const json_t *after);

static void diff_objects(PawlChange *change, const char *path, const json_t *before, const json_t *after) {
  const char *key;
  json_t *value;
  g_autoptr(GList) keys = NULL;
  json_object_foreach((json_t *)before, key, value) keys = g_list_prepend(keys, (gpointer)key);
  json_object_foreach((json_t *)after, key, value) {
    if (json_object_get(before, key) == NULL) keys = g_list_prepend(keys, (gpointer)key);
  }
  keys = g_list_sort(keys, (GCompareFunc)g_strcmp0);
  for (GList *k = keys; k != NULL; k = k->next) {
    g_autofree char *below = path[0] != '\0' ? g_strdup_printf("%s.%s", path, (char *)k->data) : g_strdup(k->data);
    diff_values(change, below, json_object_get(before, k->data), json_object_get(after, k->data));
  }
}

static void diff_values(PawlChange *change, const char *path, const json_t *before, const json_t *after) {
  if (before != NULL && after != NULL && json_equal(before, after)) return;
  if (json_is_object(before) && json_is_object(after)) {
    diff_objects(change, path, before, after);
  } else if (is_hidden(path)) {
    pawl_change_line(change, "%s: %s", path, before == NULL ? "added" : after == NULL ? "removed" : "changed");
  } else {
    g_autofree char *old = value_text(before), *new = value_text(after);
    pawl_change_line(change, "%s: %s -> %s", path, old, new);
  }
}

void pawl_change_diff(PawlChange *change, const char *before, const char *after) {
  g_autoptr(json_t) a = json_loads(before, JSON_DECODE_ANY, NULL);
  g_autoptr(json_t) b = json_loads(after, JSON_DECODE_ANY, NULL);
  if (a != NULL && b != NULL) diff_values(change, "", a, b);
}

void pawl_publish_note_pause(PawlPublish *publish, const PawlStoredPause *pause, const char *object) {
  char since[PAWL_INSTANT_TEXT], until[PAWL_INSTANT_TEXT];
  if (pause->at_ms == 0) return;
  PawlChange *note = pawl_publish_change(publish, PAWL_CHANGE_NOTE, "%s", object);
  g_autofree char *end =
    pause->until_ms != 0 ? g_strdup_printf("until %s", pawl_instant_text_short(pause->until_ms, until)) : g_strdup("until resumed");
  pawl_change_line(note, "stays paused %s (since %s%s%s%s%s)", end, pawl_instant_text_short(pause->at_ms, since),
    pause->by != NULL ? " by " : "", pause->by != NULL ? pause->by : "", pause->reason != NULL ? ": " : "",
    pause->reason != NULL ? pause->reason : "");
}
