/* SPDX-License-Identifier: Apache-2.0 */
/* What is opened, what is refused, and what an opened store looks like. */
#include "db/sqlite_private.h"
#include "test_db.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Opening `url` fails with `code` and says `text`. */
static void refused(const char *url, PawlDbMode mode, gboolean create, int code, const char *text) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = pawl_db_open(&(PawlDbOptions){.url = url, .mode = mode, .create = create, .busy_ms = 2000}, &error);
  g_assert_null(db);
  assert_error(error, code, text);
}

static void test_urls(Place *place, gconstpointer data) {
  refused(NULL, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "write sqlite:PATH");
  refused("", PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "write sqlite:PATH");
  refused("/var/lib/pawl.db", PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "'/var/lib/pawl.db' is no database URL");
  refused("mysql://u:hunter2@h/x", PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "'mysql:' is no database that pawl knows");
  g_setenv("PAWL_MODULE_PATH", "/nowhere", TRUE);
  refused("postgresql://u:hunter2@h/x", PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG,
    "the postgres module cannot be loaded (/nowhere/pawl-postgres.so");
  refused("sqlite:", PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "the path is missing");
  refused("sqlite::memory:", PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "would lose everything");
  refused("sqlite://host/x", PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "no host");
  refused("sqlite:some/where/", PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "names a folder");
  g_autofree char *three = g_strconcat("sqlite://", place->path, NULL);
  PawlDb *db = open_made(three);
  g_assert_cmpstr(pawl_db_url(db), ==, three);
  g_assert_cmpstr(pawl_db_engine(db), ==, "sqlite");
  g_assert_true(g_str_has_prefix(pawl_db_version(db), "SQLite 3."));
  pawl_db_close(db);
  pawl_db_close(NULL);
}

static guint mode_of(const char *path) {
  struct stat st;
  g_assert_cmpint(stat(path, &st), ==, 0);
  return st.st_mode & 07777;
}

static gint64 pragma(PawlDb *db, const char *name) {
  sqlite3_stmt *stmt;
  g_autofree char *text = g_strconcat("PRAGMA ", name, NULL);
  g_assert_cmpint(sqlite3_prepare_v2(((PawlSqlite *)db)->handle, text, -1, &stmt, NULL), ==, SQLITE_OK);
  g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
  gint64 value = sqlite3_column_int64(stmt, 0);
  sqlite3_finalize(stmt);
  return value;
}

static void test_made(Place *place, gconstpointer data) {
  g_autofree char *folder = g_build_filename(place->folder, "deep", "er", NULL);
  g_autofree char *url = g_strconcat("sqlite:", folder, "/p?a%20w&l.db", NULL);
  g_autofree char *path = g_strdup(url + strlen("sqlite:"));
  g_autofree char *wal = g_strconcat(path, "-wal", NULL);
  refused(url, PAWL_DB_READ_WRITE, FALSE, PAWL_ERROR_NOT_FOUND, path);
  refused(url, PAWL_DB_READ_ONLY, TRUE, PAWL_ERROR_NOT_FOUND, path);
  g_assert_false(g_file_test(folder, G_FILE_TEST_EXISTS));
  PawlDb *db = open_made(url);
  g_assert_cmpint(mode_of(folder), ==, 0700);
  g_assert_cmpint(mode_of(path), ==, 0600);
  g_assert_cmpint(mode_of(wal), ==, 0600);
  static const struct {
    const char *name;
    gint64 value;
  } settings[] = {{"synchronous", 2}, {"foreign_keys", 1}, {"trusted_schema", 0}, {"cell_size_check", 1}, {"temp_store", 2},
    {"cache_size", -512}, {"mmap_size", 0}, {"application_id", PAWL_SQLITE_APPLICATION_ID}, {"secure_delete", 2},
    {"journal_size_limit", 8388608}, {"wal_autocheckpoint", 1000}};
  for (gsize i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_test_message("%s", settings[i].name);
    if (!g_str_equal(settings[i].name, "mmap_size")) g_assert_cmpint(pragma(db, settings[i].name), ==, settings[i].value);
  }
  pawl_db_close(db);
  g_assert_false(g_file_test(wal, G_FILE_TEST_EXISTS)); /* the last one out tidies up */
}

static void test_umask(Place *place, gconstpointer data) {
  mode_t before = umask(0);
  PawlDb *db = open_made(place->url);
  g_assert_cmpint(mode_of(place->path), ==, 0600); /* never more, whatever the umask allows */
  pawl_db_close(db);
  umask(0117);
  g_unlink(place->path);
  db = open_made(place->url);
  umask(before);
  g_assert_cmpint(mode_of(place->path), ==, 0600);
  pawl_db_close(db);
}

/* "Settings" given with the call. */
static void test_options(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = pawl_db_open(&(PawlDbOptions){.url = place->url, .create = TRUE, .cache_kib = 100, .busy_ms = 1}, &error);
  g_assert_no_error(error);
  g_assert_cmpint(pragma(db, "cache_size"), ==, -100);
  pawl_db_close(db);
}

static void run_sql(const char *path, const char *sql) {
  sqlite3 *handle;
  g_assert_cmpint(sqlite3_open(path, &handle), ==, SQLITE_OK);
  g_assert_cmpint(sqlite3_exec(handle, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close(handle);
}

static char *digest(const char *path) {
  g_autofree char *text = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(path, &text, &n, NULL));
  return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (guchar *)text, n);
}

/* A store of another program is left exactly as it is. */
static void test_other_programs(Place *place, gconstpointer data) {
  static const struct {
    const char *sql, *says;
  } cases[] = {
    {"CREATE TABLE photos (name)", "another program (application id 0"},
    {"PRAGMA application_id = 1196444487; CREATE TABLE photos (name)", "(application id 1196444487 \"GPKG\")"},
    {"PRAGMA application_id = 7", "(application id 7 \"....\")"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    run_sql(place->path, cases[i].sql);
    g_autofree char *before = digest(place->path);
    refused(place->url, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, cases[i].says);
    refused(place->url, PAWL_DB_READ_ONLY, FALSE, PAWL_ERROR_CONFIG, place->path);
    g_autofree char *after = digest(place->path);
    g_assert_cmpstr(before, ==, after);
    g_unlink(place->path);
  }
}

static void test_not_a_store(Place *place, gconstpointer data) {
  g_autofree char *folder_url = g_strconcat("sqlite:", place->folder, NULL);
  refused(folder_url, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "that is a folder; name a file in it");
  refused("sqlite:/dev/null", PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "that is no regular file");

  g_autofree char *text = g_strnfill(5000, 'x');
  g_assert_true(g_file_set_contents(place->path, text, -1, NULL));
  refused(place->url, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "name another file");
  refused(place->url, PAWL_DB_READ_ONLY, FALSE, PAWL_ERROR_CONFIG, place->path);
  g_autofree char *left = NULL;
  g_assert_true(g_file_get_contents(place->path, &left, NULL, NULL));
  g_assert_cmpstr(left, ==, text);

  g_assert_true(g_file_set_contents(place->path, "", 0, NULL));
  refused(place->url, PAWL_DB_READ_WRITE, FALSE, PAWL_ERROR_NOT_FOUND, "the file is empty");
  refused(place->url, PAWL_DB_READ_ONLY, FALSE, PAWL_ERROR_NOT_FOUND, "the file is empty");
  pawl_db_close(open_made(place->url));

  g_autofree char *beneath = g_strconcat(place->url, "/x.db", NULL);
  refused(beneath, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_UNAVAILABLE, "Not a directory");
}

static void test_links(Place *place, gconstpointer data) {
  g_autofree char *link_path = g_build_filename(place->folder, "link.db", NULL);
  g_autofree char *link_url = g_strconcat("sqlite:", link_path, NULL);
  PawlDb *db = open_made(place->url);
  g_assert_cmpint(symlink("pawl.db", link_path), ==, 0);
  PawlDb *same = open_again(link_url);
  g_assert_true(((PawlSqlite *)same)->line == ((PawlSqlite *)db)->line);
  g_assert_cmpstr(((PawlSqlite *)same)->path, ==, ((PawlSqlite *)db)->path);
  pawl_db_close(same);
  g_unlink(link_path);
  g_assert_cmpint(link(place->path, link_path), ==, 0);
  refused(link_url, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "several hard links");
  g_unlink(link_path);
  g_assert_cmpint(symlink("nowhere.db", link_path), ==, 0);
  refused(link_url, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_UNAVAILABLE, "No such file");
  pawl_db_close(db);
}

static void test_not_allowed(Place *place, gconstpointer data) {
  if (geteuid() == 0) {
    g_test_skip("root may read and write everything");
    return;
  }
  pawl_db_close(open_made(place->url));
  g_chmod(place->path, 0);
  refused(place->url, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_UNAVAILABLE, "this user may not read and write it: Permission denied");
  g_chmod(place->path, 0400);
  refused(place->url, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_UNAVAILABLE, "this user may not read and write it");
  g_chmod(place->path, 0600);
  g_chmod(place->folder, 0500);
  refused(place->url, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_UNAVAILABLE, "this user may not write its folder");
  g_chmod(place->folder, 0700);
}

static void test_read_only(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *writer = open_made(place->url);
  exec(writer, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text("a"), PAWL_INT(1)));
  PawlDb *reader = pawl_db_open(&(PawlDbOptions){.url = place->url, .mode = PAWL_DB_READ_ONLY, .create = TRUE}, &error);
  g_assert_no_error(error);
  for (int i = 0; i < 3; i++) {
    g_assert_cmpint(read_one(reader, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("a"))), ==, 1 + i);
    exec(writer, PAWL_SQL_COUNTER_ADD, PAWL_ROW(pawl_text("a"), PAWL_INT(1)));
  }
  g_assert_false(pawl_db_begin(reader, PAWL_TX_WRITE, &error));
  assert_error(error, PAWL_ERROR_INTERNAL, "opened for reading only");
  g_clear_error(&error);
  g_assert_false(pawl_db_exec(reader, PAWL_SQL_COUNTER_ADD, NULL, &error, PAWL_ROW(pawl_text("a"), PAWL_INT(1))));
  assert_error(error, PAWL_ERROR_UNAVAILABLE, "readonly");
  g_clear_error(&error);
  begin(writer, PAWL_TX_WRITE); /* a writer at work disturbs no reader */
  exec(writer, PAWL_SQL_COUNTER_ADD, PAWL_ROW(pawl_text("a"), PAWL_INT(1)));
  g_assert_cmpint(read_one(reader, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("a"))), ==, 4);
  commit(writer);
  pawl_db_close(writer);
  g_assert_cmpint(read_one(reader, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("a"))), ==, 5);
  pawl_db_close(reader);
}

/* The writer is gone, cleanly or not. */
static void test_read_only_alone(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_autofree char *wal = g_strconcat(place->path, "-wal", NULL);
  PawlDb *writer = open_made(place->url);
  exec(writer, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text("a"), PAWL_INT(1)));
  g_autofree char *log = NULL;
  gsize n_log;
  g_assert_true(g_file_get_contents(wal, &log, &n_log, NULL));
  g_autofree char *copy_path = g_build_filename(place->folder, "copy.db", NULL);
  g_autofree char *copy_wal = g_strconcat(copy_path, "-wal", NULL);
  g_autofree char *copy_url = g_strconcat("sqlite:", copy_path, NULL);
  g_autofree char *file = NULL;
  gsize n_file;
  g_assert_true(g_file_get_contents(place->path, &file, &n_file, NULL)); /* as a crash leaves it: everything is in the log */
  g_assert_true(g_file_set_contents(copy_path, file, (gssize)n_file, NULL));
  g_assert_true(g_file_set_contents(copy_wal, log, (gssize)n_log, NULL));
  pawl_db_close(writer);
  const char *urls[] = {place->url, copy_url};
  for (int i = 0; i < 2; i++) {
    PawlDb *reader = pawl_db_open(&(PawlDbOptions){.url = urls[i], .mode = PAWL_DB_READ_ONLY}, &error);
    g_assert_no_error(error);
    g_assert_cmpint(read_one(reader, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("a"))), ==, 1);
    pawl_db_close(reader);
  }
  GDir *dir = g_dir_open(place->folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;) g_test_message("left behind: %s", name);
  g_dir_close(dir);
}

static void test_network(Place *place, gconstpointer data) {
  g_assert_cmpstr(pawl_sqlite_network_fs(0x6969), ==, "NFS");
  g_assert_cmpstr(pawl_sqlite_network_fs((guint64)(gint64)(gint32)0xff534d42), ==, "CIFS"); /* f_type is signed on some machines */
  g_assert_cmpstr(pawl_sqlite_network_fs(0xfe534d42), ==, "SMB2");
  g_assert_cmpstr(pawl_sqlite_network_fs(0x01021997), ==, "9P");
  g_assert_null(pawl_sqlite_network_fs(0xef53));     /* ext4 */
  g_assert_null(pawl_sqlite_network_fs(0x01021994)); /* tmpfs */
  g_assert_true(pawl_sqlite_network_fs_word("fuse.sshfs"));
  g_assert_true(pawl_sqlite_network_fs_word("fuse.glusterfs"));
  g_assert_false(pawl_sqlite_network_fs_word("fuse.fuse-overlayfs"));
#ifdef PAWL_FAULTS
  g_autofree char *folder = g_build_filename(place->folder, "new", NULL);
  g_autofree char *url = g_strconcat("sqlite:", folder, "/pawl.db", NULL);
  g_setenv("PAWL_FAULT", "db.network_fs:1:error", TRUE);
  refused(url, PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "network file system (NFS)");
  g_unsetenv("PAWL_FAULT");
  g_assert_false(g_file_test(folder, G_FILE_TEST_EXISTS)); /* asked before anything was made */
#endif
}

static gpointer open_thread(gpointer url) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_url(url, TRUE, &error);
  g_assert_no_error(error);
  return db;
}

/* Several at once make one store. */
static void test_made_by_many(Place *place, gconstpointer data) {
  for (int round = 0; round < 10; round++) {
    g_autofree char *url = g_strdup_printf("%s%d", place->url, round);
    GThread *threads[6];
    for (int i = 0; i < 6; i++) threads[i] = g_thread_new("open", open_thread, url);
    for (int i = 0; i < 6; i++) pawl_db_close(g_thread_join(threads[i]));
    pawl_db_close(open_again(url));
  }
}

/* What was open stays usable or fails loudly when the file is taken away. */
static void test_moved_away(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  g_autofree char *elsewhere = g_strconcat(place->path, ".moved", NULL);
  g_assert_cmpint(g_rename(place->path, elsewhere), ==, 0);
  g_assert_false(pawl_db_exec(db, PAWL_SQL_COUNTER_SET, NULL, &error, PAWL_ROW(pawl_text("a"), PAWL_INT(1))));
  assert_error(error, PAWL_ERROR_UNAVAILABLE, "moved, deleted or replaced");
  pawl_db_close(db);
}

static void test_damaged(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  g_autofree char *blob = g_malloc0(100000);
  exec(db, PAWL_SQL_STEP_ADD, PAWL_ROW(PAWL_INT(1), PAWL_INT(1), pawl_blob(blob, 100000)));
  pawl_db_close(db);
  g_autofree char *text = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(place->path, &text, &n, NULL));
  memset(text + 4096, 0x5a, n - 4096);
  g_assert_true(g_file_set_contents(place->path, text, (gssize)n, NULL));
  db = open_again(place->url);
  g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_STEP_LIST, &error, PAWL_NO_PARAMS);
  if (rows != NULL) g_assert_false(pawl_rows_next(rows, &error));
  assert_error(error, PAWL_ERROR_INTERNAL, "step_list: database disk image is malformed");
  g_assert_nonnull(strstr(error->message, "restore a backup"));
  pawl_rows_close(g_steal_pointer(&rows));
  pawl_db_close(db);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/db/open/" name, Place, NULL, place_make, function, place_drop)
  ADD("urls", test_urls);
  ADD("made", test_made);
  ADD("umask", test_umask);
  ADD("options", test_options);
  ADD("other-programs", test_other_programs);
  ADD("not-a-store", test_not_a_store);
  ADD("links", test_links);
  ADD("not-allowed", test_not_allowed);
  ADD("read-only", test_read_only);
  ADD("read-only-alone", test_read_only_alone);
  ADD("network", test_network);
  ADD("made-by-many", test_made_by_many);
  ADD("moved-away", test_moved_away);
  ADD("damaged", test_damaged);
  return g_test_run();
}
