/* SPDX-License-Identifier: Apache-2.0 */
/* What a verb is, and what a call of one holds. Private to the room.
 *
 * A verb is a const row: name, help, options, examples, and the function that does it. Options have no global state: each row says where
 * in the verb's own struct its value goes, and each call has such a struct of its own. A verb's function returns the exit code, or sets
 * `error`, and then the exit code is the error's. */
#pragma once
#include "cli/cli.h"
#include "cli/format.h"
#include "cli/settings.h"
#include "store/store.h"

typedef enum {
  PAWL_OPTION_FLAG,     /* gboolean */
  PAWL_OPTION_TEXT,     /* char *, UTF-8 */
  PAWL_OPTION_FILE,     /* char *, any bytes */
  PAWL_OPTION_TEXTS,    /* char **, repeatable */
  PAWL_OPTION_FILES,    /* char **, repeatable, any bytes */
  PAWL_OPTION_COUNT,    /* gint, min to max */
  PAWL_OPTION_DURATION, /* gint64, milliseconds */
} PawlOptionKind;

typedef struct {
  const char *name; /* "since": --since */
  char letter;      /* 0: none */
  PawlOptionKind kind;
  gsize at;          /* offset in the options struct */
  const char *value; /* the word for its value in the help; NULL: a flag */
  const char *help;
  gint initial, min, max; /* COUNT; initial also stands in a DURATION that was not given */
} PawlOption;

typedef struct {
  const char *command, *note;
} PawlExample;

typedef struct PawlCall PawlCall;
typedef struct {
  const char *name;
  const char *alias; /* NULL: none */
  const char *group; /* the heading in `pawl help` */
  const char *summary;
  const char *synopsis; /* the arguments */
  const char *description;
  const char *json; /* what --json prints */
  const PawlExample *examples;
  gsize n_examples;
  const PawlOption *options;
  gsize n_options, options_bytes;
  gint min_args, max_args; /* max_args -1: any number */
  gboolean any_bytes;      /* arguments are file names */
  gboolean up_settings;    /* takes the settings of `up` */
  int (*run)(PawlCall *call, GError **error);
} PawlVerb;

struct PawlCall {
  const PawlVerb *verb;
  char **args; /* never NULL */
  guint n_args;
  void *options;
  PawlSettings *settings;
  PawlOut *out;
  char **environment; /* borrowed */
  gboolean json, quiet, no_color, help;
  PawlUpFunction up;
};

#define PAWL_EXAMPLES(list) .examples = list, .n_examples = G_N_ELEMENTS(list)
#define PAWL_OPTIONS(list, type) .options = list, .n_options = G_N_ELEMENTS(list), .options_bytes = sizeof(type)

/* ---- the table (verbs.c) ---- */
const PawlVerb *const *pawl_verbs(gsize *ret_n);
/* By name or alias; NULL: none. */
const PawlVerb *pawl_verb_find(const char *name);
/* The nearest name of a verb; NULL: none is near. */
const char *pawl_verb_nearest(const char *name);

/* ---- parsing (parse.c) ---- */
/* Options that every verb has. */
const PawlOption *pawl_global_options(gsize *ret_n);
/* Splits argv (argv[0] is the program) into the verb and the rest. `ret_rest` is a new array of borrowed strings without the verb;
 * ret_verb NULL: none is named. */
void pawl_split_verb(int argc, char **argv, const char **ret_verb, GPtrArray **ret_rest);
/* Parses `rest` (without program and verb) for a verb. INVALID: what is wrong and the nearest option. */
PawlCall *pawl_call_parse(const PawlVerb *verb, const GPtrArray *rest, char **environment, GError **error);
void pawl_call_free(PawlCall *call);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlCall, pawl_call_free)

/* ---- help (help.c): both return text for the caller to free ---- */
char *pawl_help_all(gboolean brief);
char *pawl_help_verb(const PawlVerb *verb);

/* ---- what verbs share (call.c) ---- */
/* Opens the store that the settings name. UNAVAILABLE: there is none, and the message names `pawl up`. */
PawlStore *pawl_call_store(PawlCall *call, PawlDbMode mode, GError **error);
/* The same, made when there is none, with `create`. NOT_FOUND: there is none. */
PawlStore *pawl_call_store_if_any(PawlCall *call, PawlDbMode mode, gboolean create, GError **error);
/* The project: as set, else "default". And as set, else NULL, for lists that then show all. */
const char *pawl_call_project(const PawlCall *call);
const char *pawl_call_project_if_set(const PawlCall *call);
/* INVALID with a hint at the verb's help. Returns PAWL_EXIT_USAGE. */
int pawl_usage_error(const PawlCall *call, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* An instant, or a duration before (sign -1) or after (+1) now, as "2h". */
gboolean pawl_when_parse(const char *text, int sign, gint64 now_ms, gint64 *ret_at_ms, GError **error);
/* A whole file, or standard input for "-", up to a byte past the cap of files. */
gboolean pawl_read_file(const char *file, char **ret_text, gsize *ret_bytes, GError **error);
/* Splits "TASK/TRIGGER"; `ret_trigger` NULL for TASK alone. Caller frees both. INVALID when a name is none. */
gboolean pawl_reference_split(const char *text, char **ret_task, char **ret_trigger, GError **error);
/* Whether the text could be (the end of) a run's id. */
gboolean pawl_looks_like_run(const char *text);
