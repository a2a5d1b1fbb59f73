/* SPDX-License-Identifier: Apache-2.0 */
/* The build step that reads the SQL files: what it accepts, and that it names file and line of what it does not. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

typedef struct {
  char *folder;
} Tree;

static void put(Tree *tree, const char *path, const char *text) {
  g_autofree char *full = g_build_filename(tree->folder, path, NULL);
  g_autofree char *folder = g_path_get_dirname(full);
  g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
  g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

static void tree_make(Tree *tree, gconstpointer data) {
  tree->folder = g_dir_make_tmp("pawl-sql-XXXXXX", NULL);
  put(tree, "sqlite/statements/fine.sql",
    "-- SPDX-License-Identifier: Apache-2.0\n-- fine: a statement.\n-- and more about it\n-- params: a:int b:text?\n"
    "-- params: c_at_ms:int\n-- columns: x:id y:real?\nSELECT ?1, -- ?9 in a comment\n  'a ? b; --', \"x\"\"?\" /* ?8; */\nFROM t WHERE ?2 = ?3;\n");
  put(tree, "sqlite/migrations/0001_first.sql", "CREATE TABLE t (a);\n-- kept \"as it is\"\nSELECT 1;\n");
}

static void remove_tree(const char *folder) {
  GDir *dir = g_dir_open(folder, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name(dir)) != NULL;) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
      remove_tree(path);
    else
      g_unlink(path);
  }
  if (dir != NULL) g_dir_close(dir);
  g_rmdir(folder);
}

static void tree_drop(Tree *tree, gconstpointer data) {
  remove_tree(tree->folder);
  g_free(tree->folder);
}

static char *path_in(Tree *tree, const char *name) { return g_build_filename(tree->folder, name, NULL); }

/* Runs the tool. Returns what it wrote to stderr. */
static char *run(Tree *tree, gboolean *ret_ok) {
  g_autoptr(GError) error = NULL;
  g_autofree char *ids = path_in(tree, "ids.h"), *info = path_in(tree, "info.c"), *sqlite = path_in(tree, "sqlite.c"),
                  *deps = path_in(tree, "deps");
  char *argv[] = {(char *)"/usr/bin/python3", (char *)PAWL_SQL_TABLE, tree->folder, (char *)"--ids", ids, (char *)"--info", info,
    (char *)"--sqlite", sqlite, (char *)"--depfile", deps, NULL};
  char *says = NULL;
  int status;
  g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, &says, &status, &error);
  g_assert_no_error(error);
  *ret_ok = status == 0;
  return says;
}

static void accepted(Tree *tree) {
  gboolean ok;
  g_autofree char *says = run(tree, &ok);
  g_assert_cmpstr(says, ==, "");
  g_assert_true(ok);
}

/* `where` is what the message begins with behind the folder's name, "sqlite/statements/x.sql:3: ". */
static void refused(Tree *tree, const char *where, const char *what) {
  gboolean ok;
  g_autofree char *says = run(tree, &ok);
  g_autofree char *full = g_strconcat(tree->folder, "/", where, NULL);
  g_assert_false(ok);
  if (strstr(says, full) == NULL || strstr(strstr(says, full), what) == NULL) g_error("'%s' does not say '%s' and '%s'", says, full, what);
}

static char *read_out(Tree *tree, const char *name) {
  g_autofree char *path = path_in(tree, name);
  char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  return text;
}

static void has(Tree *tree, const char *name, const char *part) {
  g_autofree char *text = read_out(tree, name);
  if (strstr(text, part) == NULL) g_error("%s has no '%s':\n%s", name, part, text);
}

static void test_output(Tree *tree, gconstpointer data) {
  accepted(tree);
  has(tree, "ids.h", "  PAWL_SQL_FINE,\n  PAWL_SQL_COUNT\n} PawlSql;");
  has(tree, "info.c", "{\"fine\", \"iTi\", \"dR\",\n    \"a b c_at_ms\", \"x y\"}");
  has(tree, "sqlite.c", "\"SELECT \\?1, 'a \\? b; --', \\\"x\\\"\\\"\\?\\\" FROM t WHERE \\?2 = \\?3\",\n");
  has(tree, "sqlite.c", "{1, \"first\",\n    \"CREATE TABLE t (a);\\n\"\n    \"-- kept \\\"as it is\\\"\\n\"\n    \"SELECT 1;\\n\"}");
  has(tree, "deps", "/sqlite/statements "); /* the folder too: a new file changes it */
  has(tree, "deps", "/sqlite/statements/fine.sql");
  GStatBuf before, after;
  g_autofree char *ids = path_in(tree, "ids.h");
  g_assert_cmpint(g_stat(ids, &before), ==, 0);
  accepted(tree);
  g_assert_cmpint(g_stat(ids, &after), ==, 0);
  g_assert_true(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && before.st_mtim.tv_sec == after.st_mtim.tv_sec);
}

static void test_statements(Tree *tree, gconstpointer data) {
  static const struct {
    const char *text;
    int line;
    const char *what;
  } cases[] = {
    {"-- x: what.\n-- params: -\n-- columns: -\nDELETE FROM t", 4, "the ';' at the end is missing"},
    {"-- x: what.\n-- params: -\n-- columns: -\nDELETE FROM t;\nDELETE FROM u;", 5, "a second statement begins here"},
    {"-- x: what.\n-- params: -\n-- columns: -\n", 1, "there is no statement"},
    {"-- y: what.\n-- params: -\n-- columns: -\nDELETE FROM t;", 1, "the comment names y, the file x"},
    {"-- what.\n-- params: -\n-- columns: -\nDELETE FROM t;", 1, "the first comment must be '-- x: what it does'"},
    {"-- params: -\n-- columns: -\nDELETE FROM t;", 1, "'-- x: what it does' is missing"},
    {"-- x: what.\n-- columns: -\nDELETE FROM t;", 1, "'-- params:' is missing"},
    {"-- x: what.\n-- params: -\nDELETE FROM t;", 1, "'-- columns:' is missing"},
    {"-- x: what.\n-- params:\n-- columns: -\nDELETE FROM t;", 2, "'params:' says nothing; write - for none"},
    {"-- x: what.\n-- params: a:int b\n-- columns: -\nDELETE FROM t WHERE a = ?1;", 2, "'b' is no param: write name:type"},
    {"-- x: what.\n-- params: a:bool\n-- columns: -\nDELETE FROM t WHERE a = ?1;", 2, "'a:bool' is no param"},
    {"-- x: what.\n-- params: a:int a:int\n-- columns: -\nDELETE FROM t WHERE a = ?1 OR b = ?2;", 2, "the param a stands there twice"},
    {"-- x: what.\n-- params: a_at_ms:text\n-- columns: -\nDELETE FROM t WHERE a = ?1;", 2, "a_at_ms is an instant, so its type is int"},
    {"-- x: what.\n-- params: a:int b:int\n-- columns: -\nDELETE FROM t\nWHERE a = ?1;", 2,
      "parameter 2 (b) is declared, but ?2 is not used"},
    {"-- x: what.\n-- params: a:int\n-- columns: -\nDELETE FROM t\nWHERE a = ?1 OR a = ?2;", 5,
      "?2 is used, but 1 parameters are declared"},
    {"-- x: what.\n-- params: a:int\n-- columns: -\nDELETE FROM t\nWHERE a = ?;", 5, "'?': parameters are written ?1, ?2"},
    {"-- x: what.\n-- params: a:int\n-- columns: -\nDELETE FROM t\n\nWHERE a = :a;", 6, "':a': parameters are written ?1, ?2"},
    {"-- x: what.\n-- params: -\n-- columns: -\nPRAGMA user_version;", 4, "not with PRAGMA"},
    {"-- x: what.\n-- params: -\n-- columns: -\nSELECT 'abc;\n", 4, "a ' is not closed"},
    {"-- x: what.\n-- params: -\n-- columns: -\n\nSELECT /* 1;\n", 5, "a /* is not closed"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *where = g_strdup_printf("sqlite/statements/x.sql:%d: ", cases[i].line);
    put(tree, "sqlite/statements/x.sql", cases[i].text);
    refused(tree, where, cases[i].what);
  }
}

static void test_several_at_once(Tree *tree, gconstpointer data) {
  put(tree, "sqlite/statements/one.sql", "DELETE FROM t;\n");
  put(tree, "sqlite/statements/two.sql", "-- two: what.\n-- params: -\n-- columns: -\nBEGIN;\n");
  refused(tree, "sqlite/statements/one.sql:1: ", "'-- params:' is missing");
  refused(tree, "sqlite/statements/two.sql:4: ", "not with BEGIN");
  put(tree, "sqlite/statements/Bad-Name.sql", "");
  refused(tree, "sqlite/statements/Bad-Name.sql:1: ", "small letters");
}

static void test_migrations(Tree *tree, gconstpointer data) {
  put(tree, "sqlite/migrations/0003_third.sql", "SELECT 1;\n");
  refused(tree, "sqlite/migrations/0003_third.sql:1: ", "0002 is next");
  put(tree, "sqlite/migrations/0002_second.sql", "SELECT 1;\n");
  accepted(tree);
  put(tree, "sqlite/migrations/0003_again.sql", "SELECT 1;\n");
  refused(tree, "sqlite/migrations/0003_third.sql:1: ", "0004 is next");
  put(tree, "sqlite/migrations/4_x.sql", "SELECT 1;\n");
  refused(tree, "sqlite/migrations/4_x.sql:1: ", "NNNN_name.sql");
}

#define PG "postgres/statements/"

static void test_dialects(Tree *tree, gconstpointer data) {
  put(tree, PG "other.sql", "-- other: what.\n-- params: -\n-- columns: -\nDELETE FROM t;\n");
  refused(tree, "sqlite/statements/fine.sql:1: ", "fine is missing for the other engine");
  refused(tree, PG "other.sql:1: ", "other is missing for the other engine");
  put(tree, "sqlite/statements/other.sql", "-- other: what.\n-- params: -\n-- columns: -\nDELETE FROM t;\n");
  put(tree, PG "fine.sql",
    "-- fine: what.\n-- params: a:int b:text? c_at_ms:int\n-- columns: x:id y:real?\n"
    "SELECT $1::bigint, $$ ; $9 '$$, $q$ ; $8 $q$ /* a /* nested; */ ? */ FROM t WHERE $2 = $3;\n");
  accepted(tree);
  put(tree, PG "fine.sql",
    "-- fine: what.\n-- params: a:int b:text c_at_ms:int\n-- columns: x:id y:real?\nSELECT $1 FROM t WHERE $2 = $3;\n");
  refused(tree, PG "fine.sql:2: ", "the params differ from those in ");
  put(tree, PG "fine.sql", "-- fine: what.\n-- params: a:int b:text? c_at_ms:int\n-- columns: x:id\nSELECT $1 FROM t WHERE $2 = $3;\n");
  refused(tree, PG "fine.sql:3: ", "the columns differ from those in ");
  put(tree, PG "fine.sql",
    "-- fine: what.\n-- params: a:int b:text? c_at_ms:int\n-- columns: x:id y:real?\nSELECT $1 FROM t WHERE $2 = $3;\n");
  put(tree, PG "lock.sql", "-- lock: what.\n-- params: a:id\n-- columns: -\n-- only: postgres\nSELECT 1 FROM t WHERE a = $1 FOR UPDATE;\n");
  accepted(tree);
  put(tree, "sqlite/statements/lock.sql", "-- lock: what.\n-- params: a:id\n-- columns: -\nSELECT 1 FROM t WHERE a = ?1;\n");
  refused(tree, PG "lock.sql:1: ", "lock is there for the other engine too");
  put(tree, "sqlite/statements/mine.sql", "-- mine: what.\n-- params: -\n-- columns: -\n-- only: postgres\nSELECT 1;\n");
  refused(tree, "sqlite/statements/mine.sql:4: ", "stands in a file of sqlite");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/db/sql-table/" name, Tree, NULL, tree_make, function, tree_drop)
  ADD("output", test_output);
  ADD("statements", test_statements);
  ADD("several-at-once", test_several_at_once);
  ADD("migrations", test_migrations);
  ADD("dialects", test_dialects);
  return g_test_run();
}
