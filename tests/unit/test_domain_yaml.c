/* SPDX-License-Identifier: Apache-2.0 */
/* YAML to JSON: the core schema, places, caps; and back again. */
#include "domain/yaml_tree.h"
#include "test_domain.h"

static json_t *parse(const char *text) {
  g_autoptr(GPtrArray) issues = issues_new();
  g_autoptr(PawlPlaces) places = pawl_places_new();
  return pawl_yaml_parse(text, strlen(text), "f", places, issues);
}

static void check_parse(const char *yaml, const char *expected) {
  g_autoptr(json_t) json = parse(yaml);
  g_autofree char *text = json != NULL ? pawl_json_canonical(json) : g_strdup("refused");
  g_test_message("%s", yaml);
  g_assert_cmpstr(text, ==, expected);
}

static void test_core_schema(void) {
  static const struct {
    const char *yaml, *json;
  } cases[] = {
    {"", "null"},
    {"~", "null"},
    {"null", "null"},
    {"Null", "null"},
    {"NULL", "null"},
    {"nULL", "\"nULL\""},
    {"'null'", "\"null\""},
    {"true", "true"},
    {"True", "true"},
    {"TRUE", "true"},
    {"tRUE", "\"tRUE\""},
    {"false", "false"},
    {"\"false\"", "\"false\""},
    {"yes", "\"yes\""},
    {"no", "\"no\""},
    {"on", "\"on\""},
    {"Off", "\"Off\""},
    {"y", "\"y\""},
    {"0", "0"},
    {"-0", "0"},
    {"+12", "12"},
    {"-19", "-19"},
    {"022", "22"},
    {"0o17", "15"},
    {"0x3A", "58"},
    {"0o8", "\"0o8\""},
    {"0xg", "\"0xg\""},
    {"-0x1", "\"-0x1\""},
    {"1_000", "\"1_000\""},
    {"190:20:30", "\"190:20:30\""},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", "refused"},
    {"0xffffffffffffffff", "refused"},
    {"1.5", "1.5"},
    {"1.", "1.0"},
    {".5", "0.5"},
    {"-2e3", "-2000.0"},
    {"1e999", "refused"},
    {".inf", "refused"},
    {".NaN", "refused"},
    {".", "\".\""},
    {"1e", "\"1e\""},
    {"e1", "\"e1\""},
    {"-", "[null]"},
    {"+", "\"+\""},
    {"1.5.2", "\"1.5.2\""},
    {"2027-01-01", "\"2027-01-01\""},
    {"<<", "\"<<\""},
    {"=", "\"=\""},
    {"!!str 5", "\"5\""},
    {"! 5", "\"5\""},
    {"!!int '5'", "5"},
    {"!!float 5", "5.0"},
    {"!!int x", "refused"},
    {"!!null ''", "null"},
    {"!!bool 1", "refused"},
    {"!!map {a: 1}", "{\"a\":1}"},
    {"!!seq [1]", "[1]"},
    {"!!set {a}", "refused"},
    {"!x 5", "refused"},
    {"[a, , b]", "refused"},
    {"[a, b, ]", "[\"a\",\"b\"]"},
    {"{a: 1, b: [2, {c: 3}]}", "{\"a\":1,\"b\":[2,{\"c\":3}]}"},
    {"1: a", "{\"1\":\"a\"}"},
    {"true: a", "{\"true\":\"a\"}"},
    {"{a}", "{\"a\":null}"},
    {"a:", "{\"a\":null}"},
    {"a: |\n  x\n  y\n", "{\"a\":\"x\\ny\\n\"}"},
    {"a: >-\n  x\n  y\n", "{\"a\":\"x y\"}"},
    {"\"\\u00e4\\x41\"", "\"\xc3\xa4"
                         "A\""},
    {"\"\\ud800\"", "refused"},
    {"{a: &x [1], b: *x}", "{\"a\":[1],\"b\":[1]}"},
    {"{a: &x 1, b: &x 2, c: *x}", "{\"a\":1,\"b\":2,\"c\":2}"},
    {"&x [*x]", "refused"},
    {"*x", "refused"},
    {"? a\n: b\n", "{\"a\":\"b\"}"},
    {"? [a]\n: b\n", "refused"},
    {"{&k a: 1}", "refused"},
    {"{<<: {a: 1}}", "refused"},
    {"{'<<': 1}", "{\"<<\":1}"},
    {"a: 1\na: 2", "refused"},
    {"a: 1\n'a': 2", "refused"},
    {"--- a", "\"a\""},
    {"--- a\n...\n", "\"a\""},
    {"a\n--- b", "refused"},
    {"%YAML 1.2\n---\na", "\"a\""},
    {"%TAG ! tag:x,2000:\n---\n!y a", "refused"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) check_parse(cases[i].yaml, cases[i].json);
}

static void test_places(void) {
  const char *text = "a: 1\nb:\n  - x\n  - {\xc3\xa4: y, z: [p, q]}\n";
  g_autoptr(GPtrArray) issues = issues_new();
  g_autoptr(PawlPlaces) places = pawl_places_new();
  g_autoptr(json_t) root = pawl_yaml_parse(text, strlen(text), "f", places, issues);
  const json_t *list = json_object_get(root, "b"), *inner = json_array_get(list, 1);
  const struct {
    const json_t *container;
    const char *key;
    gsize index;
    gboolean of_key;
    gint line, column;
  } cases[] = {
    {NULL, NULL, 0, FALSE, 1, 1},
    {root, "a", 0, TRUE, 1, 1},
    {root, "a", 0, FALSE, 1, 4},
    {root, "b", 0, TRUE, 2, 1},
    {list, NULL, 0, FALSE, 3, 5},
    {inner, "\xc3\xa4", 0, TRUE, 4, 6},
    {inner, "z", 0, TRUE, 4, 12}, /* columns count characters */
    {json_object_get(inner, "z"), NULL, 1, FALSE, 4, 19},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    PawlPlace place = pawl_places_find(places, cases[i].container, cases[i].key, cases[i].index, cases[i].of_key);
    g_assert_cmpint(place.line, ==, cases[i].line);
    g_assert_cmpint(place.column, ==, cases[i].column);
  }
}

static gboolean accepts(const char *text, gsize bytes) {
  g_autoptr(GPtrArray) issues = issues_new();
  g_autoptr(PawlPlaces) places = pawl_places_new();
  g_autoptr(json_t) json = pawl_yaml_parse(text, bytes, "f", places, issues);
  g_assert_cmpint(json == NULL, ==, issues->len > 0);
  return json != NULL;
}

static void test_depth(void) {
  for (guint depth = PAWL_YAML_DEPTH_MAX - 1; depth <= PAWL_YAML_DEPTH_MAX + 1; depth++) {
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 1; i < depth; i++) g_string_append_c(text, '[');
    g_string_append_c(text, 'x');
    for (guint i = 1; i < depth; i++) g_string_append_c(text, ']');
    g_assert_cmpint(accepts(text->str, text->len), ==, depth <= PAWL_YAML_DEPTH_MAX);
  }
  /* far deeper than any stack, quickly */
  g_autofree char *deep = g_strnfill(1000000, '[');
  g_assert_false(accepts(deep, 1000000));
}

static void test_file_size(void) {
  for (gsize bytes = PAWL_FILE_MAX_BYTES - 1; bytes <= PAWL_FILE_MAX_BYTES + 1; bytes++) {
    g_autofree char *text = g_strnfill(bytes, '#');
    g_assert_cmpint(accepts(text, bytes), ==, bytes <= PAWL_FILE_MAX_BYTES);
  }
}

/* Nodes behind aliases are counted each time. The root, the list and the anchored list are nodes too. */
static void test_nodes(void) {
  for (guint extra = 0; extra <= 2; extra++) {
    g_autoptr(GString) text = g_string_new("- &a [");
    for (guint i = 0; i < 999; i++) g_string_append(text, "x,");
    g_string_append(text, "]\n- [");
    for (guint i = 0; i < 998; i++) g_string_append(text, "*a,");
    g_string_append(text, "]\n");
    /* 1 + 1000 + 1 + 998 * 1000 = 999,002 */
    for (guint i = 0; i < 997 + extra; i++) g_string_append(text, "- x\n");
    g_assert_cmpint(accepts(text->str, text->len), ==, extra <= 1);
  }
}

static void test_alias_text(void) {
  for (guint extra = 0; extra <= 1; extra++) {
    g_autofree char *kilobyte = g_strnfill(1024, 'x');
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "- &a %s\n", kilobyte);
    for (guint i = 1; i < 16 * 1024 + extra; i++) g_string_append(text, "- *a\n");
    g_assert_cmpint(accepts(text->str, text->len), ==, extra == 0);
  }
}

static void test_big_file_is_refused_fast(void) {
  gsize bytes = 10 * 1024 * 1024;
  g_autofree char *text = g_strnfill(bytes, 'x');
  gint64 begin_us = g_get_monotonic_time();
  g_assert_false(accepts(text, bytes));
  g_assert_cmpint(g_get_monotonic_time() - begin_us, <, G_USEC_PER_SEC / 4);
}

/* ---- printing ---- */

static void check_print(const json_t *json) {
  g_autofree char *yaml = pawl_json_to_yaml(json);
  g_autoptr(json_t) again = parse(yaml);
  g_autofree char *wanted = pawl_json_canonical(json), *found = again != NULL ? pawl_json_canonical(again) : NULL;
  if (g_strcmp0(wanted, found) != 0) g_test_message("%s", yaml);
  g_assert_cmpstr(found, ==, wanted);
}

static void test_print_reads_back(void) {
  static const char *const texts[] = {"", " ", "a", "a b", " a", "a ", "*/5 * * * *", "@daily", "yes", "No", "on", "true", "~", "null", "5",
    "0x1f", "0o7", "1e3", ".5", "-", "- a", "?", "? a", ":", "a:", "a: b", "a #b", "#a", "a\nb", "a\nb\n", "a\n\nb", "\na", "a\n", " a\nb",
    "a \nb", "a\n b", "a\tb", "\ta", "a\rb", "a\r\nb", "\x01", "\x7f", "\xc3\xa4", "\xe2\x80\xa8",
    "\xef\xbb\xbf"
    "a",
    "\xf0\x9f\x98\x80", "'", "\"", "it's", "\"q\"", "\\", "a\\nb", "%a", "&a", "*a", "!a", "|", ">", "`a`", "[a]", "{a}", "{a", "a]",
    "a, b", ",a", "=", "<<", "---", "--- a", "...", "a\n---\nb", "a\n...\n", "2027-01-01", "12:30", "1_000", "+5", "a\n\n", "\n", "\n\n",
    "\xc2\x85", "\xc2\xa0", "if [ ! -d x ]; then\n  y\nfi\n", "#!/bin/sh\necho \"x\"\n"};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(json_t) bare = json_string(texts[i]), list = json_pack("[s[s]]", texts[i], texts[i]);
    g_autoptr(json_t) object = json_pack("{s{s{ss}}}", "a", "b", *texts[i] != '\0' ? texts[i] : "k", texts[i]);
    check_print(bare);
    check_print(list);
    check_print(object);
  }
}

static void test_print_values(void) {
  static const char *const trees[] = {"{}", "[]", "{\"a\":{}}", "{\"a\":[]}",
    "{\"a\":null,\"b\":true,\"c\":false,\"d\":-5,\"e\":1.5,\"f\":1e+100}", "[[[]],[{}],[[1,2],[3]]]",
    "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":[1,{\"g\":\"h\\ni\"}]}}}}}}", "null", "true", "5", "9223372036854775807"};
  for (gsize i = 0; i < G_N_ELEMENTS(trees); i++) {
    g_autoptr(json_t) json = pawl_json_parse(trees[i], strlen(trees[i]), NULL);
    check_print(json);
  }
}

static void test_print_for_people(void) {
  g_autoptr(json_t) json = json_pack("{s{s{sss{ss}s{s{ssss}}}}}", "tasks", "a", "shell", "echo x\necho y\n", "env", "PATH", "/bin",
    "triggers", "cron", "cron", "*/5 * * * *", "zone", "Europe/Berlin");
  g_autofree char *yaml = pawl_json_to_yaml(json);
  g_assert_cmpstr(yaml, ==,
    "tasks:\n  a:\n    shell: |\n      echo x\n      echo y\n    env: {PATH: /bin}\n    triggers:\n      cron: {cron: \"*/5 * * * *\", zone: Europe/Berlin}\n");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/domain/yaml/core-schema", test_core_schema);
  g_test_add_func("/domain/yaml/places", test_places);
  g_test_add_func("/domain/yaml/depth", test_depth);
  g_test_add_func("/domain/yaml/file-size", test_file_size);
  g_test_add_func("/domain/yaml/nodes", test_nodes);
  g_test_add_func("/domain/yaml/alias-text", test_alias_text);
  g_test_add_func("/domain/yaml/big-file", test_big_file_is_refused_fast);
  g_test_add_func("/domain/yaml/print", test_print_reads_back);
  g_test_add_func("/domain/yaml/print-values", test_print_values);
  g_test_add_func("/domain/yaml/print-for-people", test_print_for_people);
  return g_test_run();
}
