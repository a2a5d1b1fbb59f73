/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "store/runs_private.h"

/* Adds a check's answer; the format makes its text. `fix` NULL: nothing to do. */
void pawl_check_add(GPtrArray *checks, const char *name, gboolean ok, const char *fix, const char *format, ...) G_GNUC_PRINTF(5, 6);
/* G1 and G2, counted from history. */
gboolean pawl_doctor_one_run(PawlStore *store, GPtrArray *checks, GError **error);
gboolean pawl_doctor_accounted(PawlStore *store, GPtrArray *checks, GError **error);
/* A shared store: what the server promises and what is around it; inside a transaction, and outside of one. */
gboolean pawl_doctor_server(PawlStore *store, GPtrArray *checks, GError **error);
gboolean pawl_doctor_pooler(PawlStore *store, GPtrArray *checks, GError **error);
