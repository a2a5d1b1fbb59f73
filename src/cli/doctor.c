/* SPDX-License-Identifier: Apache-2.0 */
/* pawl doctor: the store's own checks, and pawl's surroundings. */
#include "base/error.h"
#include "cli/runner_path.h"
#include "cli/shapes.h"
#include "cli/verbs.h"
#include "store/schema.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAGIC_CIFS 0xFF534D42u
#define MAGIC_CEPH 0x00C36400u
#define MAGIC_9P 0x01021997u

typedef struct {
  char **roles;
} DoctorOptions;

static const PawlOption options[] = {
  {"role", 0, PAWL_OPTION_TEXTS, offsetof(DoctorOptions, roles), "KIND=ROLE", "Has this role exactly the rights of its kind; repeatable", 0,
    0, 0},
};
static const PawlExample examples[] = {
  {"pawl doctor", "is the store whole, and can pawl work here"},
  {"pawl doctor --json", "for monitoring; exit code 1 when a check fails"},
  {"pawl doctor --role runtime=pawl_runtime --role viewer=grafana", "the rights of roles of PostgreSQL too"},
};

static void add(GPtrArray *checks, const char *name, gboolean ok, const char *fix, const char *format, ...) G_GNUC_PRINTF(5, 6);
static void add(GPtrArray *checks, const char *name, gboolean ok, const char *fix, const char *format, ...) {
  PawlCheck *check = g_new0(PawlCheck, 1);
  va_list args;
  va_start(args, format);
  check->text = g_strdup_vprintf(format, args);
  va_end(args);
  check->name = g_strdup(name);
  check->ok = ok;
  check->fix = ok ? NULL : g_strdup(fix);
  g_ptr_array_add(checks, check);
}

static void check_runner(GPtrArray *checks) {
  g_autofree char *path = pawl_runner_path();
  gboolean ok = access(path, X_OK) == 0;
  add(checks, "runner", ok, "install pawl again: pawl-runner belongs beside pawl or into ../libexec/pawl", "%s%s%s", path, ok ? "" : ": ",
    ok ? "" : g_strerror(errno));
}

static gboolean is_network(const struct statfs *fs) {
  static const guint32 network[] = {
    NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, 0xFE534D42u /* SMB2 */, MAGIC_CIFS, AFS_SUPER_MAGIC, MAGIC_CEPH, MAGIC_9P};
  for (gsize i = 0; i < G_N_ELEMENTS(network); i++)
    if ((guint32)fs->f_type == network[i]) return TRUE;
  return FALSE;
}

static void check_folder(GPtrArray *checks, const char *url) {
  struct statfs kind;
  if (!g_str_has_prefix(url, "sqlite:")) return;
  g_autofree char *folder = g_path_get_dirname(url + strlen("sqlite:"));
  if (statfs(folder, &kind) != 0) {
    add(checks, "store folder", FALSE, "make it, or name another store with --store", "%s: %s", folder, g_strerror(errno));
    return;
  }
  if (is_network(&kind))
    add(checks, "store folder", FALSE, "put the store on a local disk", "%s is on a network file system, where locks can't be relied on",
      folder);
  else if (access(folder, W_OK) != 0)
    add(checks, "store folder", FALSE, "make it writable for this user", "%s: %s", folder, g_strerror(errno));
  else
    add(checks, "store folder", TRUE, NULL, "%s is on a local file system", folder);
}

/* Whether anything fires: no fault of the store's, so it never fails. */
static void check_process(GPtrArray *checks, PawlStore *store) {
  gint64 pid = pawl_db_holder(pawl_store_db(store));
  if (pawl_store_shared(store)) return; /* `replicas` says it */
  if (pid != 0)
    add(checks, "process", TRUE, NULL, "pawl up is running, pid %" G_GINT64_FORMAT, pid);
  else
    add(checks, "process", TRUE, NULL, "pawl up is not running; nothing is started until it does");
}

/* "KIND=ROLE" each. */
static gboolean check_roles(PawlCall *call, const char *url, GPtrArray *checks, GError **error) {
  const DoctorOptions *given = call->options;
  for (gsize i = 0; given->roles != NULL && given->roles[i] != NULL; i++) {
    g_auto(GStrv) parts = g_strsplit(given->roles[i], "=", 2);
    g_autoptr(GPtrArray) differs = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_privilege_free);
    if (g_strv_length(parts) != 2) {
      pawl_usage_error(call, error, "--role '%.60s': write KIND=ROLE", given->roles[i]);
      return FALSE;
    }
    if (!pawl_schema_role(url, parts[0], parts[1], FALSE, differs, error)) return FALSE;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint j = 0; j < differs->len; j++) {
      const PawlPrivilege *p = g_ptr_array_index(differs, j);
      g_string_append_printf(text, "%s%s %s ON %s", j > 0 ? ", " : "", p->difference, p->privilege, p->object);
    }
    g_autofree char *fix = g_strdup_printf("`pawl db grant %s %s` as the owner of the schema", parts[0], parts[1]);
    add(checks, "role", differs->len == 0, fix, "%s (%s): %s", parts[1], parts[0], differs->len > 0 ? text->str : "exactly its rights");
  }
  return TRUE;
}

static json_t *json_checks(const GPtrArray *checks, gboolean ok) {
  json_t *object = json_object(), *array = json_array();
  for (guint i = 0; i < checks->len; i++) {
    const PawlCheck *check = g_ptr_array_index(checks, i);
    json_t *row = json_object();
    pawl_json_set_text(row, "name", check->name);
    json_object_set_new(row, "ok", json_boolean(check->ok));
    pawl_json_set_text(row, "text", check->text);
    pawl_json_set_text(row, "fix", check->fix);
    json_array_append_new(array, row);
  }
  json_object_set_new(object, "ok", json_boolean(ok));
  json_object_set_new(object, "checks", array);
  return object;
}

static void print_checks(PawlOut *out, const GPtrArray *checks) {
  static const PawlColumn columns[] = {{"", FALSE, FALSE}, {"CHECK", FALSE, FALSE}, {"", FALSE, FALSE}};
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < checks->len; i++) {
    const PawlCheck *check = g_ptr_array_index(checks, i);
    pawl_table_cell(table, check->ok ? PAWL_COLOUR_GOOD : PAWL_COLOUR_BAD, check->ok ? "ok" : "BAD");
    pawl_table_cell(table, PAWL_COLOUR_BOLD, check->name);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%s%s%s", check->text, check->fix != NULL ? "; " : "", check->fix != NULL ? check->fix : "");
  }
  pawl_table_print(table, out);
}

static int run(PawlCall *call, GError **error) {
  g_autoptr(GPtrArray) checks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_check_free);
  g_autofree char *url = NULL;
  g_autoptr(GError) why = NULL;
  const char *source;
  gboolean ok = TRUE;
  if (!pawl_settings_store(call->settings, &url, &source, error)) return PAWL_EXIT_USAGE;
  check_runner(checks);
  check_folder(checks, url);
  pawl_out_progress(call->out, "checking the store");
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_ONLY, &why);
  if (store != NULL) check_process(checks, store);
  if (store != NULL && !pawl_store_doctor(store, checks, &why)) pawl_store_close(g_steal_pointer(&store));
  if (store != NULL && !check_roles(call, url, checks, error)) return PAWL_EXIT_FAILED;
  pawl_out_progress_end(call->out);
  for (guint i = 0; i < checks->len; i++) ok = ok && ((const PawlCheck *)g_ptr_array_index(checks, i))->ok;
  if (store == NULL) {
    add(checks, "store", FALSE, NULL, "%s", why->message);
    ok = FALSE;
  }
  if (pawl_out_json_wanted(call->out))
    pawl_out_json(call->out, json_checks(checks, ok));
  else
    print_checks(call->out, checks);
  if (store == NULL && !pawl_out_json_wanted(call->out)) g_propagate_error(error, g_steal_pointer(&why));
  if (store == NULL && why != NULL) return pawl_error_info_of(why)->exit_code;
  return ok ? PAWL_EXIT_OK : PAWL_EXIT_FAILED;
}

const PawlVerb pawl_verb_doctor = {
  .name = "doctor",
  .group = "Operate",
  .summary = "Check the store and pawl's surroundings",
  .synopsis = "",
  .description = "Reads all history, so it takes a while on a big store. Exit code 1 when a check fails.",
  .json = "{ok, checks: [{name, ok, text, fix}]}",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, DoctorOptions),
  .run = run,
};
