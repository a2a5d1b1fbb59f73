/* SPDX-License-Identifier: Apache-2.0 */
/* Drives runs through a store as a worker would, for tests that need history. */
#pragma once
#include "store/dispatch.h"
#include "store/runs.h"
#include "store_sql.h"

static PawlId drive_session;

static inline void drive_open(PawlStore *store, gint capacity) {
  gint64 generation;
  char name[] = "tester-worker", boot[] = "boot";
  drive_session = pawl_id_random();
  PawlSession session = {.id = drive_session, .name = name, .capacity = capacity, .boot_id = boot, .pid = 1};
  g_assert_true(pawl_store_session_open(store, &session, &generation, NULL));
}

static inline PawlId drive_enqueue(PawlStore *store, const char *task) {
  g_autoptr(GError) error = NULL;
  PawlId run;
  PawlEnqueue request = {.task = task, .origin = "manual"};
  pawl_store_enqueue(store, &request, &run, &error);
  g_assert_no_error(error);
  return run;
}

/* Hands out at most `room` runs; grants are appended. */
static inline guint drive_pull(PawlStore *store, guint room, GPtrArray *grants) {
  g_autoptr(GError) error = NULL;
  PawlPassResult pass;
  guint before = grants->len;
  pawl_store_pull(store, &drive_session, room, 30000, grants, &pass, &error);
  g_assert_no_error(error);
  return grants->len - before;
}

static inline void drive_start(PawlStore *store, const PawlGrant *grant) {
  g_autoptr(GError) error = NULL;
  PawlStart start = {.run = grant->run, .token = grant->token, .attempt = grant->attempt, .lease_version = grant->lease_version};
  pawl_store_start(store, &start, 1, &error);
  g_assert_no_error(error);
  g_assert_true(start.accepted);
}

static inline PawlRunState drive_finish(PawlStore *store, const PawlGrant *grant, PawlMachineEvent event, gint exit_code) {
  g_autoptr(GError) error = NULL;
  PawlFinish finish = {.run = grant->run,
    .token = grant->token,
    .attempt = grant->attempt,
    .lease_version = grant->lease_version,
    .event = event,
    .exit_code = exit_code};
  pawl_store_finish(store, &finish, 1, &error);
  g_assert_no_error(error);
  g_assert_true(finish.accepted);
  return finish.run_state;
}

static inline GPtrArray *drive_grants(void) { return g_ptr_array_new_with_free_func((GDestroyNotify)pawl_grant_free); }

/* Asks for a run of the task and brings it to that end. Nothing else may wait. */
static inline PawlId drive_run(PawlStore *store, const char *task, PawlMachineEvent event, gint exit_code) {
  g_autoptr(GPtrArray) grants = drive_grants();
  PawlId run = drive_enqueue(store, task);
  g_assert_cmpuint(drive_pull(store, 1, grants), ==, 1);
  const PawlGrant *grant = g_ptr_array_index(grants, 0);
  drive_start(store, grant);
  drive_finish(store, grant, event, exit_code);
  return run;
}
