/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/yaml_tree.h"

#include <string.h>
#include <yaml.h>

/* ---- places ---- */

typedef struct {
  const json_t *container;
  char *key; /* NULL: an element */
  gsize index;
  PawlPlace of_key, of_value;
} PlaceEntry;

struct PawlPlaces {
  GHashTable *entries;
  PawlPlace root;
};

static guint place_hash(gconstpointer data) {
  const PlaceEntry *entry = data;
  return g_direct_hash(entry->container) * 31 + (entry->key != NULL ? g_str_hash(entry->key) : (guint)entry->index);
}

static gboolean place_equal(gconstpointer a, gconstpointer b) {
  const PlaceEntry *x = a, *y = b;
  return x->container == y->container && x->index == y->index && g_strcmp0(x->key, y->key) == 0;
}

static void place_free(gpointer data) {
  PlaceEntry *entry = data;
  g_free(entry->key);
  g_free(entry);
}

PawlPlaces *pawl_places_new(void) {
  PawlPlaces *places = g_new0(PawlPlaces, 1);
  places->entries = g_hash_table_new_full(place_hash, place_equal, place_free, NULL);
  return places;
}

void pawl_places_free(PawlPlaces *places) {
  g_hash_table_unref(places->entries);
  g_free(places);
}

static void places_add(PawlPlaces *places, const json_t *container, const char *key, gsize index, PawlPlace of_key, PawlPlace of_value) {
  PlaceEntry *entry = g_new(PlaceEntry, 1);
  *entry = (PlaceEntry){container, g_strdup(key), index, of_key, of_value};
  g_hash_table_add(places->entries, entry);
}

PawlPlace pawl_places_find(const PawlPlaces *places, const json_t *container, const char *key, gsize index, gboolean of_key) {
  if (places == NULL) return (PawlPlace){0, 0};
  if (container == NULL) return places->root;
  const PlaceEntry wanted = {.container = container, .key = (char *)key, .index = index};
  const PlaceEntry *entry = g_hash_table_lookup(places->entries, &wanted);
  if (entry == NULL) return places->root;
  return of_key ? entry->of_key : entry->of_value;
}

/* ---- the tree ---- */

typedef struct {
  json_t *value;
  gint64 nodes, bytes;
  gint line;
} Anchor; /* value NULL: not complete yet */

typedef struct {
  yaml_parser_t parser;
  yaml_event_t event; /* the current one */
  gboolean have_event;
  const char *text;
  gsize bytes;
  const char *file;
  PawlPlaces *places;
  GPtrArray *issues;
  GHashTable *anchors; /* name -> Anchor */
  gint64 nodes, scalar_bytes;
  gboolean failed; /* something was said; the tree is of no use */
} Builder;

static PawlPlace place_of(const yaml_mark_t *mark) { return (PawlPlace){(gint)mark->line + 1, (gint)mark->column + 1}; }
static PawlPlace here(const Builder *b) { return place_of(&b->event.start_mark); }

static json_t *refuse(Builder *b, PawlPlace place, const char *hint, const char *format, ...) G_GNUC_PRINTF(4, 5);
static json_t *refuse(Builder *b, PawlPlace place, const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  pawl_issues_add(b->issues, FALSE, b->file, place, NULL, hint, "%s", message);
  b->failed = TRUE;
  return NULL;
}

/* The place of a byte; columns count characters. */
static PawlPlace place_of_byte(const char *text, gsize offset) {
  PawlPlace place = {1, 1};
  for (gsize i = 0; i < offset; i++) {
    if (text[i] == '\n')
      place = (PawlPlace){place.line + 1, 1};
    else if (((guchar)text[i] & 0xc0) != 0x80)
      place.column++;
  }
  return place;
}

/* Moves on to the next event. FALSE: the text is no YAML, which is said. */
static gboolean next_event(Builder *b) {
  if (b->have_event) yaml_event_delete(&b->event);
  b->have_event = yaml_parser_parse(&b->parser, &b->event) == 1;
  if (b->have_event) return TRUE;
  if (b->parser.error == YAML_READER_ERROR) {
    gsize offset = MIN(b->parser.problem_offset, b->bytes);
    refuse(b, place_of_byte(b->text, offset), NULL, "%s, at byte %" G_GSIZE_FORMAT, b->parser.problem, offset);
    return FALSE;
  }
  const PawlYamlFault fault = {b->parser.problem, b->parser.context, place_of(&b->parser.problem_mark), place_of(&b->parser.context_mark)};
  pawl_yaml_explain(b->text, b->bytes, b->file, &fault, b->issues);
  b->failed = TRUE;
  return FALSE;
}

static gboolean count(Builder *b, gint64 nodes, gint64 bytes) {
  b->nodes += nodes;
  b->scalar_bytes += bytes;
  if (b->nodes > PAWL_YAML_NODES_MAX) {
    refuse(b, here(b), NULL, "more than %d values, those behind aliases counted each time", PAWL_YAML_NODES_MAX);
    return FALSE;
  }
  if (b->scalar_bytes > PAWL_YAML_TEXT_MAX) {
    refuse(b, here(b), NULL, "more than %d bytes of text, that behind aliases counted each time", PAWL_YAML_TEXT_MAX);
    return FALSE;
  }
  return TRUE;
}

#define CORE_TAG "tag:yaml.org,2002:"

static json_t *scalar_value(Builder *b) {
  const char *text = (const char *)b->event.data.scalar.value, *tag = (const char *)b->event.data.scalar.tag;
  gsize bytes = b->event.data.scalar.length;
  PawlPlain plain = PAWL_PLAIN_TEXT;
  if (!count(b, 1, (gint64)bytes)) return NULL;
  if (memchr(text, '\0', bytes) != NULL) return refuse(b, here(b), NULL, "a text cannot hold a NUL byte");
  if (tag == NULL && b->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
    plain = pawl_yaml_plain(text, bytes);
  else if (tag != NULL && strcmp(tag, "!") != 0 && strcmp(tag, CORE_TAG "str") != 0) {
    static const char *const tags[] = {NULL, CORE_TAG "null", CORE_TAG "bool", CORE_TAG "int", CORE_TAG "float", CORE_TAG "float"};
    plain = pawl_yaml_plain(text, bytes);
    if (plain == PAWL_PLAIN_INT && strcmp(tag, CORE_TAG "float") == 0) plain = PAWL_PLAIN_FLOAT;
    if (tags[plain] == NULL || strcmp(tag, tags[plain]) != 0)
      return refuse(b, here(b), NULL, "a tag that is not known, or does not fit its value");
  }
  json_t *value = pawl_yaml_plain_value(plain, text, bytes);
  return value != NULL ? value : refuse(b, here(b), "put it in quotes if a text is meant", "a number that cannot be kept exactly");
}

static json_t *build(Builder *b, guint depth);

static Anchor *anchor_open(Builder *b, const yaml_char_t *name) {
  if (name == NULL) return NULL;
  Anchor *anchor = g_new0(Anchor, 1);
  anchor->nodes = b->nodes;
  anchor->bytes = b->scalar_bytes;
  anchor->line = here(b).line;
  g_hash_table_replace(b->anchors, g_strdup((const char *)name), anchor);
  return anchor;
}

static void anchor_close(Builder *b, const char *name, Anchor *anchor, json_t *value) {
  /* the same name may have been given anew inside */
  if (anchor == NULL || value == NULL || g_hash_table_lookup(b->anchors, name) != anchor) return;
  anchor->value = json_incref(value);
  anchor->nodes = b->nodes - anchor->nodes;
  anchor->bytes = b->scalar_bytes - anchor->bytes;
}

static void anchor_free(gpointer data) {
  Anchor *anchor = data;
  json_decref(anchor->value);
  g_free(anchor);
}

static json_t *follow_alias(Builder *b) {
  const char *name = (const char *)b->event.data.alias.anchor;
  const Anchor *anchor = g_hash_table_lookup(b->anchors, name);
  /* the name of an unknown one is not shown: it may be an unquoted secret */
  if (anchor == NULL)
    return refuse(b, here(b), "put it in quotes if a text is meant", "what begins with * is an alias, and its anchor is not there");
  if (anchor->value == NULL)
    return refuse(b, here(b), NULL, "the alias '*%.60s' contains itself (the anchor stands in line %d)", name, anchor->line);
  return count(b, anchor->nodes, anchor->bytes) ? json_incref(anchor->value) : NULL;
}

static json_t *build_list(Builder *b, guint depth) {
  g_autoptr(json_t) list = json_array();
  while (next_event(b)) {
    PawlPlace place = here(b);
    if (b->event.type == YAML_SEQUENCE_END_EVENT) return g_steal_pointer(&list);
    json_t *value = build(b, depth + 1);
    if (value == NULL) return NULL;
    places_add(b->places, list, NULL, json_array_size(list), place, place);
    json_array_append_new(list, value);
  }
  return NULL;
}

/* The key that the current event is, or NULL after refusing it. */
static char *take_key(Builder *b, gboolean *ret_plain) {
  if (b->event.type == YAML_ALIAS_EVENT) return (char *)refuse(b, here(b), NULL, "an alias cannot be a key");
  if (b->event.type != YAML_SCALAR_EVENT) return (char *)refuse(b, here(b), NULL, "a key must be a text, not a list or a mapping");
  if (b->event.data.scalar.anchor != NULL || b->event.data.scalar.tag != NULL)
    return (char *)refuse(b, here(b), NULL, "a key has neither anchor nor tag");
  const char *text = (const char *)b->event.data.scalar.value;
  *ret_plain = b->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  if (!count(b, 1, (gint64)b->event.data.scalar.length)) return NULL;
  if (strlen(text) != b->event.data.scalar.length) return (char *)refuse(b, here(b), NULL, "a key cannot hold a NUL byte");
  if (*text == '\0') return (char *)refuse(b, here(b), NULL, "an empty key");
  if (*ret_plain && strcmp(text, "<<") == 0)
    return (char *)refuse(b, here(b), "write the keys out, or put them under defaults:", "merge keys (<<) are not part of YAML 1.2");
  return g_strdup(text);
}

/* {cron: 0,30 2 * * *}: the comma ends the value, and the rest is a key of its own without a value. */
static gboolean is_comma_trap(const Builder *b, gboolean flow, gboolean key_plain, const char *key) {
  return flow && key_plain && strpbrk(key, " *") != NULL && b->event.type == YAML_SCALAR_EVENT && b->event.data.scalar.length == 0 &&
         b->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && b->event.data.scalar.anchor == NULL &&
         b->event.start_mark.index == b->event.end_mark.index;
}

/* Shows what stands there only where it is an expression: another value may be a secret. */
static json_t *refuse_comma_trap(Builder *b, const json_t *object, const char *last_key, PawlPlace place, const char *key) {
  static const char what[] = "stands here as a key without a value, because in {…} a comma ends the value before it";
  const json_t *before = last_key != NULL ? json_object_get(object, last_key) : NULL;
  g_autofree char *hint = NULL;
  if (g_strcmp0(last_key, "cron") != 0 || !(json_is_string(before) || json_is_integer(before)))
    return refuse(b, place, "quote the value that has the comma", "text %s", what);
  g_autofree char *value =
    json_is_string(before) ? g_strdup(json_string_value(before)) : g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(before));
  hint = g_strdup_printf("quote the expression: cron: \"%.60s,%.60s\"", value, key);
  return refuse(b, place, hint, "'%.60s' %s", key, what);
}

static json_t *build_mapping(Builder *b, guint depth) {
  g_autoptr(json_t) object = json_object();
  g_autofree char *last_key = NULL;
  gboolean flow = b->event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
  while (next_event(b)) {
    PawlPlace key_place = here(b);
    gboolean plain = FALSE;
    if (b->event.type == YAML_MAPPING_END_EVENT) return g_steal_pointer(&object);
    g_autofree char *key = take_key(b, &plain);
    if (key == NULL || !next_event(b)) return NULL;
    if (is_comma_trap(b, flow, plain, key)) return refuse_comma_trap(b, object, last_key, key_place, key);
    PawlPlace value_place = here(b);
    json_t *value = build(b, depth + 1);
    if (value == NULL) return NULL;
    if (json_object_get(object, key) != NULL) {
      refuse(b, key_place, NULL, "the key '%.128s' stands in line %d already", key, pawl_places_find(b->places, object, key, 0, TRUE).line);
      json_decref(value);
      continue; /* the first is kept, so that more of these are found in one go */
    }
    places_add(b->places, object, key, 0, key_place, value_place);
    json_object_set_new(object, key, value);
    g_free(last_key);
    last_key = g_steal_pointer(&key);
  }
  return NULL;
}

/* The value that begins with the current event. NULL: it was refused. */
static json_t *build(Builder *b, guint depth) {
  const yaml_char_t *name = NULL, *tag = NULL;
  gboolean list = b->event.type == YAML_SEQUENCE_START_EVENT, scalar = b->event.type == YAML_SCALAR_EVENT;
  json_t *value;
  if (b->event.type == YAML_ALIAS_EVENT) return follow_alias(b);
  if (scalar)
    name = b->event.data.scalar.anchor;
  else if (list)
    name = b->event.data.sequence_start.anchor, tag = b->event.data.sequence_start.tag;
  else
    name = b->event.data.mapping_start.anchor, tag = b->event.data.mapping_start.tag;
  if (depth > PAWL_YAML_DEPTH_MAX) return refuse(b, here(b), NULL, "nested deeper than %d", PAWL_YAML_DEPTH_MAX);
  if (tag != NULL && strcmp((const char *)tag, "!") != 0 && strcmp((const char *)tag, list ? CORE_TAG "seq" : CORE_TAG "map") != 0)
    return refuse(b, here(b), NULL, "the tag '%.60s' is not known", (const char *)tag);
  g_autofree char *anchor_name = g_strdup((const char *)name);
  Anchor *anchor = anchor_open(b, name);
  if (scalar)
    value = scalar_value(b);
  else if (!count(b, 1, 0))
    value = NULL;
  else
    value = list ? build_list(b, depth) : build_mapping(b, depth);
  anchor_close(b, anchor_name, anchor, value);
  return value;
}

static json_t *build_document(Builder *b) {
  if (!next_event(b)) return NULL; /* the stream begins */
  if (!next_event(b)) return NULL; /* a document begins, or the stream ends */
  if (b->event.type == YAML_STREAM_END_EVENT) return json_null();
  if (!next_event(b)) return NULL;
  b->places->root = here(b);
  g_autoptr(json_t) root = build(b, 1);
  if (root == NULL || !next_event(b)) return NULL; /* the document ends */
  if (!next_event(b)) return NULL;
  if (b->event.type != YAML_STREAM_END_EVENT) return refuse(b, here(b), "put it into a file of its own", "a second document begins here");
  return g_steal_pointer(&root);
}

/* Size and encoding, before libyaml sees the text. */
static gboolean check_text(const char *text, gsize bytes, const char *file, GPtrArray *issues) {
  const char *bad;
  if (bytes > PAWL_FILE_MAX_BYTES) {
    pawl_issues_add(issues, FALSE, file, (PawlPlace){0, 0}, NULL, "split the file", "%" G_GSIZE_FORMAT " bytes; a file has at most %d",
      bytes, PAWL_FILE_MAX_BYTES);
    return FALSE;
  }
  if (g_utf8_validate_len(text, bytes, &bad)) return TRUE;
  pawl_issues_add(issues, FALSE, file, place_of_byte(text, (gsize)(bad - text)), NULL, NULL, "%s at byte %" G_GSIZE_FORMAT,
    *bad == '\0' ? "a NUL byte" : "not UTF-8", (gsize)(bad - text));
  return FALSE;
}

json_t *pawl_yaml_parse(const char *text, gsize bytes, const char *file, PawlPlaces *places, GPtrArray *issues) {
  if (!check_text(text, bytes, file, issues)) return NULL;
  if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3, bytes -= 3; /* a byte order mark */
  Builder b = {.text = text, .bytes = bytes, .file = file, .places = places, .issues = issues};
  b.anchors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, anchor_free);
  yaml_parser_initialize(&b.parser);
  yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, bytes);
  json_t *root = build_document(&b);
  if (b.have_event) yaml_event_delete(&b.event);
  yaml_parser_delete(&b.parser);
  g_hash_table_unref(b.anchors);
  if (b.failed) g_clear_pointer(&root, json_decref);
  return root;
}
