/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON tree as YAML for people: block style, small mappings of plain values on one line, texts of several lines as literal blocks.
 * Whatever another reader might take for something else than a text is quoted, by the rules of YAML 1.1 too. */
#include "domain/yaml_tree.h"

#include <string.h>
#include <yaml.h>

#define FLOW_MAX_BYTES 110
#define DEPTH_OF_TASK 2 /* of the mapping that is a task, in a file */

static int write_text(void *data, unsigned char *buffer, size_t size) {
  g_string_append_len(data, (const char *)buffer, (gssize)size);
  return 1;
}

static gboolean is_plain_text(const char *text) {
  static const char *const words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "=", "<<", NULL};
  gsize n = strlen(text);
  g_autofree char *lower = g_ascii_strdown(text, -1);
  if (pawl_yaml_plain(text, n) != PAWL_PLAIN_TEXT || g_strv_contains(words, lower)) return FALSE;
  if (g_ascii_isspace(*text) || g_ascii_isspace(text[n - 1])) return FALSE;
  for (const char *p = text; *p != '\0'; p++)
    if (g_ascii_iscntrl(*p)) return FALSE;
  /* numbers, dates, times and sexagesimals of YAML 1.1 begin so; a cron expression does too, and is better read in quotes */
  if (g_ascii_isdigit(*text) || strchr("+-.@*%&!|>'\"`{}[]?:#,=", *text) != NULL) return FALSE;
  return strpbrk(text, "#{}[],&*?|<>=!%@\\\"'`") == NULL && strstr(text, ": ") == NULL && !g_str_has_suffix(text, ":");
}

/* Literal blocks keep everything but what the style cannot say. */
static gboolean is_block_text(const char *text) {
  if (strchr(text, '\n') == NULL || *text == '\n' || *text == ' ') return FALSE;
  for (const char *p = text; *p != '\0'; p++) {
    if (g_ascii_iscntrl(*p) && *p != '\n') return FALSE;
    if ((guchar)*p >= 0x80) return FALSE; /* line separators and other things that only the double-quoted style keeps */
    if (*p == '\n' && (p[-1] == ' ' || p[1] == ' ' || p[1] == '\n')) return FALSE;
  }
  return TRUE;
}

static gboolean emit(yaml_emitter_t *emitter, yaml_event_t *event) { return yaml_emitter_emit(emitter, event) == 1; }

static gboolean emit_scalar(yaml_emitter_t *emitter, const char *text, gboolean literal, yaml_scalar_style_t style) {
  yaml_event_t event;
  yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), literal, TRUE, style);
  return emit(emitter, &event);
}

static gboolean emit_string(yaml_emitter_t *emitter, const char *text, gboolean flow) {
  yaml_scalar_style_t style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  gboolean plain = is_plain_text(text);
  if (plain)
    style = YAML_PLAIN_SCALAR_STYLE;
  else if (!flow && is_block_text(text))
    style = YAML_LITERAL_SCALAR_STYLE;
  else if (strpbrk(text, "\"\\") != NULL && strpbrk(text, "'\n") == NULL && g_str_is_ascii(text))
    style = YAML_SINGLE_QUOTED_SCALAR_STYLE;
  return emit_scalar(emitter, text, plain, style);
}

/* The width on one line, or more than FLOW_MAX_BYTES. */
static gsize flow_width(const json_t *value, guint depth) {
  const char *key;
  json_t *item;
  gsize i, width = 2;
  if (depth > 2) return FLOW_MAX_BYTES + 1;
  if (json_is_string(value)) return strchr(json_string_value(value), '\n') != NULL ? FLOW_MAX_BYTES + 1 : json_string_length(value) + 2;
  json_object_foreach((json_t *)value, key, item) width += strlen(key) + 4 + flow_width(item, depth + 1);
  json_array_foreach((json_t *)value, i, item) width += 2 + flow_width(item, depth + 1);
  return json_is_object(value) || json_is_array(value) ? width : 8;
}

static gboolean emit_value(yaml_emitter_t *emitter, const json_t *value, guint depth, gboolean flow);

/* The triggers of a task, say: one on each line. */
static gboolean is_list_of_things(const json_t *object, guint depth) {
  const char *key;
  json_t *value;
  if (depth > DEPTH_OF_TASK + 1) return FALSE;
  json_object_foreach((json_t *)object, key, value) {
    if (json_object_size(value) > 0) return TRUE;
  }
  return FALSE;
}

static gboolean emit_mapping(yaml_emitter_t *emitter, const json_t *object, guint depth, gboolean flow) {
  yaml_event_t event;
  const char *key;
  json_t *value;
  if (!flow)
    flow = json_object_size(object) == 0 ||
           (depth > DEPTH_OF_TASK && !is_list_of_things(object, depth) && flow_width(object, 0) <= FLOW_MAX_BYTES);
  yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
  if (!emit(emitter, &event)) return FALSE;
  json_object_foreach((json_t *)object, key, value) {
    if (!emit_string(emitter, key, TRUE) || !emit_value(emitter, value, depth + 1, flow)) return FALSE;
  }
  yaml_mapping_end_event_initialize(&event);
  return emit(emitter, &event);
}

static gboolean emit_list(yaml_emitter_t *emitter, const json_t *list, guint depth, gboolean flow) {
  yaml_event_t event;
  json_t *value;
  gsize i;
  if (!flow) flow = json_array_size(list) == 0 || flow_width(list, 0) <= FLOW_MAX_BYTES;
  yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
  if (!emit(emitter, &event)) return FALSE;
  json_array_foreach((json_t *)list, i, value) {
    if (!emit_value(emitter, value, depth + 1, flow)) return FALSE;
  }
  yaml_sequence_end_event_initialize(&event);
  return emit(emitter, &event);
}

static gboolean emit_value(yaml_emitter_t *emitter, const json_t *value, guint depth, gboolean flow) {
  if (json_is_object(value)) return emit_mapping(emitter, value, depth, flow);
  if (json_is_array(value)) return emit_list(emitter, value, depth, flow);
  if (json_is_string(value)) return emit_string(emitter, json_string_value(value), flow);
  g_autofree char *text = pawl_json_canonical(value);
  return emit_scalar(emitter, text, TRUE, YAML_PLAIN_SCALAR_STYLE);
}

char *pawl_json_to_yaml(const json_t *json) {
  yaml_emitter_t emitter;
  yaml_event_t event;
  GString *out = g_string_new(NULL);
  yaml_emitter_initialize(&emitter);
  yaml_emitter_set_output(&emitter, write_text, out);
  yaml_emitter_set_unicode(&emitter, 1);
  yaml_emitter_set_width(&emitter, -1);
  yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
  emit(&emitter, &event);
  yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
  emit(&emitter, &event);
  emit_value(&emitter, json, 0, FALSE);
  yaml_document_end_event_initialize(&event, 1);
  emit(&emitter, &event);
  yaml_stream_end_event_initialize(&event);
  emit(&emitter, &event);
  yaml_emitter_delete(&emitter);
  return g_string_free(out, FALSE);
}
