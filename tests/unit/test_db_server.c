/* SPDX-License-Identifier: Apache-2.0 */
#include "test_db_server.h"

#include <arpa/inet.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define BIN "/usr/lib/postgresql/15/bin/"

static char *folder;
static int port;
static GPid postmaster;

/* A socket on loopback at a port that the kernel chose. */
static int bound(int *ret_port) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(bind(fd, (struct sockaddr *)&at, n), ==, 0);
  g_assert_cmpint(getsockname(fd, (struct sockaddr *)&at, &n), ==, 0);
  *ret_port = ntohs(at.sin_port);
  return fd;
}

/* In the child. A server goes at once when the test goes, however that ends. */
static void as_server(gpointer user) {
  struct passwd *entry = user;
  if (entry != NULL && (setgid(entry->pw_gid) != 0 || setuid(entry->pw_uid) != 0)) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
}

static struct passwd *server_user(void) {
  if (geteuid() != 0) return NULL;
  struct passwd *entry = getpwnam("postgres");
  return entry != NULL ? entry : getpwnam("nobody");
}

static void run(const char *const *argv) {
  g_autoptr(GError) error = NULL;
  g_autofree char *err = NULL;
  int status = -1;
  g_spawn_sync("/", (char **)argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, as_server, server_user(), NULL, &err, &status, &error);
  if (error != NULL || status != 0) g_error("%s: %s %s (tools/deps.sh install test)", argv[0], error != NULL ? error->message : "", err);
}

void server_start(void) {
  if (folder != NULL) return;
  g_autoptr(GError) error = NULL;
  folder = g_dir_make_tmp("pawl-pg-XXXXXX", &error);
  g_assert_no_error(error);
  struct passwd *user = server_user();
  if (user != NULL) g_assert_cmpint(chown(folder, user->pw_uid, user->pw_gid), ==, 0);
  close(bound(&port));
  g_autofree char *data = g_build_filename(folder, "data", NULL);
  g_autofree char *number = g_strdup_printf("%d", port), *where = g_strdup_printf("host=%s port=%d user=postgres", folder, port);
  run((const char *[]){BIN "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", NULL});
  const char *const argv[] = {BIN "postgres", "-D", data, "-p", number, "-k", folder, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
    "-c", "max_connections=60", "-c", "logging_collector=off", NULL};
  g_spawn_async("/", (char **)argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, as_server,
    user, &postmaster, &error);
  g_assert_no_error(error);
  wait_until(PQping(where) == PQPING_OK);
}

void server_stop(void) {
  if (folder == NULL) return;
  kill(postmaster, SIGQUIT);
  child_wait(postmaster);
  remove_tree(folder);
  g_clear_pointer(&folder, g_free);
}

int server_port(void) { return port; }

char *server_ask(const char *database, const char *text) {
  g_autofree char *where = g_strdup_printf("host=%s port=%d user=postgres dbname=%s", folder, port, database);
  PGconn *conn = PQconnectdb(where);
  PGresult *result = PQexec(conn, text);
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) g_error("%s: %s", text, PQerrorMessage(conn));
  char *answer = PQntuples(result) > 0 && PQnfields(result) > 0 ? g_strdup(PQgetvalue(result, 0, 0)) : NULL;
  PQclear(result);
  PQfinish(conn);
  return answer;
}

void pg_place_make(PgPlace *place, gconstpointer data) {
  static int made;
  server_start();
  place->name = g_strdup_printf("place%d", ++made);
  g_autofree char *role = g_strdup_printf("CREATE ROLE %s LOGIN", place->name);
  g_autofree char *database = g_strdup_printf("CREATE DATABASE %s OWNER %s TEMPLATE template0", place->name, place->name);
  g_free(server_ask("postgres", role));
  g_free(server_ask("postgres", database));
  place->url = g_strdup_printf("postgresql://%s@127.0.0.1:%d/%s", place->name, port, place->name);
}

void pg_place_drop(PgPlace *place, gconstpointer data) {
  g_autofree char *drop = g_strdup_printf("DROP DATABASE %s WITH (FORCE)", place->name);
  g_free(server_ask("postgres", drop));
  g_free(place->name);
  g_free(place->url);
}

int stand_silent(void) {
  int at, fd = bound(&at);
  g_assert_cmpint(listen(fd, 16), ==, 0);
  return at;
}
