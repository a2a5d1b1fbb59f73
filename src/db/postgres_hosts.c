/* SPDX-License-Identifier: Apache-2.0 */
/* Polling a connection that is being made, with a deadline for each host. libpq leaves deadlines to who polls, and goes on to the next host
 * only when the one before it refused: one that is silent (down, cut off: what a list of hosts is for) would use up the whole time. */
#include "db/postgres_private.h"

#include <string.h>

static const char *value_of(const PQconninfoOption *options, const char *keyword) {
  for (; options->keyword != NULL; options++)
    if (g_str_equal(options->keyword, keyword)) return options->val;
  return NULL;
}

typedef struct {
  GStrv hosts, ports; /* the ports are as many as the hosts, or one */
  guint n;
} Hosts;

static void hosts_init(Hosts *hosts, PGconn *conn) {
  PQconninfoOption *used = PQconninfo(conn);
  const char *host = value_of(used, "host"), *port = value_of(used, "port");
  if (host == NULL || *host == '\0') host = value_of(used, "hostaddr");
  hosts->hosts = g_strsplit(host != NULL ? host : "", ",", -1);
  hosts->ports = g_strsplit(port != NULL ? port : "", ",", -1);
  hosts->n = MAX(g_strv_length(hosts->hosts), 1);
  PQconninfoFree(used);
}

static void hosts_clear(Hosts *hosts) {
  g_strfreev(hosts->hosts);
  g_strfreev(hosts->ports);
}

/* The host that libpq is at, looked for from the one that it was at. */
static guint at_host(const Hosts *hosts, guint before, PGconn *conn) {
  const char *host = PQhost(conn), *port = PQport(conn);
  gboolean ports = g_strv_length(hosts->ports) == hosts->n;
  for (guint i = before; i < g_strv_length(hosts->hosts); i++) {
    const char *its_port = ports ? hosts->ports[i] : "";
    if (g_strcmp0(hosts->hosts[i], host) == 0 && (*its_port == '\0' || g_strcmp0(its_port, port) == 0)) return i;
  }
  return before;
}

/* Until when the next of `n` hosts may take its time. */
static gint64 share_of(gint64 until_us, guint n) {
  gint64 now_us = g_get_monotonic_time();
  return now_us + (until_us - now_us) / MAX(n, 1);
}

PawlPgReach pawl_pg_reach(PawlPg *pg, gint64 until_us, guint *ret_rest) {
  if (PQstatus(pg->conn) == CONNECTION_BAD) return PAWL_PG_REFUSED;
  PostgresPollingStatusType status = PGRES_POLLING_WRITING;
  Hosts hosts;
  hosts_init(&hosts, pg->conn);
  guint at = 0, n = hosts.n;
  gint64 host_until_us = share_of(until_us, n);
  gboolean in_time = TRUE;
  while (in_time && (status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING)) {
    guint here = at_host(&hosts, at, pg->conn);
    if (here != at) {
      at = here;
      host_until_us = share_of(until_us, n - at);
    }
    in_time = pawl_pg_wait(pg, status == PGRES_POLLING_WRITING, host_until_us);
    if (in_time) status = PQconnectPoll(pg->conn);
  }
  hosts_clear(&hosts);
  if (status == PGRES_POLLING_OK) return PAWL_PG_CONNECTED;
  if (status == PGRES_POLLING_FAILED) return PAWL_PG_REFUSED;
  *ret_rest = n - at - 1;
  return pawl_pg_interrupted(pg) ? PAWL_PG_INTERRUPTED : PAWL_PG_SILENT;
}

char *pawl_pg_last_of(const char *list, guint n) {
  if (list == NULL) return NULL;
  g_auto(GStrv) entries = g_strsplit(list, ",", -1);
  guint have = g_strv_length(entries);
  return have <= n || have == 1 ? g_strdup(list) : g_strjoinv(",", entries + (have - n));
}
