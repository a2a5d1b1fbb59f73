/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/metrics.h"

#include "base/error.h"

static const PawlMetricInfo table[PAWL_N_METRICS] = {
  [PAWL_METRIC_ADMISSION_DELAY] = {"admission_delay_seconds", PAWL_HISTOGRAM, PAWL_UNIT_MS,
    "From the instant an occurrence was due to the admission of its run, by the database's clock. Runs made up after an absence included."},
  [PAWL_METRIC_START_DELAY] = {"start_delay_seconds", PAWL_HISTOGRAM, PAWL_UNIT_MS,
    "From an occurrence's nominal time to the start of its run's first attempt: admission, waiting for limits and a trigger's jitter included."},
  [PAWL_METRIC_ADMISSIONS] = {"admissions_total", PAWL_COUNTER, PAWL_UNIT_ONE,
    "Runs admitted by this process for occurrences of triggers."},
  [PAWL_METRIC_RACED] = {"raced_total", PAWL_COUNTER, PAWL_UNIT_ONE, "Decisions dropped because the trigger had changed since its claim."},
  [PAWL_METRIC_ALREADY_RUN] = {"already_run_total", PAWL_COUNTER, PAWL_UNIT_ONE, "Occurrences found to have their run already."},
  [PAWL_METRIC_QUARANTINES] = {"quarantines_total", PAWL_COUNTER, PAWL_UNIT_ONE,
    "Triggers put aside because they could not be decided or admitted."},
  [PAWL_METRIC_LEDGER] = {"ledger_total", PAWL_COUNTER, PAWL_UNIT_ONE, "Occurrences that this process settled without a run, by outcome.",
    "outcome", {"skipped", "coalesced", "over_limit", "overlap", "already_run"}},
  [PAWL_METRIC_QUARANTINED] = {"quarantined", PAWL_GAUGE, PAWL_UNIT_ONE, "Triggers that are put aside now."},
  [PAWL_METRIC_CLAIMS_HELD] = {"claims_held", PAWL_GAUGE, PAWL_UNIT_ONE, "Claims on schedules that are held now, by all replicas."},
  [PAWL_METRIC_CLAIM_AGE] = {"claim_oldest_age_seconds", PAWL_GAUGE, PAWL_UNIT_MS, "Age of the oldest of those claims; 0 without one."},
  [PAWL_METRIC_BACKLOG] = {"backlog", PAWL_GAUGE, PAWL_UNIT_ONE, "Attempts that are runnable and wait for a worker."},
  [PAWL_METRIC_PARKED] = {"parked", PAWL_GAUGE, PAWL_UNIT_ONE, "Attempts that may not start now, by reason.", "reason",
    {"limit", "overlap", "paused", "retry", "start_at", "unsatisfiable", "manual"}},
  [PAWL_METRIC_RUNNING] = {"running", PAWL_GAUGE, PAWL_UNIT_ONE, "Attempts that workers hold leases on."},
  [PAWL_METRIC_OLDEST_DUE] = {"oldest_due_age_seconds", PAWL_GAUGE, PAWL_UNIT_MS,
    "For how long the oldest due occurrence has been waiting for its admission; 0 without one."},
  [PAWL_METRIC_RUNS_ENDED] = {"runs_ended_total", PAWL_COUNTER, PAWL_UNIT_ONE, "Runs whose end this process recorded, by state.", "state",
    {"succeeded", "failed", "cancelled", "timed_out"}},
  [PAWL_METRIC_LEASES_RENEWED] = {"leases_renewed_total", PAWL_COUNTER, PAWL_UNIT_ONE, "Renewals of run leases that the database granted."},
  [PAWL_METRIC_LEASES_LOST] = {"leases_lost_total", PAWL_COUNTER, PAWL_UNIT_ONE,
    "Attempts stopped because their lease was gone or could not be renewed in time."},
  [PAWL_METRIC_SLOTS] = {"worker_slots", PAWL_GAUGE, PAWL_UNIT_ONE, "Attempts that may run at once in this process."},
  [PAWL_METRIC_SLOTS_FREE] = {"worker_slots_free", PAWL_GAUGE, PAWL_UNIT_ONE, "Those of them that are free."},
  [PAWL_METRIC_DATABASE_ERRORS] = {"database_errors_total", PAWL_COUNTER, PAWL_UNIT_ONE, "Calls to the store that failed, by class.",
    "class", {"busy", "raced", "unavailable", "ambiguous", "denied", "conflict", "config", "internal"}},
  [PAWL_METRIC_RECONNECTS] = {"database_reconnects_total", PAWL_COUNTER, PAWL_UNIT_ONE,
    "Connections to the database opened again after a break."},
  [PAWL_METRIC_DRIFT] = {"drift_found_total", PAWL_COUNTER, PAWL_UNIT_ONE,
    "Runs put aside as manual because their rows contradict each other."},
  [PAWL_METRIC_CLOCK_STATE] = {"clock_state", PAWL_GAUGE, PAWL_UNIT_ONE,
    "The database's clock: 0 ok, 1 waiting for it to be trusted, 2 it went back."},
  [PAWL_METRIC_CLOCK_DISTANCE] = {"clock_distance_seconds", PAWL_GAUGE, PAWL_UNIT_MS,
    "The database's clock minus this machine's. Nothing is decided by it."},
  [PAWL_METRIC_MEASURED_AGE] = {"measured_age_seconds", PAWL_GAUGE, PAWL_UNIT_MS,
    "Age of what is read from the store: quarantined, claims, backlog, parked, running, oldest_due."},
  [PAWL_METRIC_START_TIME] = {"process_start_time_seconds", PAWL_GAUGE, PAWL_UNIT_MS,
    "When this process started, in seconds since the Unix epoch."},
  [PAWL_METRIC_MEMORY] = {"process_resident_memory_bytes", PAWL_GAUGE, PAWL_UNIT_ONE, "Resident memory of this process."},
};

const PawlMetricInfo *pawl_metric_table(void) { return table; }

void pawl_count_store_error(const GError *error) {
  guint class = pawl_metric_value(PAWL_METRIC_DATABASE_ERRORS, pawl_error_info_of(error)->name);
  pawl_metric_add(PAWL_METRIC_DATABASE_ERRORS, class, 1);
}
