/* SPDX-License-Identifier: Apache-2.0 */
#include "base/metric.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

/* Where the buckets of all histograms end, in ms. Delays of a scheduler: what is exact, what is a wake-up late, what is an outage. */
static const gint64 bounds_ms[] = {5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000};
#define N_BOUNDS G_N_ELEMENTS(bounds_ms)
#define HISTOGRAM_CELLS (N_BOUNDS + 2) /* one for each bound, one beyond them, and the sum */

static struct {
  const PawlMetricInfo *table;
  guint n;
  guint *first; /* cell of each row */
  _Atomic gint64 *cells;
  char *info;
} metrics;

static guint n_values(const PawlMetricInfo *row) {
  guint n = 0;
  while (row->label != NULL && n < PAWL_METRIC_VALUES && row->values[n] != NULL) n++;
  return row->label != NULL ? n : 1;
}

static guint n_cells(const PawlMetricInfo *row) { return row->kind == PAWL_HISTOGRAM ? HISTOGRAM_CELLS : n_values(row); }

void pawl_metric_setup(const PawlMetricInfo *table, guint n) {
  guint cells = 0;
  g_assert(metrics.table == NULL);
  metrics.first = g_new(guint, n);
  for (guint i = 0; i < n; i++) {
    metrics.first[i] = cells;
    cells += n_cells(&table[i]);
  }
  metrics.cells = g_malloc0_n(cells, sizeof *metrics.cells);
  metrics.n = n;
  metrics.table = table;
}

static _Atomic gint64 *cell_of(guint metric, guint value) {
  if (metrics.table == NULL) return NULL;
  g_assert(metric < metrics.n && value < n_cells(&metrics.table[metric]));
  return &metrics.cells[metrics.first[metric] + value];
}

void pawl_metric_add(guint metric, guint value, gint64 n) {
  _Atomic gint64 *cell = cell_of(metric, value);
  if (cell != NULL && n != 0) atomic_fetch_add_explicit(cell, n, memory_order_relaxed);
}

void pawl_metric_set(guint metric, guint value, gint64 n) {
  _Atomic gint64 *cell = cell_of(metric, value);
  if (cell != NULL) atomic_store_explicit(cell, n, memory_order_relaxed);
}

void pawl_metric_observe_ms(guint metric, gint64 ms) {
  guint bucket = 0;
  ms = MAX(ms, 0);
  while (bucket < N_BOUNDS && ms > bounds_ms[bucket]) bucket++;
  pawl_metric_add(metric, bucket, 1);
  pawl_metric_add(metric, N_BOUNDS + 1, ms);
}

guint pawl_metric_value(guint metric, const char *value) {
  if (metrics.table == NULL) return 0;
  const PawlMetricInfo *row = &metrics.table[metric];
  guint i = 0, n = n_values(row);
  while (i + 1 < n && !g_str_equal(row->values[i], value)) i++;
  return i;
}

/* ---- the text ---- */

/* A label's value, or a help text, where quotes stand for themselves. */
static void append_escaped(GString *text, const char *value, gboolean quotes) {
  for (const char *p = value; *p != '\0'; p++)
    if (*p == '\n')
      g_string_append(text, "\\n");
    else if (*p == '\\' || (*p == '"' && quotes))
      g_string_append_printf(text, "\\%c", *p);
    else
      g_string_append_c(text, *p);
}

static void append_head(GString *text, const char *name, const char *help, const char *kind) {
  g_string_append_printf(text, "# HELP pawl_%s ", name);
  append_escaped(text, help, FALSE);
  g_string_append_printf(text, "\n# TYPE pawl_%s %s\n", name, kind);
}

/* Exact, whatever the locale says about decimal points. */
static void append_number(GString *text, PawlMetricUnit unit, gint64 n) {
  if (unit == PAWL_UNIT_ONE || n % 1000 == 0) {
    g_string_append_printf(text, "%" G_GINT64_FORMAT, unit == PAWL_UNIT_ONE ? n : n / 1000);
    return;
  }
  g_string_append_printf(text, "%s%" G_GINT64_FORMAT ".%03d", n < 0 ? "-" : "", ABS(n / 1000), (int)ABS(n % 1000));
  while (text->str[text->len - 1] == '0') g_string_truncate(text, text->len - 1);
}

static void append_value(GString *text, const PawlMetricInfo *row, gint64 n) {
  g_string_append_c(text, ' ');
  append_number(text, row->unit, n);
  g_string_append_c(text, '\n');
}

static gint64 read_cell(guint metric, guint value) { return atomic_load_explicit(cell_of(metric, value), memory_order_relaxed); }

/* The count is the sum of what was read, so that the last bucket and the count agree while others add. */
static void append_histogram(GString *text, guint metric) {
  const PawlMetricInfo *row = &metrics.table[metric];
  gint64 count = 0;
  for (guint i = 0; i <= N_BOUNDS; i++) {
    count += read_cell(metric, i);
    g_string_append_printf(text, "pawl_%s_bucket{le=\"", row->name);
    if (i < N_BOUNDS)
      append_number(text, PAWL_UNIT_MS, bounds_ms[i]);
    else
      g_string_append(text, "+Inf");
    g_string_append_printf(text, "\"} %" G_GINT64_FORMAT "\n", count);
  }
  g_string_append_printf(text, "pawl_%s_sum", row->name);
  append_value(text, row, read_cell(metric, N_BOUNDS + 1));
  g_string_append_printf(text, "pawl_%s_count %" G_GINT64_FORMAT "\n", row->name, count);
}

static void append_series(GString *text, guint metric) {
  const PawlMetricInfo *row = &metrics.table[metric];
  guint n = n_values(row);
  for (guint i = 0; i < n; i++) {
    g_string_append_printf(text, "pawl_%s", row->name);
    if (row->label != NULL) {
      g_string_append_printf(text, "{%s=\"", row->label);
      append_escaped(text, row->values[i], TRUE);
      g_string_append(text, "\"}");
    }
    append_value(text, row, read_cell(metric, i));
  }
}

void pawl_metric_info(const char *name, const char *help, ...) {
  g_autoptr(GString) text = g_string_new(metrics.info);
  va_list args;
  append_head(text, name, help, "gauge");
  g_string_append_printf(text, "pawl_%s{", name);
  va_start(args, help);
  const char *comma = "";
  for (const char *key = va_arg(args, const char *); key != NULL; key = va_arg(args, const char *)) {
    g_autofree char *value = g_utf8_make_valid(va_arg(args, const char *), -1);
    g_string_append_printf(text, "%s%s=\"", comma, key);
    append_escaped(text, value, TRUE);
    g_string_append_c(text, '"');
    comma = ",";
  }
  va_end(args);
  g_string_append(text, "} 1\n");
  g_free(metrics.info);
  metrics.info = g_strdup(text->str);
}

char *pawl_metrics_text(void) {
  static const char *const kinds[] = {[PAWL_COUNTER] = "counter", [PAWL_GAUGE] = "gauge", [PAWL_HISTOGRAM] = "histogram"};
  GString *text = g_string_new(metrics.info);
  for (guint i = 0; i < metrics.n; i++) {
    const PawlMetricInfo *row = &metrics.table[i];
    append_head(text, row->name, row->help, kinds[row->kind]);
    if (row->kind == PAWL_HISTOGRAM)
      append_histogram(text, i);
    else
      append_series(text, i);
  }
  return g_string_free(text, FALSE);
}
