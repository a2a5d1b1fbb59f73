/* SPDX-License-Identifier: Apache-2.0 */
/* What a SQLSTATE means to the caller. */
#include "base/error.h"
#include "db/postgres_private.h"

#include <string.h>

/* The longest prefix that fits wins. */
static const struct {
  const char *prefix;
  PawlError code;
} codes[] = {
  {"08", PAWL_ERROR_UNAVAILABLE},    /* connection exceptions */
  {"25006", PAWL_ERROR_UNAVAILABLE}, /* read only: the server became a standby */
  {"25P03", PAWL_ERROR_BUSY},        /* idle too long inside a transaction: the connection is gone, and nothing was done */
  {"23", PAWL_ERROR_CONFLICT},       /* constraints, as on SQLite */
  {"28", PAWL_ERROR_DENIED},
  {"40001", PAWL_ERROR_BUSY}, /* serialization */
  {"40P01", PAWL_ERROR_BUSY}, /* deadlock */
  {"3F000", PAWL_ERROR_CONFIG},
  {"42501", PAWL_ERROR_DENIED},
  {"42P01", PAWL_ERROR_CONFIG}, /* no such table: no schema, or an older one */
  {"42703", PAWL_ERROR_CONFIG},
  {"42883", PAWL_ERROR_CONFIG},
  {"53", PAWL_ERROR_UNAVAILABLE},  /* disk full, memory, too many connections */
  {"55P03", PAWL_ERROR_BUSY},      /* a lock was not to be had in time */
  {"57014", PAWL_ERROR_BUSY},      /* cancelled: a timeout */
  {"57P", PAWL_ERROR_UNAVAILABLE}, /* shutting down, terminated, starting up */
  {"58", PAWL_ERROR_UNAVAILABLE},  /* the server's disk */
  {"PW400", PAWL_ERROR_INVALID},   /* what pawl's own functions raise */
  {"PW403", PAWL_ERROR_DENIED},
  {"PW404", PAWL_ERROR_NOT_FOUND},
  {"PW409", PAWL_ERROR_CONFLICT},
};

PawlError pawl_pg_code(const char *sqlstate) {
  gsize best = 0;
  PawlError code = PAWL_ERROR_INTERNAL;
  if (sqlstate == NULL) return PAWL_ERROR_UNAVAILABLE;
  for (gsize i = 0; i < G_N_ELEMENTS(codes); i++) {
    gsize n = strlen(codes[i].prefix);
    if (n <= best || !g_str_has_prefix(sqlstate, codes[i].prefix)) continue;
    best = n;
    code = codes[i].code;
  }
  return code;
}

/* DETAIL and CONTEXT stay out: they carry values. */
void pawl_pg_set_error(GError **error, const PGresult *result, const char *where) {
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE), *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (text == NULL) text = "the server gave no reason";
  gboolean quotes = state != NULL && g_str_has_prefix(state, "22") && !g_str_equal(state, "22012"); /* but for a division by zero */
  if (quotes) text = "a value is not what the statement can use";                                   /* the server's words quote it */
  if (state != NULL && g_str_has_prefix(state, "PW")) /* a text of our own, for the user as it is */
    g_set_error_literal(error, PAWL_ERROR, (int)pawl_pg_code(state), text);
  else if (state != NULL && pawl_pg_code(state) == PAWL_ERROR_CONFIG)
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "%s: %s (SQLSTATE %s); `pawl db status` shows the schema", where, text, state);
  else
    g_set_error(error, PAWL_ERROR, (int)pawl_pg_code(state), "%s: %s (SQLSTATE %s)", where, text, state != NULL ? state : "none");
}

void pawl_pg_set_lost(GError **error, PawlError code, const PGconn *conn, const char *where) {
  g_autofree char *text = g_strdup(conn != NULL ? PQerrorMessage(conn) : "");
  g_strdelimit(g_strchomp(text), "\n\t", ' ');
  g_set_error(error, PAWL_ERROR, (int)code, "%s: %s", where, *text != '\0' ? text : "the connection to the server broke");
}
