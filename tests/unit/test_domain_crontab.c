/* SPDX-License-Identifier: Apache-2.0 */
/* Crontabs: real ones import without loss, each rule of crontab(5) has a case, and what cannot be honoured is said with its line. */
#include "base/clock.h"
#include "domain/crontab.h"
#include "test_domain.h"

static const PawlCrontabOptions user_options = {"tab", PAWL_CRONTAB_USER, "Europe/Berlin", "me", "/home/me", FALSE};
static const PawlCrontabOptions system_options = {"tab", PAWL_CRONTAB_SYSTEM, "Europe/Berlin", "me", "/home/me", TRUE};

static json_t *import(const char *text, const PawlCrontabOptions *options, char **ret_said) {
  g_autoptr(GPtrArray) issues = issues_new();
  json_t *tree = pawl_crontab_to_json(text, strlen(text), options, issues);
  g_assert_cmpint(tree == NULL, ==, count_errors(issues) > 0);
  if (ret_said != NULL) *ret_said = issues_text(issues);
  return tree;
}

/* The tree is a good file, and so is its print, which reads back to the same. */
static PawlBundle *check_file(const json_t *tree) {
  g_autoptr(GPtrArray) issues = issues_new();
  g_autofree char *yaml = pawl_json_to_yaml(tree);
  g_autoptr(PawlBundle) direct = pawl_bundle_from_json(tree, issues);
  PawlBundle *printed = bundle_of(yaml, issues);
  g_autofree char *said = issues_text(issues);
  g_assert_cmpstr(said, ==, ""); /* overlap is allow, so nothing is said about timeouts either */
  g_assert_true(direct != NULL && printed != NULL);
  g_assert_cmpint(direct->tasks->len, ==, printed->tasks->len);
  for (guint i = 0; i < direct->tasks->len; i++)
    g_assert_cmpstr(((PawlTaskDef *)direct->tasks->pdata[i])->digest, ==, ((PawlTaskDef *)printed->tasks->pdata[i])->digest);
  return printed;
}

/* ---- the real ones ---- */

static const PawlTaskDef *find_task(const PawlBundle *bundle, const char *user, const char *command) {
  for (guint i = 0; i < bundle->tasks->len; i++) {
    const PawlTaskDef *task = g_ptr_array_index(bundle->tasks, i);
    if (g_strcmp0(task->spec->user, user) == 0 && strcmp(task->spec->command, command) == 0) return task;
  }
  return NULL;
}

static const char *env_value(const PawlTaskSpec *spec, const char *name) {
  for (guint i = 0; i < spec->env->len; i++)
    if (strcmp(((PawlEnvVar *)spec->env->pdata[i])->name, name) == 0) return ((PawlEnvVar *)spec->env->pdata[i])->value;
  return NULL;
}

/* A trigger with that expression fires when the raw fields say. */
static void check_trigger(const PawlTaskDef *task, const char *raw, const char *normal) {
  PawlZone *zone = pawl_zone_new("Europe/Berlin", NULL);
  PawlCron *cron = pawl_cron_parse(raw, PAWL_CRON_MINUTES, NULL, zone, NULL);
  guint found = 0;
  for (guint i = 0; i < task->triggers->len; i++) {
    const PawlTriggerDef *trigger = g_ptr_array_index(task->triggers, i);
    gint64 a_ms = TEST_NOW_MS, b_ms = TEST_NOW_MS;
    if (strcmp(trigger->spec->expression, normal) != 0) continue;
    found++;
    g_assert_true(trigger->spec->overlap == PAWL_OVERLAP_ALLOW && trigger->spec->misfire.misfire == PAWL_MISFIRE_SKIP);
    for (int n = 0; n < 50; n++) {
      gboolean has = pawl_cron_next(cron, a_ms, &a_ms);
      g_assert_cmpint(has, ==, pawl_timing_next(&trigger->spec->timing, b_ms, &b_ms));
      g_assert_cmpint(a_ms, ==, b_ms);
    }
    g_assert_cmpint(pawl_cron_is_reboot(cron), ==, trigger->spec->timing.kind == PAWL_TIMING_REBOOT);
  }
  g_assert_cmpint(found, ==, 1);
  pawl_cron_unref(cron);
  pawl_zone_unref(zone);
}

/* A second, simpler reader of the same files: these use no quotes, no % but \%, and have a user on each line. */
static void check_line(const PawlBundle *bundle, GHashTable *variables, const char *line, guint *n_lines) {
  static GRegex *entry, *variable;
  g_autoptr(GMatchInfo) match = NULL, set = NULL;
  if (entry == NULL) entry = g_regex_new("^\\s*(@\\w+|(?:\\S+\\s+){4}\\S+)\\s+(\\S+)\\s+(.*)$", 0, 0, NULL);
  if (variable == NULL) variable = g_regex_new("^(\\w+)\\s*=\\s*(.*?)\\s*$", 0, 0, NULL);
  if (g_regex_match(variable, line, 0, &set)) {
    g_hash_table_insert(variables, g_match_info_fetch(set, 1), g_match_info_fetch(set, 2));
    return;
  }
  g_assert_true(g_regex_match(entry, line, 0, &match));
  g_autofree char *raw = g_match_info_fetch(match, 1), *user = g_match_info_fetch(match, 2), *rest = g_match_info_fetch(match, 3);
  g_auto(GStrv) fields = g_regex_split_simple("\\s+", raw, 0, 0), pieces = g_strsplit(rest, "\\%", -1);
  g_autofree char *normal = g_strjoinv(" ", fields), *command = g_strjoinv("%", pieces);
  const PawlTaskDef *task = find_task(bundle, user, command);
  GHashTableIter iter;
  gpointer name, value;
  g_assert_nonnull(task);
  for (g_hash_table_iter_init(&iter, variables); g_hash_table_iter_next(&iter, &name, &value);)
    g_assert_cmpstr(env_value(task->spec, name), ==, value);
  const char *path = g_hash_table_lookup(variables, "PATH"), *mailto = g_hash_table_lookup(variables, "MAILTO");
  g_assert_cmpstr(env_value(task->spec, "PATH"), ==, path != NULL ? path : "/usr/bin:/bin");
  g_assert_cmpstr(task->spec->mail_to, ==, mailto != NULL ? mailto : user);
  g_assert_true(task->spec->kind == PAWL_WORK_SHELL && task->spec->keep_background && task->spec->mail_when == PAWL_MAIL_OUTPUT);
  check_trigger(task, raw, normal);
  ++*n_lines;
}

static void test_real(gconstpointer data) {
  g_autofree char *text = NULL, *said = NULL;
  g_autoptr(GHashTable) variables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  PawlCrontabOptions options = {data, PAWL_CRONTAB_DETECT, "Europe/Berlin", "me", "/home/me", TRUE};
  guint n_lines = 0, n_triggers = 0;
  g_assert_true(g_file_get_contents(data, &text, NULL, NULL));
  g_autoptr(json_t) tree = import(text, &options, &said);
  g_assert_cmpstr(said, ==, "");
  g_autoptr(PawlBundle) bundle = check_file(tree);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    const char *begin = *line + strspn(*line, " \t");
    if (*begin != '\0' && *begin != '#') check_line(bundle, variables, begin, &n_lines);
  }
  for (guint i = 0; i < bundle->tasks->len; i++) n_triggers += ((PawlTaskDef *)bundle->tasks->pdata[i])->triggers->len;
  g_assert_cmpint(n_lines, >, 0);
  g_assert_cmpint(n_lines, ==, n_triggers);
}

/* ---- rules ---- */

static void test_command_and_input(void) {
  static const struct {
    const char *rest, *command, *input;
  } cases[] = {
    {"echo a", "echo a", NULL},
    {"cat%one%two", "cat", "one\ntwo\n"},
    {"cat%one%two%", "cat", "one\ntwo\n"},
    {"cat%", "cat", NULL},
    {"cat%%", "cat", "\n"},
    {"date +\\%F", "date +%F", NULL},
    {"a\\\\b", "a\\\\b", NULL},
    {"a\\\\%b", "a\\\\", "b\n"},
    {"cat%50\\% off%x", "cat", "50% off\nx\n"},
    {"cat%a\\b", "cat", "a\\b\n"},
    {"x # no comment", "x # no comment", NULL},
    {"x  ", "x  ", NULL},
    {"x\ty", "x\ty", NULL},
    {"x \xc3\xa4", "x \xc3\xa4", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf("* * * * * %s\n", cases[i].rest);
    g_autoptr(json_t) tree = import(text, &user_options, NULL);
    g_autoptr(PawlBundle) bundle = check_file(tree);
    const PawlTaskSpec *spec = ((PawlTaskDef *)bundle->tasks->pdata[0])->spec;
    g_test_message("%s", cases[i].rest);
    g_assert_cmpstr(spec->command, ==, cases[i].command);
    g_assert_cmpstr(spec->input, ==, cases[i].input);
  }
}

/* The value of A for a line below that variable line; NULL: it is none (and then no line either). */
static void test_variables(void) {
  static const struct {
    const char *line, *value;
  } cases[] = {
    {"A=b", "b"},
    {"A = b c ", "b c"},
    {"A\t=\tb", "b"},
    {"  A=b", "b"},
    {"A=\"b  c \"", "b  c "},
    {"A='b \"c\"'", "b \"c\""},
    {"'A'=b", "b"},
    {"\"A\" = b", "b"},
    {"A=", ""},
    {"A=''", ""},
    {"A=$HOME/x", "$HOME/x"},
    {"A=b # c", "b # c"},
    {"A=b=c", "b=c"},
    {"A=b'c'", "b'c'"},
    {"A=b\r", "b"},
    {"A='b'\r", "b"},
    {"A=1\nA=2", "2"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf("%s\n* * * * * x", cases[i].line);
    g_autoptr(json_t) tree = import(text, &user_options, NULL);
    g_autoptr(PawlBundle) bundle = check_file(tree);
    g_test_message("%s", cases[i].line);
    g_assert_cmpstr(env_value(((PawlTaskDef *)bundle->tasks->pdata[0])->spec, "A"), ==, cases[i].value);
  }
}

static void test_variables_hold_for_later_lines(void) {
  g_autoptr(json_t) tree = import(
    "1 * * * * one\nA=1\nMAILTO=\n2 * * * * two\nMAILTO=ops\nHOME=/srv\nSHELL=/bin/bash\nCRON_TZ=Asia/Tokyo\nPATH=/p\n3 * * * * three\nCRON_TZ=\nHOME=/home/me\n4 * * * * four\n",
    &user_options, NULL);
  g_autofree char *yaml = pawl_json_to_yaml(tree);
  g_autoptr(PawlBundle) bundle = check_file(tree);
  const PawlTaskSpec *spec[4];
  const char *zones[4];
  for (guint i = 0; i < 4; i++) {
    const PawlTaskDef *task = bundle->tasks->pdata[i];
    spec[i] = task->spec;
    zones[i] = ((PawlTriggerDef *)task->triggers->pdata[0])->spec->zone;
    g_assert_null(task->spec->user);
  }
  g_assert_null(env_value(spec[0], "A"));
  g_assert_cmpstr(env_value(spec[1], "A"), ==, "1");
  g_assert_cmpstr(spec[0]->mail_to, ==, "me");
  g_assert_cmpint(spec[1]->mail_when, ==, PAWL_MAIL_NEVER);
  g_assert_cmpstr(spec[2]->mail_to, ==, "ops");
  g_assert_cmpstr(spec[1]->cwd, ==, NULL);
  g_assert_cmpstr(spec[2]->cwd, ==, "/srv");
  g_assert_cmpstr(env_value(spec[2], "HOME"), ==, "/srv");
  g_assert_cmpstr(spec[3]->cwd, ==, NULL);
  g_assert_cmpstr(spec[1]->shell, ==, "/bin/sh");
  g_assert_cmpstr(spec[2]->shell, ==, "/bin/bash");
  g_assert_cmpstr(env_value(spec[0], "PATH"), ==, "/usr/bin:/bin");
  g_assert_cmpstr(env_value(spec[2], "PATH"), ==, "/p");
  g_assert_cmpstr(zones[1], ==, "Europe/Berlin");
  g_assert_cmpstr(zones[2], ==, "Asia/Tokyo");
  g_assert_cmpstr(zones[3], ==, "Europe/Berlin");
}

/* What is said, word for word; the lines that are good are imported all the same when there is no error. */
static void test_diagnostics(void) {
  static const struct {
    const char *text, *said;
  } cases[] = {
    {"61 * * * * x", "tab:1:1: error: '61' in minute: it is out of range, 0 to 59; allowed are 0-59, *, lists, ranges, steps, H\n"},
    {"# c\n\n  0\t25 * * * x", "tab:3:3: error: '25' in hour: it is out of range, 0 to 23; allowed are 0-23, *, lists, ranges, steps, H\n"},
    {"0 0 * *", "tab:1:8: error: 4 of five fields, and no command; minute hour day-of-month month day-of-week command\n"},
    {"0 0 * * *", "tab:1:10: error: no command; minute hour day-of-month month day-of-week command\n"},
    {"@daily", "tab:1:7: error: no command; minute hour day-of-month month day-of-week command\n"},
    {"0 0 * * * %x", "tab:1:11: error: no command before the percent sign\n"},
    {"A='b\n0 0 * * * x", "tab:1:3: error: A: text follows the quote, or the quote is not closed\n"},
    {"A='b' c\n0 0 * * * x", "tab:1:3: error: A: text follows the quote, or the quote is not closed\n"},
    {"0 0 * * * x\xff", "tab:1:12: error: not UTF-8\n"},
    {"# \xff latin-1 in a comment\n0 0 * * * x", ""},
    {"LOGNAME=you\n0 0 * * * x", "tab:1:1: warning: LOGNAME is not honoured: it is always the user's name, in cron too\n"},
    {"PAWL_X=1\n0 0 * * * x", "tab:1:1: warning: PAWL_X is not honoured: names that begin with PAWL_ are pawl's own\n"},
    {"MAILFROM=x\n0 0 * * * x", "tab:1:1: warning: MAILFROM is a mere variable here: mail goes out as the mail system has it\n"},
    {"MAILTO=-oops\n0 0 * * * x", "tab:1:1: warning: MAILTO is not honoured, and no mail is sent: it is no address\n"},
    {"HOME=x\n0 0 * * * x", "tab:1:1: warning: HOME is not honoured as the working directory: it is no absolute path\n"},
    {"SHELL=bash\n0 0 * * * x", "tab:1:1: warning: SHELL is not honoured, and /bin/sh runs the commands: it is no absolute path\n"},
    {"RANDOM_DELAY=soon\n0 0 * * * x", "tab:1:1: warning: RANDOM_DELAY is not honoured: it is a number of minutes, 0 to 1440\n"},
    {"RANDOM_DELAY=5\n*/5 * * * * x",
      "tab:2:1: warning: RANDOM_DELAY is cut to 4m59s, below the shortest gap between two runs of this line\n"},
    {"RANDOM_DELAY=4\n*/5 * * * * x", ""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *said = NULL;
    g_autoptr(json_t) tree = import(cases[i].text, &user_options, &said);
    g_assert_cmpstr(said, ==, cases[i].said);
    if (tree == NULL) continue;
    g_autoptr(PawlBundle) bundle = check_file(tree);
    g_assert_cmpint(bundle->tasks->len, ==, 1);
  }
}

static void test_several_bad_lines(void) {
  g_autofree char *said = NULL;
  g_assert_null(import("0 0 * * * fine\n61 * * * * x\n0 0 * * * also\n0 0 * *\nCRON_TZ=Nowhere/Land\n", &user_options, &said));
  g_auto(GStrv) lines = g_strsplit(said, "\n", -1);
  g_assert_cmpint(g_strv_length(lines), ==, 4);
  g_assert_true(g_str_has_prefix(lines[0], "tab:2:") && g_str_has_prefix(lines[1], "tab:4:") && g_str_has_prefix(lines[2], "tab:5:"));
}

static void test_delay(void) {
  g_autoptr(json_t) tree = import("RANDOM_DELAY=10\n0 10 * * * x\nRANDOM_DELAY=0\n0 11 * * * y\n", &user_options, NULL);
  g_autoptr(PawlBundle) bundle = check_file(tree);
  g_assert_cmpint(
    ((PawlTriggerDef *)((PawlTaskDef *)bundle->tasks->pdata[0])->triggers->pdata[0])->spec->timing.jitter_ms, ==, 10 * PAWL_MINUTE_MS);
  g_assert_cmpint(((PawlTriggerDef *)((PawlTaskDef *)bundle->tasks->pdata[1])->triggers->pdata[0])->spec->timing.jitter_ms, ==, 0);
}

static void test_users(void) {
  PawlCrontabOptions options = system_options;
  g_autofree char *said = NULL;
  g_autoptr(json_t) tree =
    import("* * * * * www-data a\n* * * * * a.b-c_d\tb\n@daily _x c d\n-*/5 * * * * root e\n", &system_options, NULL);
  g_autoptr(PawlBundle) bundle = check_file(tree);
  static const char *const users[] = {"www-data", "a.b-c_d", "_x", "root"}, *const commands[] = {"a", "b", "c d", "e"};
  for (guint i = 0; i < 4; i++) g_assert_nonnull(find_task(bundle, users[i], commands[i]));
  options.may_change_user = FALSE;
  g_assert_null(import("* * * * * me a\n* * * * * root b\n* * * * * c\n* * * * * /bin/d e\n", &options, &said));
  g_assert_cmpstr(said, ==,
    "tab:2:11: error: a line for user 'root', which 'me' may not run as; import it as root\n"
    "tab:3:11: error: no command after the user; in a system crontab a user stands before the command\n"
    "tab:4:11: error: not a name of a user; in a system crontab a user stands before the command\n");
  options = user_options;
  options.may_change_user = TRUE; /* root imports somebody's crontab */
  g_autoptr(json_t) mine = import("* * * * * a\n", &options, NULL);
  g_autoptr(PawlBundle) of_me = check_file(mine);
  g_assert_nonnull(find_task(of_me, "me", "a"));
}

static void test_detection(void) {
  static const struct {
    const char *file, *text;
    PawlCrontabFormat format;
  } cases[] = {
    {"tab", "* * * * * root x\n", PAWL_CRONTAB_SYSTEM},
    {"tab", "* * * * * www-data /x\n@daily list if [ -x y ]; then y; fi\n", PAWL_CRONTAB_SYSTEM},
    {"tab", "* * * * * /bin/x\n", PAWL_CRONTAB_USER},
    {"tab", "* * * * * x\n", PAWL_CRONTAB_USER},
    {"tab", "* * * * * amavis test -e x\n* * * * * y\n", PAWL_CRONTAB_USER},
    {"tab", "* * * * * php /var/www/cron.php\n", PAWL_CRONTAB_USER},
    {"tab", "* * * * * cd /x && y\n", PAWL_CRONTAB_USER},
    {"tab", "* * * * * [ -x y ] && y\n", PAWL_CRONTAB_USER},
    {"tab", "* * * * * A=1 x\n", PAWL_CRONTAB_USER},
    {"tab", "* * * * * root x\n* * * * * broken\n", PAWL_CRONTAB_SYSTEM},
    {"tab", "* * * * * me x\n", PAWL_CRONTAB_SYSTEM},
    {"tab", "", PAWL_CRONTAB_USER},
    {"/etc/cron.d/x", "* * * * * php y\n", PAWL_CRONTAB_SYSTEM},
    {"/var/spool/cron/crontabs/x", "* * * * * root y\n", PAWL_CRONTAB_USER},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GPtrArray) issues = issues_new();
    g_autoptr(GPtrArray) lines = pawl_crontab_read(cases[i].text, strlen(cases[i].text), &user_options, issues);
    g_test_message("%s", cases[i].text);
    g_assert_cmpint(pawl_crontab_detect(lines, cases[i].file, "me"), ==, cases[i].format);
  }
}

static void test_task_names(void) {
  static const struct {
    const char *file, *command, *name;
  } cases[] = {
    {"/etc/cron.d/mdadm", "if [ -x /usr/share/mdadm/checkarray ] && [ $(date +%d) -le 7 ]; then /usr/share/mdadm/checkarray --cron; fi",
      "mdadm-checkarray"},
    {"certbot.cron", "test -x /usr/bin/certbot -a \\! -d /run/systemd/system && perl -e 'sleep int(rand(43200))' && certbot -q renew",
      "certbot"},
    {"tab", "command -v debian-sa1 > /dev/null && debian-sa1 1 1", "tab-debian-sa1"},
    {"tab", "php /usr/share/cacti/site/poller.php 2>&1 >/dev/null | if [ -f /usr/bin/ts ] ; then ts ; fi", "tab-poller"},
    {"tab", "A=$({ cat x; } | tail -1); B=${A:-y}; if [ -d \"$A\" ]; then find \"$A/\"; fi", "tab-find"},
    {"tab", "cd /srv/app && FOO=1 nice -n 10 ionice -c3 flock -n /tmp/l timeout 60 ./bin/run.sh --x", "tab-run"},
    {"tab", "bash -c 'x y'", "tab-bash"},
    {"tab", "python3 -m http.server", "tab-http.server"},
    {"tab", "/opt/a/b.py", "tab-b"},
    {"tab", "cd /x", "tab-cd"},
    {"tab", "\"/opt/my prog/run it\" x", "tab-run-it"},
    {"tab", "$CMD x", "tab-CMD"},
    {"tab", "\xc3\xa4\xc3\xb6", "tab-job"},
    {"tab", ";;", "tab-job"},
    {"tab", "'unclosed", "tab-unclosed"},
    {"/x/.hidden", "a", "hidden-a"},
    {"-", "a", "crontab-a"},
    {"", "a", "crontab-a"},
    {"munin.cron", "/usr/bin/munin-cron", "munin-cron"},
    {"my tab.txt", "a", "my-tab-a"},
    {"tab", "sudo -u x -- /bin/y z", "tab-y"},
    {"tab", ">/dev/null 2>&1 x", "tab-x"},
    {"tab", "x>/dev/null", "tab-x"},
    {"tab", "(x; y)", "tab-x"},
    {"tab", "{ x; }", "tab-x"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *name = pawl_crontab_task_name(cases[i].file, cases[i].command);
    g_test_message("%s", cases[i].command);
    g_assert_cmpstr(name, ==, cases[i].name);
    g_assert_true(pawl_name_valid(name));
  }
}

static char *names_of(const char *text) {
  g_autoptr(json_t) tree = import(text, &user_options, NULL);
  g_autoptr(PawlBundle) bundle = check_file(tree);
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < bundle->tasks->len; i++) {
    const PawlTaskDef *task = bundle->tasks->pdata[i];
    g_string_append_printf(out, "%s(", task->name);
    for (guint j = 0; j < task->triggers->len; j++)
      g_string_append_printf(out, "%s%s", j > 0 ? " " : "", ((PawlTriggerDef *)task->triggers->pdata[j])->name);
    g_string_append(out, ") ");
  }
  return g_string_free(out, FALSE);
}

static void test_names_and_merging(void) {
  g_autofree char *a = names_of("1 * * * * one\n2 * * * * two\n"), *b = names_of("# new\nA=1\n5 * * * * zero\n"),
                  *c = names_of("1 * * * * x a\n2 * * * * x b\n");
  g_autofree char *d = names_of("# new\n\n9 * * * * x b\n1 * * * * x a\n"), *e = names_of("1 * * * * x\n2 * * * * x\n3 * * * * x\n");
  g_autofree char *f = names_of("1 * * * * x\nA=1\n1 * * * * x\n"), *g = names_of("1 * * * * x%a\n1 * * * * x%b\n");
  g_assert_cmpstr(a, ==, "tab-one(cron) tab-two(cron) ");
  g_assert_cmpstr(b, ==, "tab-zero(cron) ");
  g_assert_cmpstr(e, ==, "tab-x(cron cron-2 cron-3) ");
  g_auto(GStrv) in_c = g_strsplit(c, " ", -1), in_d = g_strsplit(d, " ", -1);
  g_assert_cmpstr(in_c[0], ==, in_d[1]); /* hashes go with the command, not with the line */
  g_assert_cmpstr(in_c[1], ==, in_d[0]);
  g_assert_true(g_str_has_prefix(c, "tab-x-") && strlen(in_c[0]) == strlen("tab-x-01234567(cron)"));
  g_auto(GStrv) in_f = g_strsplit(f, " ", -1), in_g = g_strsplit(g, " ", -1); /* told apart by what is not in user and command */
  g_assert_cmpint(g_strv_length(in_f), ==, 3);
  g_assert_cmpstr(in_f[0], !=, in_f[1]);
  g_assert_cmpstr(in_g[0], !=, in_g[1]);
}

static void test_shape(void) {
  g_autoptr(json_t) tree = import("@reboot\techo last", &user_options, NULL);
  g_autofree char *yaml = pawl_json_to_yaml(tree);
  g_assert_cmpstr(yaml, ==,
    "tasks:\n  tab-echo:\n    shell: echo last\n    env: {PATH: '/usr/bin:/bin', SHELL: /bin/sh}\n    mail: {to: me, when: output}\n"
    "    background: keep\n    triggers:\n      cron: {cron: \"@reboot\", zone: Europe/Berlin, overlap: allow, misfire: skip}\n");
}

static void test_limits(void) {
  for (guint extra = 0; extra <= 2; extra++) {
    g_autofree char *filling = g_strnfill(64 * 1024 - 11 + extra, 'x'), *text = g_strdup_printf("0 0 * * * %s", filling);
    g_autoptr(GPtrArray) issues = issues_new();
    g_autoptr(json_t) tree = pawl_crontab_to_json(text, strlen(text), &user_options, issues);
    g_assert_cmpint(tree != NULL, ==, extra <= 1);
  }
  for (guint n = 255; n <= 257; n++) {
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GPtrArray) issues = issues_new();
    for (guint i = 0; i < n; i++) g_string_append_printf(text, "A%u=x\n", i);
    g_string_append(text, "0 0 * * * x");
    g_autoptr(json_t) tree = pawl_crontab_to_json(text->str, text->len, &user_options, issues);
    g_assert_cmpint(tree != NULL, ==, n <= 256);
  }
  for (gsize extra = 0; extra <= 2; extra++) {
    g_autoptr(GPtrArray) issues = issues_new();
    g_autofree char *a = g_strnfill(65532, 'x'), *b = g_strnfill(64509 + extra, 'x');
    g_autofree char *text =
      g_strdup_printf("A=%s\nB=%s\n0 0 * * * x", a, b); /* each with its name, '=' and NUL; 130,048 in all is the limit */
    g_autoptr(json_t) tree = pawl_crontab_to_json(text, strlen(text), &user_options, issues);
    g_assert_cmpint(tree != NULL, ==, extra <= 1);
    g_autoptr(PawlBundle) bundle = tree != NULL ? check_file(tree) : NULL;
    g_assert_cmpint(bundle != NULL, ==, tree != NULL);
  }
  for (gsize bytes = PAWL_FILE_MAX_BYTES; bytes <= PAWL_FILE_MAX_BYTES + 1; bytes++) {
    g_autofree char *text = g_strnfill(bytes, '\n');
    g_autoptr(GPtrArray) issues = issues_new();
    g_autoptr(json_t) tree = pawl_crontab_to_json(text, bytes, &user_options, issues);
    g_assert_cmpint(tree != NULL, ==, bytes <= PAWL_FILE_MAX_BYTES);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GDir) folder = g_dir_open(PAWL_TEST_DATA "/crontabs", 0, NULL);
  g_assert_nonnull(folder);
  for (const char *name; (name = g_dir_read_name(folder)) != NULL;) {
    g_autofree char *test = g_strdup_printf("/domain/crontab/real/%s", name);
    g_test_add_data_func_full(test, g_build_filename(PAWL_TEST_DATA "/crontabs", name, NULL), test_real, g_free);
  }
  g_test_add_func("/domain/crontab/command-and-input", test_command_and_input);
  g_test_add_func("/domain/crontab/variables", test_variables);
  g_test_add_func("/domain/crontab/variables-hold", test_variables_hold_for_later_lines);
  g_test_add_func("/domain/crontab/diagnostics", test_diagnostics);
  g_test_add_func("/domain/crontab/several-bad", test_several_bad_lines);
  g_test_add_func("/domain/crontab/delay", test_delay);
  g_test_add_func("/domain/crontab/users", test_users);
  g_test_add_func("/domain/crontab/detection", test_detection);
  g_test_add_func("/domain/crontab/task-names", test_task_names);
  g_test_add_func("/domain/crontab/names-and-merging", test_names_and_merging);
  g_test_add_func("/domain/crontab/shape", test_shape);
  g_test_add_func("/domain/crontab/limits", test_limits);
  return g_test_run();
}
