/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics: numbers that any thread adds to and that are printed in Prometheus' text format 0.0.4.
 *
 * What is counted stands in one const table that the program hands over before its first thread; a series is named by its row and, where
 * the row has a label, by the position of the label's value. A cell is one atomic: no lock, no memory, no text on the way of the work.
 * Without a table (the verbs, the tests of rooms) every call does nothing.
 *
 * Cells hold whole numbers in the program's own units; the printed name is "pawl_" NAME, its unit Prometheus' base unit. */
#pragma once
#include <glib.h>

typedef enum { PAWL_COUNTER, PAWL_GAUGE, PAWL_HISTOGRAM } PawlMetricKind;
typedef enum { PAWL_UNIT_ONE, PAWL_UNIT_MS /* printed in seconds */ } PawlMetricUnit;

#define PAWL_METRIC_VALUES 16
typedef struct {
  const char *name; /* "admissions_total", "start_delay_seconds" */
  PawlMetricKind kind;
  PawlMetricUnit unit;
  const char *help;
  const char *label;                      /* NULL: one series */
  const char *values[PAWL_METRIC_VALUES]; /* of the label, up to the first NULL */
} PawlMetricInfo;

/* Once, before the first thread. `table` is borrowed for ever. */
void pawl_metric_setup(const PawlMetricInfo *table, guint n);
/* `value`: position in the row's values; 0 where it has no label. */
void pawl_metric_add(guint metric, guint value, gint64 n);
void pawl_metric_set(guint metric, guint value, gint64 n);
/* Into a histogram: its buckets go from 5 ms to 300 s. Negative counts as 0. */
void pawl_metric_observe_ms(guint metric, gint64 ms);
/* Position of a label's value; `values` of the row do not have it: the last one. */
guint pawl_metric_value(guint metric, const char *value);
/* What a gauge without numbers says: `name`{key="value",…} 1. Pairs, ended by NULL; values may hold anything. Once, before the first
 * thread that prints. */
void pawl_metric_info(const char *name, const char *help, ...) G_GNUC_NULL_TERMINATED;
/* All of them. Caller g_free()s. */
char *pawl_metrics_text(void);
