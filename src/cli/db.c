/* SPDX-License-Identifier: Apache-2.0 */
/* pawl db: the schema of the store and the roles that use it, for whoever keeps the database. */
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"
#include "store/schema.h"

#include <string.h>

typedef struct {
  gboolean sql, check, create;
} DbOptions;

static const PawlOption options[] = {
  {"sql", 0, PAWL_OPTION_FLAG, offsetof(DbOptions, sql), NULL, "plan: the text of the scripts", 0, 0, 0},
  {"check", 0, PAWL_OPTION_FLAG, offsetof(DbOptions, check), NULL, "grant: change nothing; exit code 1 when something differs", 0, 0, 0},
  {"create", 0, PAWL_OPTION_FLAG, offsetof(DbOptions, create), NULL, "grant: make the role when there is none", 0, 0, 0},
};
static const PawlExample examples[] = {
  {"pawl db status", "exit code 0: up to date, 1: `pawl db migrate` has something to do, 78: made by another pawl"},
  {"pawl db plan --sql > review.sql", "what migrate would run"},
  {"pawl db migrate", "as the owner of the schema; as often as you like, by as many as you like"},
  {"pawl db grant", "the kinds of roles"},
  {"pawl db grant viewer grafana --create", "a role that reads, made if need be"},
  {"pawl db grant runtime pawl_runtime --check", "has it exactly the rights that it needs"},
};

/* ---- schema ---- */

static const struct {
  const char *word;
  PawlColour colour;
} states[] = {
  [PAWL_STEP_APPLIED] = {"applied", PAWL_COLOUR_GOOD},
  [PAWL_STEP_PENDING] = {"pending", PAWL_COLOUR_WARN},
  [PAWL_STEP_DRIFTED] = {"drifted", PAWL_COLOUR_BAD},
  [PAWL_STEP_NEWER] = {"newer", PAWL_COLOUR_WARN},
  [PAWL_STEP_UNKNOWN] = {"unknown", PAWL_COLOUR_BAD},
};

/* Steps by state. */
typedef struct {
  guint n[PAWL_STEP_UNKNOWN + 1];
} Count;

static Count count_steps(const GPtrArray *steps) {
  Count count = {0};
  for (guint i = 0; i < steps->len; i++) count.n[((const PawlSchemaStep *)g_ptr_array_index(steps, i))->state]++;
  return count;
}

static int exit_code(const Count *count) {
  if (count->n[PAWL_STEP_DRIFTED] + count->n[PAWL_STEP_UNKNOWN] > 0) return PAWL_EXIT_CONFIG;
  return count->n[PAWL_STEP_PENDING] > 0 ? PAWL_EXIT_FAILED : PAWL_EXIT_OK;
}

static const char *verdict(const Count *count) {
  if (count->n[PAWL_STEP_DRIFTED] > 0) return "made by another build; use that one";
  if (count->n[PAWL_STEP_UNKNOWN] > 0) return "made by a newer pawl, which this one can't share it with; use that one";
  if (count->n[PAWL_STEP_PENDING] > 0) return "`pawl db migrate` brings it up to date";
  if (count->n[PAWL_STEP_NEWER] > 0) return "newer than this pawl, which may go on using it";
  return "up to date";
}

static json_t *json_step(const PawlSchemaStep *step, gboolean with_sql) {
  json_t *object = json_object();
  json_object_set_new(object, "number", json_integer(step->number));
  pawl_json_set_text(object, "name", step->name);
  pawl_json_set_text(object, "state", states[step->state].word);
  pawl_json_set_text(object, "digest", step->digest);
  pawl_json_set_text(object, "expected", step->mine);
  if (with_sql) pawl_json_set_text(object, "sql", step->sql);
  return object;
}

static json_t *json_steps(const GPtrArray *steps, gboolean pending_only, gboolean with_sql) {
  json_t *array = json_array();
  for (guint i = 0; i < steps->len; i++) {
    const PawlSchemaStep *step = g_ptr_array_index(steps, i);
    if (!pending_only || step->state == PAWL_STEP_PENDING) json_array_append_new(array, json_step(step, with_sql));
  }
  return array;
}

static void print_steps(PawlOut *out, const GPtrArray *steps, gboolean pending_only) {
  static const PawlColumn columns[] = {{"SCRIPT", FALSE, FALSE}, {"STATE", FALSE, FALSE}, {"", FALSE, FALSE}};
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < steps->len; i++) {
    const PawlSchemaStep *step = g_ptr_array_index(steps, i);
    if (pending_only && step->state != PAWL_STEP_PENDING) continue;
    pawl_table_cellf(table, PAWL_COLOUR_BOLD, "%04d_%s", step->number, step->name);
    pawl_table_cell(table, states[step->state].colour, states[step->state].word);
    if (step->state == PAWL_STEP_DRIFTED)
      pawl_table_cellf(table, PAWL_COLOUR_NONE, "its text was %.12s, this pawl's is %.12s", step->digest, step->mine);
    else
      pawl_table_cell(table, PAWL_COLOUR_NONE, NULL);
  }
  pawl_table_print(table, out);
}

/* `ret_url` without a password. A store that is not there yet has no steps. */
static gboolean read_steps(const char *url, GPtrArray *steps, char **ret_url, GError **error) {
  GError *why = NULL;
  if (pawl_schema_read(url, steps, ret_url, &why)) return TRUE;
  if (why->code == PAWL_ERROR_NOT_FOUND) {
    why->code = PAWL_ERROR_UNAVAILABLE;
    g_prefix_error(&why, "`pawl db migrate` makes it: ");
  }
  g_propagate_error(error, why);
  return FALSE;
}

static int status(PawlCall *call, const char *url, GError **error) {
  g_autofree char *shown = NULL;
  g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_schema_step_free);
  if (!read_steps(url, steps, &shown, error)) return PAWL_EXIT_FAILED;
  Count count = count_steps(steps);
  int code = exit_code(&count);
  if (pawl_out_json_wanted(call->out)) {
    json_t *object = json_object();
    pawl_json_set_text(object, "store", shown);
    json_object_set_new(object, "usable", json_boolean(code == PAWL_EXIT_OK));
    pawl_json_set_text(object, "verdict", verdict(&count));
    json_object_set_new(object, "scripts", json_steps(steps, FALSE, FALSE));
    pawl_out_json(call->out, object);
    return code;
  }
  pawl_card_line(call->out, "store", PAWL_COLOUR_NONE, shown);
  pawl_card_line(call->out, "schema", code == PAWL_EXIT_OK ? PAWL_COLOUR_GOOD : PAWL_COLOUR_BAD, verdict(&count));
  pawl_out_text(call->out, "\n");
  print_steps(call->out, steps, FALSE);
  return code;
}

static int plan(PawlCall *call, const char *url, GError **error) {
  const DbOptions *given = call->options;
  g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_schema_step_free);
  if (!read_steps(url, steps, NULL, error)) return PAWL_EXIT_FAILED;
  Count count = count_steps(steps);
  int code = exit_code(&count) == PAWL_EXIT_CONFIG ? PAWL_EXIT_CONFIG : PAWL_EXIT_OK;
  if (code != PAWL_EXIT_OK) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "nothing would be run: the schema was %s; see `pawl db status`", verdict(&count));
    return code;
  }
  if (pawl_out_json_wanted(call->out)) {
    pawl_out_json(call->out, json_steps(steps, TRUE, given->sql));
    return code;
  }
  if (count.n[PAWL_STEP_PENDING] == 0)
    pawl_out_note(call->out, "nothing to do: %s", verdict(&count));
  else if (!given->sql)
    print_steps(call->out, steps, TRUE);
  for (guint i = 0; given->sql && i < steps->len; i++) {
    const PawlSchemaStep *step = g_ptr_array_index(steps, i);
    if (step->state == PAWL_STEP_PENDING) pawl_out_bytes(call->out, step->sql, strlen(step->sql));
  }
  return code;
}

static int migrate(PawlCall *call, const char *url, GError **error) {
  guint ran = 0;
  if (!pawl_schema_migrate(url, &ran, error)) return PAWL_EXIT_FAILED;
  if (pawl_out_json_wanted(call->out)) {
    json_t *object = json_object();
    json_object_set_new(object, "ran", json_integer(ran));
    pawl_out_json(call->out, object);
  } else if (ran == 0)
    pawl_out_text(call->out, "nothing to do: the schema is up to date\n");
  else
    pawl_out_text(call->out, "ran %u script%s; the schema is up to date\n", ran, ran == 1 ? "" : "s");
  return PAWL_EXIT_OK;
}

/* ---- roles ---- */

static const struct {
  const char *kind, *use;
} kinds[] = {
  {"admin", "publishes and edits: apply, pause, delete, pools"},
  {"runtime", "pawl up: schedules, dispatches, recovers, keeps history"},
  {"ingress", "serves remote workers"},
  {"viewer", "reads: status, list, runs, explain, dashboards"},
  {"enqueue", "calls pawl.enqueue, pawl.cancel and pawl.retry in SQL, and nothing else"},
};

static int list_kinds(PawlCall *call) {
  static const PawlColumn columns[] = {{"KIND", FALSE, FALSE}, {"FOR", FALSE, FALSE}};
  if (pawl_out_json_wanted(call->out)) {
    json_t *array = json_array();
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
      json_t *object = json_object();
      pawl_json_set_text(object, "kind", kinds[i].kind);
      pawl_json_set_text(object, "for", kinds[i].use);
      json_array_append_new(array, object);
    }
    pawl_out_json(call->out, array);
    return PAWL_EXIT_OK;
  }
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    pawl_table_cell(table, PAWL_COLOUR_BOLD, kinds[i].kind);
    pawl_table_cell(table, PAWL_COLOUR_NONE, kinds[i].use);
  }
  pawl_table_print(table, call->out);
  return PAWL_EXIT_OK;
}

static gboolean kind_known(const char *kind) {
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (strcmp(kinds[i].kind, kind) == 0) return TRUE;
  return FALSE;
}

/* What somebody with the right to do so would run: on standard output, so that it can be piped into psql. That it cannot be had is the
 * lesser trouble: the error that led here is told. */
static void print_sql(PawlOut *out, const char *url, const char *kind, const char *role, gboolean make) {
  g_autofree char *sql = NULL;
  if (!pawl_out_json_wanted(out) && pawl_schema_role_sql(url, kind, role, make, &sql, NULL)) pawl_out_text(out, "%s", sql);
}

static gboolean same_privilege(const PawlPrivilege *a, const PawlPrivilege *b) {
  return g_str_equal(a->object, b->object) && g_str_equal(a->privilege, b->privilege) && g_str_equal(a->difference, b->difference);
}

static gboolean stands_in(const GPtrArray *list, const PawlPrivilege *privilege) {
  for (guint i = 0; i < list->len; i++)
    if (same_privilege(g_ptr_array_index(list, i), privilege)) return TRUE;
  return FALSE;
}

/* What was there before and is no more was granted or taken. */
static void add_changes(GPtrArray *ret_changes, const GPtrArray *before, const GPtrArray *after) {
  for (guint i = 0; i < before->len; i++)
    if (!stands_in(after, g_ptr_array_index(before, i))) g_ptr_array_add(ret_changes, g_ptr_array_index(before, i));
}

static json_t *json_privileges(const GPtrArray *list) {
  json_t *array = json_array();
  for (guint i = 0; i < list->len; i++) {
    const PawlPrivilege *privilege = g_ptr_array_index(list, i);
    json_t *object = json_object();
    pawl_json_set_text(object, "object", privilege->object);
    pawl_json_set_text(object, "privilege", privilege->privilege);
    pawl_json_set_text(object, "difference", privilege->difference);
    json_array_append_new(array, object);
  }
  return array;
}

static void add_rows(PawlTable *table, const GPtrArray *list, const char *missing, const char *extra, PawlColour colour) {
  for (guint i = 0; i < list->len; i++) {
    const PawlPrivilege *privilege = g_ptr_array_index(list, i);
    pawl_table_cell(table, colour, strcmp(privilege->difference, "missing") == 0 ? missing : extra);
    pawl_table_cell(table, PAWL_COLOUR_BOLD, privilege->privilege);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "ON %s", privilege->object);
  }
}

static void print_grant(PawlOut *out, const char *kind, const char *role, const GPtrArray *changes, const GPtrArray *left) {
  static const PawlColumn columns[] = {{"", FALSE, FALSE}, {"PRIVILEGE", FALSE, FALSE}, {"", FALSE, FALSE}};
  if (pawl_out_json_wanted(out)) {
    json_t *object = json_object();
    pawl_json_set_text(object, "kind", kind);
    pawl_json_set_text(object, "role", role);
    json_object_set_new(object, "changed", json_privileges(changes));
    json_object_set_new(object, "differs", json_privileges(left));
    pawl_out_json(out, object);
    return;
  }
  if (changes->len + left->len > 0) {
    PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
    add_rows(table, changes, "granted", "taken", PAWL_COLOUR_GOOD);
    add_rows(table, left, "missing", "too much", PAWL_COLOUR_BAD);
    pawl_table_print(table, out);
  }
  if (left->len == 0) pawl_out_text(out, "%s has exactly the rights of a role of the kind %s\n", role, kind);
}

/* TRUE: there is such a role now. */
static gboolean have_role(PawlCall *call, const char *url, const char *kind, const char *role, GError **error) {
  const DbOptions *given = call->options;
  gboolean found = FALSE, make = given->create && !given->check;
  GError *why = NULL;
  if (pawl_schema_role_find(url, kind, role, make, &found, &why) && found) return TRUE;
  if (why != NULL && (!make || why->code != PAWL_ERROR_DENIED)) {
    g_propagate_error(error, why);
    return FALSE;
  }
  if (why == NULL)
    g_set_error(&why, PAWL_ERROR, PAWL_ERROR_DENIED, "there is no role '%s'; --create makes it, or whoever may runs what is printed", role);
  else
    g_prefix_error(&why, "the role is to be made by somebody else, with what is printed: ");
  print_sql(call->out, url, kind, role, TRUE);
  g_propagate_error(error, why);
  return FALSE;
}

static int grant(PawlCall *call, const char *url, GError **error) {
  const DbOptions *given = call->options;
  if (call->n_args == 1) return list_kinds(call);
  if (call->n_args != 3) return pawl_usage_error(call, error, "write `pawl db grant KIND ROLE`; `pawl db grant` lists the kinds");
  const char *kind = call->args[1], *role = call->args[2];
  if (!kind_known(kind)) return pawl_usage_error(call, error, "there is no kind of role '%.60s'; `pawl db grant` lists them", kind);
  g_autoptr(GPtrArray) before = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_privilege_free);
  g_autoptr(GPtrArray) after = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_privilege_free);
  g_autoptr(GPtrArray) changes = g_ptr_array_new();
  g_autoptr(GError) why = NULL;
  if (!have_role(call, url, kind, role, error) || !pawl_schema_role(url, kind, role, FALSE, before, error)) return PAWL_EXIT_FAILED;
  if (given->check) {
    print_grant(call->out, kind, role, changes, before);
    return before->len == 0 ? PAWL_EXIT_OK : PAWL_EXIT_FAILED;
  }
  if (!pawl_schema_role(url, kind, role, TRUE, after, &why)) {
    if (why->code == PAWL_ERROR_DENIED) print_sql(call->out, url, kind, role, FALSE);
    g_propagate_error(error, g_steal_pointer(&why));
    return PAWL_EXIT_FAILED;
  }
  add_changes(changes, before, after);
  print_grant(call->out, kind, role, changes, after);
  return PAWL_EXIT_OK;
}

static int run(PawlCall *call, GError **error) {
  static const struct {
    const char *name;
    guint max_args;
    int (*run)(PawlCall *call, const char *url, GError **error);
  } acts[] = {{"status", 1, status}, {"plan", 1, plan}, {"migrate", 1, migrate}, {"grant", 3, grant}};
  g_autofree char *url = NULL;
  const char *source;
  if (!pawl_settings_store(call->settings, &url, &source, error)) return PAWL_EXIT_USAGE;
  for (gsize i = 0; i < G_N_ELEMENTS(acts); i++)
    if (strcmp(acts[i].name, call->args[0]) == 0 && call->n_args <= acts[i].max_args) return acts[i].run(call, url, error);
  return pawl_usage_error(call, error, "write status, plan, migrate, or grant KIND ROLE after `pawl db`");
}

const PawlVerb pawl_verb_db = {
  .name = "db",
  .group = "Operate",
  .summary = "The schema of the store, and the database roles that use it",
  .synopsis = "status|plan|migrate|grant [KIND ROLE]",
  .description =
    "status: is the schema what this pawl needs (exit code 1: migrate has something to do, 78: another pawl made it). plan: what "
    "migrate would run. "
    "migrate: runs it, once, however many call it at the same time. grant: gives a role of PostgreSQL the rights of a kind and takes "
    "away what is "
    "too much, as the owner of the schema; without KIND and ROLE it lists the kinds. What you may not do yourself is printed as SQL, "
    "and the exit "
    "code is 77.",
  .json =
    "status {store, usable, verdict, scripts: [{number, name, state, digest, expected}]}; plan an array of scripts (with sql: --sql); "
    "migrate {ran}; "
    "grant {kind, role, changed: [{object, privilege, difference}], differs: [the same]}, without arguments an array of {kind, for}",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, DbOptions),
  .min_args = 1,
  .max_args = 3,
  .run = run,
};
