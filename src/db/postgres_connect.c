/* SPDX-License-Identifier: Apache-2.0 */
/* Connecting under a deadline, and what the server is. The deadline bounds everything but the lookup of host names, which libpq leaves to
 * the system's resolver (bounded by resolv.conf: 5 s a try by default). Where several hosts are named each has its share of the deadline, so
 * that one that is silent does not keep pawl from the next. */
#include "base/error.h"
#include "db/postgres_private.h"

#include <string.h>

#define MIN_VERSION 150000
#define DEFAULT_MS 5000
#define STATEMENT_MS 30000

PawlPg *pawl_pg_new(const PawlDbOptions *options) {
  PawlPg *pg = g_new0(PawlPg, 1);
  pg->url = g_strdup(options->url);
  pg->application = g_strdup(options->application != NULL ? options->application : "pawl");
  pg->synchronous_commit = g_strdup(options->synchronous_commit != NULL ? options->synchronous_commit : "on");
  pg->options = *options;
  pg->options.url = pg->url;
  if (pg->options.connect_ms <= 0) pg->options.connect_ms = DEFAULT_MS;
  if (pg->options.busy_ms <= 0) pg->options.busy_ms = DEFAULT_MS;
  if (pg->options.idle_ms <= 0) pg->options.idle_ms = DEFAULT_MS;
  if (pg->options.statement_ms <= 0) pg->options.statement_ms = STATEMENT_MS;
  pg->base.engine = &pawl_postgres_engine;
  pg->base.mode = options->mode;
  return pg;
}

void pawl_pg_disconnect(PawlPg *pg) { g_clear_pointer(&pg->conn, PQfinish); }

void pawl_pg_free(PawlPg *pg) {
  pawl_pg_rows_end_all(pg);
  pawl_pg_disconnect(pg);
  g_free(pg->url);
  g_free(pg->application);
  g_free(pg->synchronous_commit);
  g_clear_pointer(&pg->ghosts, g_array_unref);
  g_free(pg->base.url);
  g_free(pg);
}

static PQconninfoOption *parse_url(const char *url, GError **error) {
  char *why = NULL;
  PQconninfoOption *parsed = PQconninfoParse(url, &why);
  if (parsed != NULL) return parsed;
  g_strdelimit(why != NULL ? g_strchomp(why) : NULL, "\n", ' ');
  /* libpq quotes what it could not read, which may be the password or lie beside it. Only an option's name is safe. */
  char *quoted = why != NULL && !g_str_has_prefix(why, "invalid URI query parameter") ? strstr(why, ": \"") : NULL;
  if (quoted != NULL) *quoted = '\0';
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "the database URL: %s", why != NULL ? why : "it cannot be read");
  PQfreemem(why);
  return NULL;
}

static const char *option(const PQconninfoOption *parsed, const char *keyword) {
  for (; parsed->keyword != NULL; parsed++)
    if (g_str_equal(parsed->keyword, keyword)) return parsed->val;
  return NULL;
}

char *pawl_pg_public_url(const char *url, GError **error) {
  PQconninfoOption *parsed = parse_url(url, error);
  if (parsed == NULL) return NULL;
  const char *user = option(parsed, "user"), *host = option(parsed, "host"), *port = option(parsed, "port"),
             *name = option(parsed, "dbname");
  if (host == NULL) host = option(parsed, "hostaddr");
  g_autofree char *escaped = g_uri_escape_string(host != NULL ? host : "", ":,[]", FALSE);
  char *text = g_strconcat("postgresql://", user != NULL ? user : "", user != NULL ? "@" : "", escaped, port != NULL ? ":" : "",
    port != NULL ? port : "", "/", name != NULL ? name : "", NULL);
  PQconninfoFree(parsed);
  return text;
}

/* ---- one try ---- */

typedef struct {
  const char *keyword, *value;
} Default;

/* Of a list of hosts, those that are still to be tried. NULL: what the URL says. */
typedef struct {
  char *host, *hostaddr, *port;
} Rest;

static void rest_clear(Rest *rest) {
  g_free(rest->host);
  g_free(rest->hostaddr);
  g_free(rest->port);
}

/* What the URL does not say itself. libpq fills the rest from PG* variables and its own defaults. */
static PGconn *start(const PawlPg *pg, const PQconninfoOption *parsed, const Rest *rest) {
  const Default defaults[] = {
    {"application_name", pg->application},
    {"client_encoding", "UTF8"},
    {"keepalives_idle", "15"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "15000"},
    {"target_session_attrs", pg->base.mode == PAWL_DB_READ_WRITE ? "read-write" : "any"},
  };
  const Default hosts[] = {{"host", rest->host}, {"hostaddr", rest->hostaddr}, {"port", rest->port}};
  const char *keywords[G_N_ELEMENTS(defaults) + G_N_ELEMENTS(hosts) + 2] = {"dbname"}, *values[G_N_ELEMENTS(keywords)] = {pg->url};
  gsize n = 1;
  for (gsize i = 0; i < G_N_ELEMENTS(defaults); i++) {
    if (option(parsed, defaults[i].keyword) != NULL) continue;
    keywords[n] = defaults[i].keyword;
    values[n++] = defaults[i].value;
  }
  for (gsize i = 0; i < G_N_ELEMENTS(hosts); i++) {
    if (hosts[i].value == NULL) continue;
    keywords[n] = hosts[i].keyword;
    values[n++] = hosts[i].value;
  }
  return PQconnectStartParams(keywords, values, 1);
}

static void on_notice(void *data, const PGresult *result) {
  PawlPg *pg = data;
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (state != NULL && g_str_has_prefix(state, "01")) pg->warned = TRUE;
  if (g_strcmp0(severity, "FATAL") == 0 || g_strcmp0(severity, "PANIC") == 0) pg->dismissed = TRUE; /* while it was idle */
}

static void rest_take(Rest *rest, PGconn *conn, guint n) {
  PQconninfoOption *used = PQconninfo(conn); /* with what PG* variables filled in */
  Rest left = {
    pawl_pg_last_of(option(used, "host"), n), pawl_pg_last_of(option(used, "hostaddr"), n), pawl_pg_last_of(option(used, "port"), n)};
  PQconninfoFree(used);
  rest_clear(rest);
  *rest = left;
}

/* Tries the hosts one after the other; libpq goes on by itself after a refusal, but not from one that is silent. */
static gboolean try_hosts(PawlPg *pg, const PQconninfoOption *parsed, Rest *rest, GError **error) {
  gint64 until_us = g_get_monotonic_time() + pg->options.connect_ms * 1000;
  for (;;) {
    guint left = 0;
    pawl_pg_disconnect(pg);
    pg->conn = start(pg, parsed, rest);
    if (pg->conn == NULL) g_error("no memory for a connection");
    switch (pawl_pg_reach(pg, until_us, &left)) {
    case PAWL_PG_CONNECTED: return TRUE;
    case PAWL_PG_REFUSED: pawl_pg_set_lost(error, PAWL_ERROR_UNAVAILABLE, pg->conn, "connect"); return FALSE;
    case PAWL_PG_INTERRUPTED: g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "connect: interrupted"); return FALSE;
    case PAWL_PG_SILENT: break;
    }
    if (left == 0) {
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "connect: no answer from %s within %" G_GINT64_FORMAT " ms", pg->base.url,
        pg->options.connect_ms);
      return FALSE;
    }
    rest_take(rest, pg->conn, left);
  }
}

/* ---- what the server is ---- */

static const char *const foreign[] = {"CockroachDB", "Redshift", "-YB-", "Greenplum", "Materialize", "Vertica"};

static PGresult *ask(PawlPg *pg, const char *text, GError **error) {
  g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(pg, "connect");
  g_autoptr(GPtrArray) results = g_ptr_array_new();
  pawl_pg_pipeline_add(pipeline, text, NULL);
  if (pawl_pg_pipeline_run(pipeline, results, error) && results->len == 1 && PQntuples(results->pdata[0]) == 1) return results->pdata[0];
  if (error != NULL && *error == NULL)
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "connect: %s does not answer as PostgreSQL does", pg->base.url);
  g_ptr_array_foreach(results, (GFunc)(void (*)(void))PQclear, NULL);
  return NULL;
}

static gboolean is_postgresql(PawlPg *pg, GError **error) {
  GError *failed = NULL;
  PGresult *result = ask(pg, "SELECT version()", &failed);
  if (result == NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  const char *text = PQgetvalue(result, 0, 0);
  gboolean ok = g_str_has_prefix(text, "PostgreSQL ");
  for (gsize i = 0; i < G_N_ELEMENTS(foreign); i++) ok = ok && strstr(text, foreign[i]) == NULL;
  int version = PQserverVersion(pg->conn);
  if (!ok)
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "%s is no PostgreSQL but %.60s; pawl's guarantees rest on PostgreSQL's locks",
      pg->base.url, text);
  else if (version < MIN_VERSION) {
    ok = FALSE;
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "%s is PostgreSQL %d.%d; pawl needs 15 or newer", pg->base.url, version / 10000,
      version % 10000);
  } else
    g_snprintf(pg->base.version, sizeof pg->base.version, "PostgreSQL %d.%d", version / 10000, version % 10000);
  PQclear(result);
  return ok;
}

static gint64 int_at(const PGresult *result, int column) {
  PawlValue value;
  pawl_pg_value(result, 0, column, &value);
  return value.type == PAWL_TYPE_INT ? value.i : 0;
}

/* pg_stat_activity shows the true backend_start of the own backend to every role. */
static gboolean read_server(PawlPg *pg, GError **error) {
  static const char *const text =
    "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', pg_backend_pid()::bigint, "
    "coalesce((SELECT floor(extract(epoch FROM backend_start) * 1000000)::bigint FROM pg_stat_activity WHERE pid = pg_backend_pid()), 0), "
    "CASE WHEN has_function_privilege('pg_control_system()', 'execute') THEN (SELECT system_identifier FROM pg_control_system()) ELSE 0 END, "
    "CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END";
  GError *failed = NULL;
  PGresult *result = ask(pg, text, &failed);
  if (result == NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  gboolean standby = int_at(result, 0) != 0, read_only = int_at(result, 1) != 0;
  pg->base.server = (PawlDbServer){.generation = pg->base.server.generation + 1,
    .pid = int_at(result, 2),
    .started_us = int_at(result, 3),
    .system = (guint64)int_at(result, 4),
    .timeline = (guint)g_ascii_strtoull(PQgetvalue(result, 0, 5), NULL, 16)};
  PQclear(result);
  if (pg->base.mode == PAWL_DB_READ_ONLY || (!standby && !read_only)) return TRUE;
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "%s is %s: pawl waits for one that can be written to", pg->base.url,
    standby ? "a standby" : "read-only");
  return FALSE;
}

/* So soon the server, too, sees that its client is gone with its whole machine: the locks of a backend would stay for the system's two hours.
 * Behind a pooler the pooler is the client. */
static void keep_alive(PawlPg *pg) {
  g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(pg, "connect");
  pawl_pg_pipeline_add(pipeline,
    "SELECT set_config('tcp_keepalives_idle', '15', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '15000', false)",
    NULL);
  pawl_pg_pipeline_run(pipeline, NULL, NULL); /* without them it works as well */
}

static gboolean greet(PawlPg *pg, GError **error) {
  gint64 usual_ms = pg->options.statement_ms;
  pg->options.statement_ms = pg->options.connect_ms;
  gboolean ok = is_postgresql(pg, error) && read_server(pg, error);
  pg->options.statement_ms = usual_ms;
  return ok;
}

gboolean pawl_pg_connect(PawlPg *pg, GError **error) {
  PQconninfoOption *parsed = parse_url(pg->url, error);
  if (parsed == NULL) return FALSE;
  Rest rest = {0};
  pg->dismissed = pg->direct = FALSE;
  gboolean ok = try_hosts(pg, parsed, &rest, error);
  rest_clear(&rest);
  PQconninfoFree(parsed);
  if (ok) PQsetNoticeReceiver(pg->conn, on_notice, pg);
  if (ok && (PQsetnonblocking(pg->conn, 1) != 0 || !PQenterPipelineMode(pg->conn))) {
    pawl_pg_set_lost(error, PAWL_ERROR_UNAVAILABLE, pg->conn, "connect");
    ok = FALSE;
  }
  if (ok && greet(pg, error)) {
    pg->direct = PQbackendPID(pg->conn) == pg->base.server.pid; /* a pooler makes its own */
    if (pg->direct) keep_alive(pg);
    pawl_pg_ghosts_lay(pg);
    if (pg->conn != NULL) return TRUE;
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "connect: the connection broke at once");
    return FALSE;
  }
  pawl_pg_disconnect(pg);
  return FALSE;
}
