/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted, by name: the rows of pawl_metric_table(), and the positions of their labels' values. How they are counted and printed
 * is base/metric.h. docs/guide/health.md explains each. */
#pragma once
#include "base/metric.h"
#include "domain/domain.h"

typedef enum {
  PAWL_METRIC_ADMISSION_DELAY,
  PAWL_METRIC_START_DELAY,
  PAWL_METRIC_ADMISSIONS,
  PAWL_METRIC_RACED,
  PAWL_METRIC_ALREADY_RUN,
  PAWL_METRIC_QUARANTINES,
  PAWL_METRIC_LEDGER, /* by outcome: pawl_metric_value() */
  PAWL_METRIC_QUARANTINED,
  PAWL_METRIC_CLAIMS_HELD,
  PAWL_METRIC_CLAIM_AGE,
  PAWL_METRIC_BACKLOG,
  PAWL_METRIC_PARKED, /* by reason: pawl_metric_value() */
  PAWL_METRIC_RUNNING,
  PAWL_METRIC_OLDEST_DUE,
  PAWL_METRIC_RUNS_ENDED, /* by state: pawl_metric_value() */
  PAWL_METRIC_LEASES_RENEWED,
  PAWL_METRIC_LEASES_LOST,
  PAWL_METRIC_SLOTS,
  PAWL_METRIC_SLOTS_FREE,
  PAWL_METRIC_DATABASE_ERRORS, /* by class: pawl_metric_value() with the name of base/error.h */
  PAWL_METRIC_RECONNECTS,
  PAWL_METRIC_DRIFT,
  PAWL_METRIC_CLOCK_STATE,
  PAWL_METRIC_CLOCK_DISTANCE,
  PAWL_METRIC_MEASURED_AGE,
  PAWL_METRIC_START_TIME,
  PAWL_METRIC_MEMORY,
  PAWL_N_METRICS
} PawlMetric;

/* PAWL_METRIC_CLOCK_STATE */
enum { PAWL_CLOCK_OK = 0, PAWL_CLOCK_WAITING = 1, PAWL_CLOCK_BACK = 2 };

const PawlMetricInfo *pawl_metric_table(void); /* PAWL_N_METRICS rows */
/* A call to the store failed. */
void pawl_count_store_error(const GError *error);
