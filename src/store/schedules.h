/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: what is due, and the admission of what was decided.
 *
 *   claim -> the engine decides (civil, no lock) -> admit
 *
 * On SQLite a claim is a plain read and `state_version` + cursor are compared and set at admission; on PostgreSQL it is a row lease. The
 * C is the same. Admission is one transaction for a batch: run + ready row + two events + cursor moved, or a ledger range + cursor moved.
 */
#pragma once
#include "store/store.h"

typedef struct {
  PawlId trigger, task, project;
  gint64 trigger_revision, task_revision;
  gint64 cursor_ms, due_at_ms, last_scheduled_ms, last_admitted_ms, first_claimed_ms, made_up;
  gint64 state_version, claim_version;
  PawlId claim_token;    /* none: a store where a claim is a plain read */
  gint64 acquired_at_ms; /* the clock of the claim: the decision's now */
} PawlDueRow;

/* Up to `budget` due rows in order of their due instant, appended to `rows` (GArray of PawlDueRow). `ret_now_ms`: the database's clock; 0 where
 * a shared store had nothing due. */
gboolean pawl_store_claim(PawlStore *store, guint budget, GArray *rows, gint64 *ret_now_ms, GError **error);
/* The earliest due instant after `now_ms`; 0: none, or a shared store, whose look tells. */
gboolean pawl_store_next_due(PawlStore *store, gint64 now_ms, gint64 *ret_next_due_ms, GError **error);

typedef enum { PAWL_ADMIT_PENDING, PAWL_ADMIT_DONE, PAWL_ADMIT_RACED, PAWL_ADMIT_FAILED } PawlAdmitOutcome;
typedef struct {
  PawlDueRow row;
  PawlDecision decision;                   /* owned by the caller */
  PawlAdmitOutcome outcome;                /* set by admit */
  guint admitted, already_run, overlapped; /* set by admit: occurrences by what became of them */
} PawlAdmission;

/* All that a replica of a shared store looks for in its rhythm, in one read. Instants by the server's clock. */
typedef struct {
  gint64 now_ms;
  gint64 next_due_ms, rearm_ms, wake_ms; /* 0: none */
  gboolean due;                          /* a due row that nobody holds */
  gboolean expired;                      /* a run lease has run out */
  gboolean work;                         /* something is ready, or a cancel was asked for */
  gint64 newest_ms;                      /* the newest heartbeat of a replica; 0: none. Later than now: the server's clock went back */
} PawlLook;
gboolean pawl_store_look(PawlStore *store, PawlLook *ret_look, GError **error);
/* What was claimed with a row's token, and could not be settled, is to be given back: not to be waited for until its lease has passed. */
void pawl_store_claim_give_back(PawlStore *store, const PawlDueRow *row);
/* Gives back what is to be, and claims whose answer was lost for as long as they could still arrive. Call it in the rhythm. */
gboolean pawl_store_release_lost(PawlStore *store, GError **error);

/* After an AMBIGUOUS admission, for each row of the batch: did it happen? DONE: yes, whoever wrote it. PENDING: no, and it never will by what
 * was sent; the row carries a new token, under which it may be admitted again. RACED: no, and the claim is gone. FALSE: there is no verdict
 * now (the server, or the standby that a COMMIT must reach, is away). */
gboolean pawl_store_resolve(PawlStore *store, PawlAdmission *admission, GError **error);

/* Specs of a claimed row. Cached in the store by id and revision (bounded); borrowed until the next call of the same function. */
const PawlTriggerSpec *pawl_store_trigger_spec(PawlStore *store, const PawlId *trigger, gint64 revision, GError **error);
const PawlTaskSpec *pawl_store_task_spec(PawlStore *store, const PawlId *task, gint64 revision, GError **error);

/* Settles the whole batch in one transaction. A row that changed since the claim is RACED and drops out. FALSE: nothing of the batch was
 * written (the engine halves it until the bad one stands alone). */
gboolean pawl_store_admit(PawlStore *store, PawlAdmission **batch, guint n, GError **error);

/* Puts a trigger aside: disarmed until an instant that doubles from 1 min to 1 h with each time in a row; the occurrence stays unsettled,
 * so nothing is lost once the cause is gone. Recorded as event `trigger.quarantined`. */
gboolean pawl_store_quarantine(PawlStore *store, const PawlDueRow *row, const char *reason, GError **error);

/* Arms again what has waited long enough: pauses with an end (their range becomes `paused` in the ledger) and quarantines. `ret_next_ms`:
 * the earliest such instant to come, 0: none. */
gboolean pawl_store_rearm(PawlStore *store, gint64 *ret_next_ms, GError **error);

/* Fires the @reboot triggers that have not fired since this boot: nominal time = the boot's instant, so once per boot. `ret_fired`
 * counts. */
gboolean pawl_store_fire_reboot(PawlStore *store, const char *boot_id, gint64 boot_at_ms, guint *ret_fired, GError **error);

/* Adds occurrences that did not become runs to the ledger, inside the caller's transaction; extends the trigger's newest row where it
 * joins on. `reason` NULL: none. */
gboolean pawl_store_ledger_add(PawlStore *store, const PawlId *trigger, gint64 last_admitted_ms, const char *outcome, gint64 from_ms,
  gint64 to_ms, gint64 count, gboolean exact, const char *reason, GError **error);
