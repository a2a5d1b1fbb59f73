/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics: nothing is lost between threads, and the text is what Prometheus reads. Addresses. */
#include "base/address.h"
#include "base/error.h"
#include "base/metric.h"

#include <pthread.h>
#include <string.h>

#define THREADS 4
#define ADDS 100000

enum { ASKED, BY_KIND, DELAY, AGE };
static const PawlMetricInfo table[] = {
  [ASKED] = {"asked_total", PAWL_COUNTER, PAWL_UNIT_ONE, "What was asked."},
  [BY_KIND] = {"kinds", PAWL_GAUGE, PAWL_UNIT_ONE, "A back\\slash, a\nbreak, a \"quote\".", "kind", {"a", "b\"\\\n", "other"}},
  [DELAY] = {"delay_seconds", PAWL_HISTOGRAM, PAWL_UNIT_MS, "Late."},
  [AGE] = {"age_seconds", PAWL_GAUGE, PAWL_UNIT_MS, "Old."},
};

static void has(const char *text, const char *line) {
  g_autofree char *whole = g_strdup_printf("\n%s\n", line), *from_start = g_strdup_printf("\n%s", text);
  if (strstr(from_start, whole) == NULL) g_error("no line '%s' in:\n%s", line, text);
}

static void test_without_a_table(void) {
  pawl_metric_add(ASKED, 0, 1);
  pawl_metric_observe_ms(DELAY, 1);
  g_autofree char *text = pawl_metrics_text();
  g_assert_cmpstr(text, ==, "");
}

static void *add(void *data) {
  for (int i = 0; i < ADDS; i++) {
    pawl_metric_add(ASKED, 0, 1);
    pawl_metric_observe_ms(DELAY, i % 2 == 0 ? 5 : 6);
  }
  return NULL;
}

static void test_counts(void) {
  pthread_t threads[THREADS];
  pawl_metric_setup(table, G_N_ELEMENTS(table));
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pawl_metric_observe_ms(DELAY, 300001);
  pawl_metric_observe_ms(DELAY, -7);
  pawl_metric_set(BY_KIND, pawl_metric_value(BY_KIND, "a"), 7);
  pawl_metric_set(BY_KIND, pawl_metric_value(BY_KIND, "never heard of"), 8);
  pawl_metric_set(AGE, 0, -1250);
  pawl_metric_info("info", "Who.", "name", "x\"\\\ny", "version", "1", NULL);
  g_autofree char *text = pawl_metrics_text();
  has(text, "# TYPE pawl_asked_total counter");
  has(text, "pawl_asked_total 400000");
  has(text, "# HELP pawl_kinds A back\\\\slash, a\\nbreak, a \"quote\".");
  has(text, "pawl_kinds{kind=\"a\"} 7");
  has(text, "pawl_kinds{kind=\"b\\\"\\\\\\n\"} 0");
  has(text, "pawl_kinds{kind=\"other\"} 8");
  has(text, "pawl_delay_seconds_bucket{le=\"0.005\"} 200001");
  has(text, "pawl_delay_seconds_bucket{le=\"0.01\"} 400001");
  has(text, "pawl_delay_seconds_bucket{le=\"300\"} 400001");
  has(text, "pawl_delay_seconds_bucket{le=\"+Inf\"} 400002");
  has(text, "pawl_delay_seconds_sum 2500.001");
  has(text, "pawl_delay_seconds_count 400002");
  has(text, "pawl_age_seconds -1.25");
  has(text, "pawl_info{name=\"x\\\"\\\\\\ny\",version=\"1\"} 1");
}

static void test_addresses(void) {
  static const struct {
    const char *text, *again; /* NULL: refused */
    gboolean loopback;
  } rows[] = {
    {"127.0.0.1:7295", "127.0.0.1:7295", TRUE},
    {"127.8.9.1:0", "127.8.9.1:0", TRUE},
    {"localhost:1", "127.0.0.1:1", TRUE},
    {"0.0.0.0:65535", "0.0.0.0:65535", FALSE},
    {"10.0.0.1:80", "10.0.0.1:80", FALSE},
    {"[::1]:7295", "[::1]:7295", TRUE},
    {"[::]:1", "[::]:1", FALSE},
    {"127.0.0.1", NULL, FALSE},
    {":7295", NULL, FALSE},
    {"7295", NULL, FALSE},
    {"127.0.0.1:65536", NULL, FALSE},
    {"127.0.0.1:-1", NULL, FALSE},
    {"127.0.0.1:", NULL, FALSE},
    {"::1:7295", NULL, FALSE},
    {"example.org:80", NULL, FALSE},
    {"", NULL, FALSE},
    {"[::1:7295", NULL, FALSE},
    {"127.0.0.1:http", NULL, FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    PawlAddress address;
    char text[PAWL_ADDRESS_TEXT];
    gboolean ok = pawl_address_parse(rows[i].text, &address, &error);
    g_assert_cmpint(ok, ==, rows[i].again != NULL);
    if (!ok) {
      g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INVALID);
      continue;
    }
    g_assert_cmpstr(pawl_address_text((const struct sockaddr *)&address.socket, text), ==, rows[i].again);
    g_assert_cmpint(address.loopback, ==, rows[i].loopback);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/metric/without-a-table", test_without_a_table);
  g_test_add_func("/base/metric/counts", test_counts);
  g_test_add_func("/base/address", test_addresses);
  return g_test_run();
}
