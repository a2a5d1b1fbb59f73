/* SPDX-License-Identifier: Apache-2.0 */
/* The defaults, as `pawl defaults` prints them. The values of specs are set in spec_task.c and spec_trigger.c; a test reads a file that
 * says nothing and compares. */
#include "domain/domain.h"

static const PawlDefault defaults_table[] = {
  {"zone", "UTC", "of cron expressions"},
  {"overlap", "skip", "busy is an unfinished run of the task that a trigger started, one that waits for a retry included"},
  {"misfire", "fire_once", "after an absence the newest missed occurrence runs"},
  {"misfire_limit", "100", "of fire_all: missed occurrences made up after one absence"},
  {"misfire_grace", "auto", "auto: the gap to the next occurrence, at most 5m; for at: 5m"},
  {"jitter", "0s", "moves the start, never the nominal time"},
  {"offset", "0s", "of every, which is anchored at the Unix epoch"},
  {"retry.attempts", "1", "in all; a lost attempt then fails, saying that it may have done part of its work"},
  {"retry.backoff", "30s", "doubled for each further attempt, give or take 20 %"},
  {"retry.max_backoff", "10m", ""},
  {"retry.when", "[failed, timed_out, lost]", ""},
  {"retry.later", "false", "true: exit code 75 puts the run off without using up an attempt, up to 100 times"},
  {"timeout", "none", "of an attempt; validate warns where overlap is not allow and there is none"},
  {"start_within", "none", "the latest start after the nominal time"},
  {"max_active", "none", "running at the same time"},
  {"kill_after", "10s", "from TERM to KILL"},
  {"pool", "default", "unlimited unless the file says otherwise"},
  {"slots", "1", "that an attempt takes of its pool"},
  {"priority", "0", "-1000 to 1000; one step is worth 10 s of age"},
  {"shell", "/bin/sh", "the program that runs shell commands"},
  {"cwd", "none", "none: the user's home"},
  {"env_pass", "[]", "variables taken from pawl's own environment"},
  {"user", "none", "none: the worker's own; others need its consent"},
  {"umask", "none", "none: the worker's own"},
  {"background", "end", "what outlives the main process is ended; keep: it may go on"},
  {"mail", "never", "or {to: ADDRESS, when: output | failure | always}"},
  {"keep", "7d", "of output; the history is kept for 30d"},
  {"output", "256KiB", "of an attempt's output, first and last parts"},
  {"crontab.overlap", "allow", "in what import crontab writes"},
  {"crontab.misfire", "skip", "in what import crontab writes"},
  {"crontab.zone", "the host's", "in what import crontab writes"},
};

const PawlDefault *pawl_defaults(gsize *ret_n) {
  *ret_n = G_N_ELEMENTS(defaults_table);
  return defaults_table;
}
