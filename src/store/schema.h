/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a store, for people who keep it: what made it, what is still to be run, and the roles that use it. These calls open the
 * store by themselves, because one whose schema is older, newer or missing cannot be opened otherwise. */
#pragma once
#include "db/db.h"

typedef enum {
  PAWL_STEP_APPLIED,
  PAWL_STEP_PENDING,
  PAWL_STEP_DRIFTED, /* it was run with another text than this program has */
  PAWL_STEP_NEWER,   /* a newer program ran it, and it says that this one may go on */
  PAWL_STEP_UNKNOWN  /* a newer program ran it, and nothing says so */
} PawlStepState;
typedef struct {
  gint number;
  char *name;
  PawlStepState state;
  char *digest; /* of the text that was run; NULL: pending */
  char *mine;   /* of the text that this program has; NULL: it has none */
  char *sql;    /* that text; NULL likewise */
} PawlSchemaStep;
void pawl_schema_step_free(PawlSchemaStep *step);

/* Appends PawlSchemaStep *, ascending. `ret_url`: without a password; caller g_free()s; may be NULL. */
gboolean pawl_schema_read(const char *url, GPtrArray *steps, char **ret_url, GError **error);
/* Runs what is pending. CONFIG: drifted or newer, naming the script. `ret_ran` counts what this call ran: of several at once
 * one runs all. */
gboolean pawl_schema_migrate(const char *url, guint *ret_ran, GError **error);

typedef struct {
  char *object, *privilege, *difference; /* "TABLE pawl.runs", "INSERT", "missing" or "extra" */
} PawlPrivilege;
void pawl_privilege_free(PawlPrivilege *privilege);
/* Whether there is a role of that name; `make`: makes it when there is none (with LOGIN, but for the kind enqueue). DENIED: it may not.
 * CONFIG: the store has no roles. */
gboolean pawl_schema_role_find(const char *url, const char *kind, const char *role, gboolean make, gboolean *ret_found, GError **error);
/* What a person who may would run to give a role the rights of a kind, and before that, with `make`, to make it: SQL, each statement a line.
 * Caller g_free()s. */
gboolean pawl_schema_role_sql(const char *url, const char *kind, const char *role, gboolean make, char **ret_sql, GError **error);
/* kind: admin, runtime, ingress, viewer or enqueue. `change`: grants and takes away first. Appends PawlPrivilege *: what differs
 * (still). */
gboolean pawl_schema_role(const char *url, const char *kind, const char *role, gboolean change, GPtrArray *differences, GError **error);
