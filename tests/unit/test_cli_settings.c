/* SPDX-License-Identifier: Apache-2.0 */
/* Which setting wins, and whence it is said to come. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/settings.h"

static void check_text(char **environment, const char *flag, const char *value, const char *source) {
  PawlSettings *settings = pawl_settings_new(environment);
  const char *found;
  if (flag != NULL) pawl_settings_set_flag(settings, PAWL_SETTING_SLOTS, flag);
  g_assert_cmpstr(pawl_setting_text(settings, PAWL_SETTING_SLOTS, &found), ==, value);
  g_assert_cmpstr(found, ==, source);
  pawl_settings_free(settings);
}

static void test_precedence(void) {
  char *none[] = {NULL}, *empty[] = {"PAWL_SLOTS=", NULL}, *set[] = {"PAWL_SLOTS=8", NULL};
  check_text(none, NULL, "64", "default");
  check_text(empty, NULL, "64", "default");
  check_text(set, NULL, "8", "PAWL_SLOTS");
  check_text(set, "2", "2", "--slots");
  check_text(set, "", "", "--slots");
}

static void test_table(void) {
  const PawlSetting *table = pawl_setting_table();
  for (gsize i = 0; i < PAWL_N_SETTINGS; i++) {
    PawlSettings *settings = pawl_settings_new((char *[]){NULL});
    g_autofree char *flag = g_strconcat("--", table[i].name, NULL);
    const char *source;
    g_assert_cmpint(table[i].id, ==, i);
    g_assert_nonnull(table[i].help);
    g_assert_true(pawl_setting_find(table[i].name) == &table[i]);
    pawl_settings_set_flag(settings, table[i].id, "x");
    pawl_setting_text(settings, table[i].id, &source);
    g_assert_cmpstr(source, ==, flag);
    pawl_settings_free(settings);
  }
}

static void test_bad_values(void) {
  char *set[] = {"PAWL_SLOTS=many", "PAWL_LEASE=1s", NULL};
  PawlSettings *settings = pawl_settings_new(set);
  g_autoptr(GError) variable = NULL, flag = NULL, range = NULL;
  gint count = 7;
  gint64 ms = 7;
  g_assert_false(pawl_setting_count(settings, PAWL_SETTING_SLOTS, 0, 10, &count, &variable));
  g_assert_error(variable, PAWL_ERROR, PAWL_ERROR_CONFIG);
  g_assert_cmpstr(variable->message, ==, "PAWL_SLOTS: 'many' is no number from 0 to 10");
  pawl_settings_set_flag(settings, PAWL_SETTING_SLOTS, "11");
  g_assert_false(pawl_setting_count(settings, PAWL_SETTING_SLOTS, 0, 10, &count, &flag));
  g_assert_error(flag, PAWL_ERROR, PAWL_ERROR_INVALID);
  g_assert_cmpint(count, ==, 7);
  g_assert_false(pawl_setting_duration(settings, PAWL_SETTING_LEASE, 3 * PAWL_SECOND_MS, PAWL_MINUTE_MS, &ms, &range));
  g_assert_cmpstr(range->message, ==, "PAWL_LEASE: '1s' is not within 3s to 1m");
  g_assert_cmpint(ms, ==, 7);
  pawl_settings_free(settings);
}

static void check_folder(char **environment, gboolean root, const char *expected) {
  g_autofree char *folder = pawl_default_store_folder(environment, root);
  g_assert_cmpstr(folder, ==, expected);
}

static void test_default_folder(void) {
  check_folder((char *[]){"STATE_DIRECTORY=/var/lib/p", "XDG_STATE_HOME=/x", "HOME=/h", NULL}, FALSE, "/var/lib/p");
  check_folder((char *[]){"STATE_DIRECTORY=/one:/two", NULL}, TRUE, "/one");
  check_folder((char *[]){"XDG_STATE_HOME=/x", "HOME=/h", NULL}, TRUE, "/var/lib/pawl");
  check_folder((char *[]){"XDG_STATE_HOME=/x", "HOME=/h", NULL}, FALSE, "/x/pawl");
  check_folder((char *[]){"XDG_STATE_HOME=relative", "HOME=/h", NULL}, FALSE, "/h/.local/state/pawl");
  check_folder((char *[]){"HOME=/h", NULL}, FALSE, "/h/.local/state/pawl");
}

static void check_store(char **environment, const char *store, const char *database, const char *url, const char *source) {
  PawlSettings *settings = pawl_settings_new(environment);
  g_autofree char *found = NULL;
  const char *whence = NULL;
  g_autoptr(GError) error = NULL;
  if (store != NULL) pawl_settings_set_flag(settings, PAWL_SETTING_STORE, store);
  if (database != NULL) pawl_settings_set_flag(settings, PAWL_SETTING_DATABASE, database);
  g_assert_true(pawl_settings_store(settings, &found, &whence, &error) == (url != NULL));
  g_assert_cmpstr(found, ==, url);
  if (url != NULL)
    g_assert_cmpstr(whence, ==, source);
  else
    g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INVALID);
  pawl_settings_free(settings);
}

static void test_store(void) {
  char *set[] = {"PAWL_DATABASE_URL=postgresql://h/d", "DATABASE_URL=sqlite:/theirs", "STATE_DIRECTORY=/s", NULL};
  char *none[] = {"DATABASE_URL=sqlite:/theirs", "STATE_DIRECTORY=/s", NULL};
  g_autofree char *here = g_get_current_dir(), *relative = g_strconcat("sqlite:", here, "/a.db", NULL);
  check_store(none, NULL, NULL, "sqlite:/s/pawl.db", "default");
  check_store(set, NULL, NULL, "postgresql://h/d", "PAWL_DATABASE_URL");
  check_store(set, "/a.db", NULL, "sqlite:/a.db", "--store");
  check_store(set, "a.db", NULL, relative, "--store");
  check_store(set, NULL, "sqlite:a.db", relative, "--database");
  check_store(set, "/a.db", "sqlite:/b.db", NULL, NULL);
  check_store(set, "", NULL, NULL, NULL);
  check_store(set, NULL, "", NULL, NULL);
}

static void test_host_zone(void) {
  g_autofree char *named = pawl_host_zone((char *[]){"TZ=America/New_York", NULL}),
                  *colon = pawl_host_zone((char *[]){"TZ=:Asia/Tokyo", NULL}),
                  *posix = pawl_host_zone((char *[]){"TZ=EST5EDT4,M3.2.0", NULL}), *none = pawl_host_zone((char *[]){NULL});
  g_assert_cmpstr(named, ==, "America/New_York");
  g_assert_cmpstr(colon, ==, "Asia/Tokyo");
  g_assert_cmpstr(posix, ==, none);
  g_assert_nonnull(none);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cli/settings/precedence", test_precedence);
  g_test_add_func("/cli/settings/table", test_table);
  g_test_add_func("/cli/settings/bad-values", test_bad_values);
  g_test_add_func("/cli/settings/default-folder", test_default_folder);
  g_test_add_func("/cli/settings/store", test_store);
  g_test_add_func("/cli/settings/host-zone", test_host_zone);
  return g_test_run();
}
