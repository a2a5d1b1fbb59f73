/* SPDX-License-Identifier: Apache-2.0 */
/* Input: "FIELDS ZONE SECONDS\nEXPRESSION": 5 or 6, a number that chooses a zone, the instant to ask from. Without a first line of that
 * form all of it is the expression. */
#include "base/clock.h"
#include "base/error.h"
#include "civil/civil.h"
#include "fuzz.h"

#include <string.h>

static const char *const zones[] = {"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia",
  "America/Sao_Paulo", "Europe/Dublin", "Africa/Cairo", "Antarctica/Troll"};

#define CHECK(condition)                                                                                                                   \
  do {                                                                                                                                     \
    if (!(condition)) g_error("does not hold: %s", #condition);                                                                            \
  } while (0)

/* The first instants: later, whole, matched, and the same from any point between. Returns how many there are of 20. */
static int check_walk(const PawlCron *cron, gint64 after_ms, gboolean every, gint64 answers[20]) {
  gint64 gap_ms = pawl_cron_shortest_gap_ms(cron), at_ms = after_ms, again_ms;
  gboolean no_changes = strcmp(pawl_zone_name(pawl_cron_zone(cron)), "UTC") == 0;
  for (int n = 0; n < 20; n++) {
    gint64 before_ms = at_ms;
    if (!pawl_cron_next(cron, before_ms, &at_ms)) return n;
    CHECK(at_ms > before_ms && at_ms % 1000 == 0 && at_ms <= PAWL_AT_MAX_MS);
    CHECK(pawl_cron_matches(cron, at_ms) && !pawl_cron_matches(cron, at_ms + 1));
    if (n > 0 && no_changes) CHECK(gap_ms > 0 && at_ms - before_ms >= gap_ms);
    if (!every) {
      CHECK(pawl_cron_next(cron, at_ms - 1, &again_ms) && again_ms == at_ms);
      CHECK(pawl_cron_next(cron, before_ms + (at_ms - before_ms) / 2, &again_ms) && again_ms == at_ms);
      if (at_ms - 1000 > before_ms) CHECK(!pawl_cron_matches(cron, at_ms - 1000));
    }
    answers[n] = at_ms;
  }
  return 20;
}

static void check_cron(const PawlCron *cron, PawlCronFields fields, PawlZone *zone, gint64 after_ms) {
  gint64 answers[20], answers_again[20];
  g_autofree char *text = pawl_cron_text(cron), *sentence = pawl_cron_explain(cron);
  g_autoptr(GPtrArray) warnings = pawl_cron_warnings(cron, after_ms);
  gboolean every = strstr(text, "@every") != NULL;
  int n = check_walk(cron, after_ms, every, answers);
  CHECK(g_utf8_validate(sentence, -1, NULL) && g_str_has_suffix(sentence, "."));
  for (guint i = 0; i < warnings->len; i++) CHECK(g_str_has_suffix(warnings->pdata[i], "."));
  PawlCron *again = pawl_cron_parse(text, fields, "key", zone, NULL);
  CHECK(again != NULL || strlen(text) > 1024); /* the normal form may be longer than what is accepted */
  if (again == NULL) return;
  g_autofree char *text_again = pawl_cron_text(again);
  CHECK(strcmp(text, text_again) == 0);
  CHECK(check_walk(again, after_ms, every, answers_again) == n);
  CHECK(memcmp(answers, answers_again, (gsize)n * sizeof answers[0]) == 0);
  pawl_cron_unref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
  g_autofree char *text = g_strndup((const char *)bytes, n_bytes);
  const char *line_end = strchr(text, '\n'), *expression = text;
  gint64 after_ms = G_GINT64_CONSTANT(1774600000000);
  PawlCronFields fields = PAWL_CRON_MINUTES;
  guint64 zone_number = 0;
  if (line_end != NULL && (text[0] == '5' || text[0] == '6') && text[1] == ' ') {
    char *end;
    fields = text[0] == '5' ? PAWL_CRON_MINUTES : PAWL_CRON_SECONDS;
    zone_number = g_ascii_strtoull(text + 2, &end, 10);
    after_ms = (gint64)(g_ascii_strtoull(end, NULL, 10) % (PAWL_AT_MAX_MS / 1000 + 2)) * 1000 - 1;
    expression = line_end + 1;
  }
  PawlZone *zone = pawl_zone_new(zones[zone_number % G_N_ELEMENTS(zones)], NULL);
  GError *error = NULL;
  PawlCron *cron = pawl_cron_parse(expression, fields, "key", zone, &error);
  if (cron == NULL) {
    CHECK(g_error_matches(error, PAWL_ERROR, PAWL_ERROR_INVALID) && g_str_has_prefix(error->message, "column "));
    CHECK(g_utf8_validate(error->message, -1, NULL));
    g_error_free(error);
  } else {
    CHECK(error == NULL);
    check_cron(cron, fields, zone, after_ms);
    pawl_cron_unref(cron);
  }
  pawl_zone_unref(zone);
  return 0;
}
