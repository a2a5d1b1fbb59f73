/* SPDX-License-Identifier: Apache-2.0 */
#include "test_civil.h"

static void refused(const char *name, const char *suggestion) {
  g_autoptr(GError) error = NULL;
  g_assert_null(pawl_zone_new(name, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INVALID);
  if (suggestion == NULL) return;
  g_autofree char *text = g_strdup_printf("is '%s' meant?", suggestion);
  if (strstr(error->message, text) == NULL) g_error("'%s' lacks: %s", error->message, text);
}

static void test_names(void) {
  static const char *const known[] = {
    "UTC", "Z", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "EST5EDT", "GB", "America/Port-au-Prince"};
  for (gsize i = 0; i < G_N_ELEMENTS(known); i++) {
    g_autoptr(PawlZone) zone = zone_of(known[i]);
    g_assert_cmpstr(pawl_zone_name(zone), ==, strcmp(known[i], "Z") == 0 ? "UTC" : known[i]);
  }
  static const char *const unknown[] = {"", " ", "Europe", "Europe/", "/Europe/Berlin", "/etc/localtime", "../zoneinfo/UTC",
    "Europe/../UTC", "Europe//Berlin", "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT4", "<+03>-3", "+02:00", ":UTC", "localtime", "posixrules",
    "posix/UTC", "right/UTC", "zone.tab", "tzdata.zi", "Bogus/Zone", "UTC ", "Europe/Berlin\n", "\xff\xfe", "utc0"};
  for (gsize i = 0; i < G_N_ELEMENTS(unknown); i++) refused(unknown[i], NULL);
  g_autofree char *long_name = g_strnfill(100000, 'A');
  refused(long_name, NULL);
}

static void test_suggestions(void) {
  refused("europe/berlin", "Europe/Berlin");
  refused("Berlin", "Europe/Berlin");
  refused("Europe/Berln", "Europe/Berlin");
  refused("America/NewYork", "America/New_York");
  refused("utc", "UTC");
}

static void test_shared(void) {
  g_autoptr(PawlZone) a = zone_of("Europe/Rome"), b = zone_of("Europe/Rome");
  g_assert_true(a == b);
}

/* GLib's zones as a second opinion, at every hour around each change and once a week. It misreads the rule of a zone whose
 * daylight time lies behind its standard time (Dublin) once the file's own changes end, so its opinion counts until 2037. */
static void compare_with_glib(const char *name, gint64 end_s) {
  g_autoptr(PawlZone) zone = zone_of(name);
  GTimeZone *other = g_time_zone_new_identifier(name);
  g_assert_nonnull(other);
  for (gint64 t = 0; t < end_s; t += 7 * 86400 + 3600) {
    gint expected = g_time_zone_get_offset(other, g_time_zone_find_interval(other, G_TIME_TYPE_UNIVERSAL, t));
    if (pawl_zone_offset_s(zone, t * 1000) != expected)
      g_error("%s at %" G_GINT64_FORMAT ": %d, not %d", name, t, pawl_zone_offset_s(zone, t * 1000), expected);
  }
  gint64 at_ms = -1;
  int changes = 0;
  while (pawl_zone_next_change(zone, at_ms, &at_ms) && at_ms / 1000 < end_s) {
    gint before = g_time_zone_get_offset(other, g_time_zone_find_interval(other, G_TIME_TYPE_UNIVERSAL, at_ms / 1000 - 1));
    gint after = g_time_zone_get_offset(other, g_time_zone_find_interval(other, G_TIME_TYPE_UNIVERSAL, at_ms / 1000));
    g_assert_cmpint(before, !=, after);
    g_assert_cmpint(pawl_zone_offset_s(zone, at_ms - 1), ==, before);
    g_assert_cmpint(pawl_zone_offset_s(zone, at_ms), ==, after);
    changes++;
  }
  g_assert_cmpint(changes, <, 2000);
  g_time_zone_unref(other);
}

static void test_all_zones_to_2037(void) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents("/usr/share/zoneinfo/tzdata.zi", &text, NULL, NULL)) {
    g_test_skip("no tzdata.zi to take the names of the zones from");
    return;
  }
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  int zones = 0;
  for (guint i = 0; lines[i] != NULL; i++) {
    g_auto(GStrv) words = g_strsplit(lines[i], " ", 3);
    if (g_strv_length(words) < 2 || strcmp(words[0], "Z") != 0) continue;
    compare_with_glib(words[1], instant("2037-01-01T00:00:00Z") / 1000);
    zones++;
  }
  g_assert_cmpint(zones, >, 300);
}

static void test_footer_to_2900(void) {
  static const char *const names[] = {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Nuuk", "Asia/Gaza",
    "Asia/Jerusalem", "Africa/Cairo", "America/Santiago", "Pacific/Chatham", "America/Havana", "Antarctica/Troll", "Africa/Casablanca",
    "Asia/Tokyo", "Pacific/Apia", "Pacific/Easter"};
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++) compare_with_glib(names[i], PAWL_AT_MAX_MS / 1000);
}

static void test_dublin(void) {
  g_autoptr(PawlZone) zone = zone_of("Europe/Dublin");
  g_assert_cmpint(pawl_zone_offset_s(zone, instant("2026-07-01T00:00:00Z")), ==, 3600);
  g_assert_cmpint(pawl_zone_offset_s(zone, instant("2150-07-01T00:00:00Z")), ==, 3600);
  g_assert_cmpint(pawl_zone_offset_s(zone, instant("2150-12-31T00:00:00Z")), ==, 0);
  gint64 at_ms;
  g_assert_true(pawl_zone_next_change(zone, instant("2150-01-01T00:00:00Z"), &at_ms));
  g_assert_cmpint(at_ms, ==, instant("2150-03-29T01:00:00Z"));
}

static void test_changes(void) {
  gint64 at_ms = 77;
  g_autoptr(PawlZone) utc = zone_of("UTC"), apia = zone_of("Pacific/Apia"), berlin = zone_of("Europe/Berlin");
  g_assert_false(pawl_zone_next_change(utc, 0, &at_ms));
  g_assert_cmpint(at_ms, ==, 77);
  g_assert_true(pawl_zone_next_change(apia, instant("2011-12-01T00:00:00Z"), &at_ms));
  g_assert_cmpint(at_ms, ==, instant("2011-12-30T10:00:00Z"));
  g_assert_cmpint(pawl_zone_offset_s(apia, at_ms) - pawl_zone_offset_s(apia, at_ms - 1), ==, 86400);
  g_assert_false(pawl_zone_next_change(apia, instant("2030-01-01T00:00:00Z"), &at_ms));
  g_assert_true(pawl_zone_next_change(berlin, instant("2900-04-01T00:00:00Z"), &at_ms));
  g_assert_cmpint(at_ms, ==, instant("2900-10-31T01:00:00Z"));
  g_assert_false(pawl_zone_next_change(berlin, at_ms, &at_ms));
}

static gpointer use_zones(gpointer data) {
  static const char *const names[] = {"Europe/Berlin", "Asia/Tokyo", "America/New_York"};
  for (int i = 0; i < 2000; i++) {
    PawlZone *zone = pawl_zone_new(names[i % 3], NULL);
    g_assert_cmpstr(pawl_zone_name(zone), ==, names[i % 3]);
    pawl_zone_unref(pawl_zone_ref(zone));
    pawl_zone_unref(zone);
  }
  return NULL;
}

static void test_threads(void) {
  GThread *threads[4];
  for (int i = 0; i < 4; i++) threads[i] = g_thread_new("zones", use_zones, NULL);
  for (int i = 0; i < 4; i++) g_thread_join(threads[i]);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/civil/zone/names", test_names);
  g_test_add_func("/civil/zone/suggestions", test_suggestions);
  g_test_add_func("/civil/zone/shared", test_shared);
  g_test_add_func("/civil/zone/all-zones-to-2037", test_all_zones_to_2037);
  g_test_add_func("/civil/zone/footer-to-2900", test_footer_to_2900);
  g_test_add_func("/civil/zone/dublin", test_dublin);
  g_test_add_func("/civil/zone/changes", test_changes);
  g_test_add_func("/civil/zone/threads", test_threads);
  return g_test_run();
}
