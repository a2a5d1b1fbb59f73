/* SPDX-License-Identifier: Apache-2.0 */
/* pawl version and pawl help. */
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"

#include <sqlite3.h>
#include <yaml.h>

static const PawlExample version_examples[] = {
  {"pawl version", "the version"},
  {"pawl version --json", "with engines and libraries"},
};
static const PawlExample help_examples[] = {
  {"pawl help", "all verbs and the options that each of them has"},
  {"pawl help run", "one verb, as `pawl run --help`"},
};

static int run_version(PawlCall *call, GError **error) {
  int major, minor, patch;
  yaml_get_version(&major, &minor, &patch);
  g_autofree char *glib = g_strdup_printf("%u.%u.%u", glib_major_version, glib_minor_version, glib_micro_version);
  g_autofree char *yaml = g_strdup_printf("%d.%d.%d", major, minor, patch);
  if (!pawl_out_json_wanted(call->out)) {
    pawl_out_text(call->out, "pawl %s\n", PAWL_VERSION);
    return PAWL_EXIT_OK;
  }
  json_t *object = json_object(), *engines = json_object(), *libraries = json_object();
  pawl_json_set_text(engines, "sqlite", sqlite3_libversion());
  pawl_json_set_text(libraries, "glib", glib);
  pawl_json_set_text(libraries, "jansson", jansson_version_str());
  pawl_json_set_text(libraries, "libyaml", yaml);
  pawl_json_set_text(object, "version", PAWL_VERSION);
  json_object_set_new(object, "engines", engines);
  json_object_set_new(object, "libraries", libraries);
  pawl_out_json(call->out, object);
  return PAWL_EXIT_OK;
}

static json_t *json_verbs(void) {
  gsize n;
  const PawlVerb *const *verbs = pawl_verbs(&n);
  json_t *array = json_array();
  for (gsize i = 0; i < n; i++) {
    json_t *object = json_object();
    pawl_json_set_text(object, "verb", verbs[i]->name);
    pawl_json_set_text(object, "alias", verbs[i]->alias);
    pawl_json_set_text(object, "arguments", verbs[i]->synopsis);
    pawl_json_set_text(object, "summary", verbs[i]->summary);
    json_array_append_new(array, object);
  }
  return array;
}

static int run_help(PawlCall *call, GError **error) {
  const PawlVerb *verb = call->n_args > 0 ? pawl_verb_find(call->args[0]) : NULL;
  if (call->n_args > 0 && verb == NULL) {
    const char *nearest = pawl_verb_nearest(call->args[0]);
    g_autofree char *hint = nearest != NULL ? g_strdup_printf("did you mean `pawl help %s`?", nearest) : g_strdup("see `pawl help`");
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "there is no verb '%.60s'; %s", call->args[0], hint);
    return PAWL_EXIT_USAGE;
  }
  if (pawl_out_json_wanted(call->out)) {
    pawl_out_json(call->out, json_verbs());
    return PAWL_EXIT_OK;
  }
  g_autofree char *text = verb != NULL ? pawl_help_verb(verb) : pawl_help_all(FALSE);
  pawl_out_text(call->out, "%s", text);
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_version = {
  .name = "version",
  .group = "Operate",
  .summary = "Print the version",
  .synopsis = "",
  .json = "{version, engines: {sqlite}, libraries: {glib, jansson, libyaml}}",
  PAWL_EXAMPLES(version_examples),
  .run = run_version,
};
const PawlVerb pawl_verb_help = {
  .name = "help",
  .group = "Operate",
  .summary = "Explain a verb",
  .synopsis = "[VERB]",
  .json = "an array of {verb, alias, arguments, summary}",
  PAWL_EXAMPLES(help_examples),
  .min_args = 0,
  .max_args = 1,
  .run = run_help,
};
