/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the civil room share: short ways to make values, and a stable stream of random numbers. */
#pragma once
#include "base/clock.h"
#include "base/error.h"
#include "civil/civil.h"

#include <string.h>

static inline PawlZone *zone_of(const char *name) {
  GError *error = NULL;
  PawlZone *zone = pawl_zone_new(name, &error);
  g_assert_no_error(error);
  return zone;
}

/* Five fields, or six and seven where there are as many. */
static inline PawlCron *cron_of(const char *expression, const char *zone_name) {
  GError *error = NULL;
  PawlZone *zone = zone_of(zone_name);
  g_auto(GStrv) words = g_strsplit(expression, " ", -1);
  PawlCron *cron =
    pawl_cron_parse(expression, g_strv_length(words) > 5 ? PAWL_CRON_SECONDS : PAWL_CRON_MINUTES, "project/task/trigger", zone, &error);
  if (cron == NULL) g_error("%s: %s", expression, error->message);
  pawl_zone_unref(zone);
  return cron;
}

static inline gint64 instant(const char *text) {
  GError *error = NULL;
  gint64 at_ms = 0;
  pawl_instant_parse(text, &at_ms, &error);
  g_assert_no_error(error);
  return at_ms;
}

/* xorshift: the same numbers in every run. */
static inline guint64 random_next(guint64 *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}
static inline gint64 random_below(guint64 *state, gint64 n) { return (gint64)(random_next(state) % (guint64)n); }

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlZone, pawl_zone_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlCron, pawl_cron_unref)
