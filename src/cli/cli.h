/* SPDX-License-Identifier: Apache-2.0 */
/* cli: the command line. One file a verb; the verbs, their options, help texts and examples stand in one table (verbs.c), from which
 * `pawl help`, each verb's --help and the usage errors are printed. A verb computes and hands rows to the formatter (format.c): a table
 * on a terminal, JSON with --json. Nothing else in this room prints. Exit codes: base/error.h. Errors are one line on stderr: "pawl VERB:
 * what is wrong; the fix". */
#pragma once
#include "base/address.h"

#include <glib.h>

/* What `pawl up` was asked for. Borrowed for the time of the call; strings are NULL when not given. */
typedef struct {
  char *url;              /* the store: "sqlite:PATH"; never NULL */
  const char *url_source; /* where the setting came from: "--store", "PAWL_DATABASE_URL", "default" … */
  char *file;             /* -f */
  char **crontabs;        /* --crontab, repeatable; NULL: none */
  char *zone;             /* --zone: for crontabs; NULL: the host's */
  gint slots;             /* --slots, default 64; 0 = schedule only */
  gint64 drain_ms;        /* --drain, default 25 s; 0 waits for ever */
  gint64 lease_ms;        /* --lease, default 30 s; 3 s to 10 min */
  gint64 history_ms;      /* --history, default 30 d */
  char **allow_users;     /* --allow-user, repeatable; NULL: none. "*" any */
  gboolean log_json;      /* --log json */
  char *log_level;        /* --log-level */
  gboolean listen;        /* --listen: a door is opened; its address */
  PawlAddress listen_at;
  gboolean listen_asked; /* it was said where, so that it must open */
  char *name;            /* --name of this process; default: host name */
  gboolean shared;       /* the store is a server that other replicas use too */
  char *replica;         /* --replica; default: name */
  gint64 claim_lease_ms; /* --claim-lease, default 10 s; 1 s to 60 s */
  gboolean serializable; /* --admission-isolation serializable */
  char *synchronous_commit;
} PawlUpOptions;
typedef int (*PawlUpFunction)(const PawlUpOptions *options);

/* The whole program but for `up`, which the app room wires. Returns the exit code. */
int pawl_cli_main(int argc, char **argv, PawlUpFunction up);
