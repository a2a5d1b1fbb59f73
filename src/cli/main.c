/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's entry: finds the verb, parses, runs it, and turns its answer into an exit code. */
#include "base/error.h"
#include "cli/verb.h"

#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static gboolean has_word(int argc, char **argv, const char *word) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], word) == 0) return TRUE;
  return FALSE;
}

static int say_help(PawlOut *out, char *text) {
  pawl_out_text(out, "%s", text);
  g_free(text);
  return PAWL_EXIT_OK;
}

static int unknown_verb(PawlOut *out, const char *word) {
  g_autofree char *shown = g_utf8_make_valid(word, -1);
  const char *nearest = pawl_verb_nearest(shown);
  g_autofree char *hint = nearest != NULL ? g_strdup_printf("did you mean `pawl %s`?", nearest) : g_strdup("see `pawl help`");
  g_autoptr(GError) error = g_error_new(PAWL_ERROR, PAWL_ERROR_INVALID, "unknown verb '%.60s'; %s", shown, hint);
  return pawl_out_error(out, NULL, error);
}

static int call_verb(PawlOut *out, const PawlVerb *verb, const GPtrArray *rest, char **environment, PawlUpFunction up) {
  g_autoptr(GError) error = NULL;
  g_autoptr(PawlCall) call = pawl_call_parse(verb, rest, environment, &error);
  if (call == NULL) return pawl_out_error(out, verb->name, error);
  call->out = out;
  call->up = up;
  pawl_out_set_mode(out, call->json, call->quiet, call->no_color);
  if (call->help) return say_help(out, pawl_help_verb(verb));
  int code = verb->run(call, &error);
  return error != NULL ? pawl_out_error(out, verb->name, error) : code;
}

/* No verb: short help, all of it with --help, the version with --version or -V. */
static int without_verb(PawlOut *out, GPtrArray *rest, char **environment, PawlUpFunction up) {
  static const char *const help[] = {"--help", "-h", NULL};
  gboolean version = FALSE;
  if (rest->len == 0) return say_help(out, pawl_help_all(TRUE));
  for (guint i = rest->len; i-- > 0;) {
    const char *word = g_ptr_array_index(rest, i);
    if (g_strv_contains(help, word)) return say_help(out, pawl_help_all(FALSE));
    if (strcmp(word, "--version") != 0 && strcmp(word, "-V") != 0) continue;
    version = TRUE;
    g_ptr_array_remove_index(rest, i);
  }
  if (version) return call_verb(out, pawl_verb_find("version"), rest, environment, up);
  g_autoptr(GError) error = g_error_new(PAWL_ERROR, PAWL_ERROR_INVALID, "no verb is given; see `pawl help`");
  return pawl_out_error(out, NULL, error);
}

int pawl_cli_main(int argc, char **argv, PawlUpFunction up) {
  setlocale(LC_ALL, "");
  /* a closed pipe is an error of write(), which the formatter handles */
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignore, NULL);
  g_auto(GStrv) environment = g_get_environ();
  PawlOutOptions options = pawl_out_detect(STDOUT_FILENO, STDERR_FILENO, environment);
  options.json = has_word(argc, argv, "--json"); /* for what goes wrong before the call is parsed */
  g_autoptr(PawlOut) out = pawl_out_new(&options);
  g_autoptr(GPtrArray) rest = NULL;
  const char *word = NULL;
  int code;
  pawl_split_verb(argc, argv, &word, &rest);
  const PawlVerb *verb = word != NULL ? pawl_verb_find(word) : NULL;
  if (word == NULL)
    code = without_verb(out, rest, environment, up);
  else if (verb == NULL)
    code = unknown_verb(out, word);
  else
    code = call_verb(out, verb, rest, environment, up);
  return pawl_out_finish(out) ? code : PAWL_EXIT_FAILED;
}
