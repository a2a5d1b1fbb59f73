/* SPDX-License-Identifier: Apache-2.0 */
/* A real PostgreSQL for a test program, in a folder that is gone afterwards, and what stands in for a bad one on loopback. Servers run as
 * an unprivileged user when the tests run as root. Where none can be started the test fails: it is never skipped. */
#pragma once
#include "test_db.h"

#include <libpq-fe.h>

/* Starts the server of this program on its first call. Stopped by server_stop(). */
void server_start(void);
void server_stop(void);
int server_port(void);
/* On a connection of the superuser to a database. The first column of the first row, or NULL. Caller g_free()s. */
char *server_ask(const char *database, const char *text);

/* A database of its own, with a plain role of the same name that owns it. */
typedef struct {
  char *name, *url;
} PgPlace;
void pg_place_make(PgPlace *place, gconstpointer data);
void pg_place_drop(PgPlace *place, gconstpointer data);

/* ---- what stands on loopback; each returns its port and lives on a thread until the program ends ---- */
typedef enum { CUT_BEFORE_COMMIT, CUT_AFTER_COMMIT } Cut;
/* Passes bytes both ways until the client sends a COMMIT: that is passed on or not, and then both ends are cut. */
int stand_proxy(Cut cut);
/* Takes connections and says nothing. */
int stand_silent(void);
/* Speaks as a server of that version whose version() is `version`. */
int stand_fake(const char *number, const char *version);
