/* SPDX-License-Identifier: Apache-2.0 */
/* machine-diagram [--write] PAGE: the page about the run and attempt machine, generated from the table in src/domain/machine.c. Without
 * --write it fails when PAGE is not what the table says. */
#include "domain/domain.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
  "# How runs and attempts move\n\n"
  "This page is generated from the table in `src/domain/machine.c` (`build/tests/unit/machine-diagram --write docs/guide/machine.md`); a test fails when it differs.\n\n"
  "A run is one execution that was asked for; each try of it is an attempt. The store keeps where the attempt is, and the run's state follows "
  "from it. Each event that pawl records carries the number of the row that allowed it, so the history can be checked against this table.\n\n";

static void append_attempts(GString *out, const PawlTransition *rows, gsize n) {
  g_string_append(out, "## An attempt\n\n```mermaid\nstateDiagram-v2\n");
  for (gsize i = 0; i < n; i++) {
    const PawlTransition *row = &rows[i];
    g_autofree char *from = row->from == PAWL_ATTEMPT_NONE ? g_strdup("[*]") : g_strdup(pawl_attempt_state_name(row->from));
    g_string_append_printf(out, "  %s --> %s: %d %s%s\n", from, pawl_attempt_state_name(row->to), row->row,
      pawl_machine_event_name(row->event), row->next_attempt ? " (another follows)" : "");
  }
  for (int state = PAWL_ATTEMPT_SUCCEEDED; state < PAWL_ATTEMPT_NONE; state++)
    g_string_append_printf(out, "  %s --> [*]\n", pawl_attempt_state_name((PawlAttemptState)state));
  g_string_append(out, "```\n\n");
}

/* Whether a run can be in that state while its attempt is in that one: a row that leads to the attempt's state gives it, or one after
 * which another attempt waits. */
static gboolean can_be(const PawlTransition *rows, gsize n, PawlAttemptState attempt, PawlRunState run) {
  for (gsize i = 0; i < n; i++)
    if (rows[i].run == run && (rows[i].to == attempt || (rows[i].next_attempt && attempt == PAWL_ATTEMPT_WAITING))) return TRUE;
  return FALSE;
}

/* What waits for an instant is woken first. */
static gboolean waits_for_instant(PawlRunState run) { return run == PAWL_RUN_SCHEDULED || run == PAWL_RUN_RETRY_WAIT; }

static void append_run_arrows(GString *out, const PawlTransition *rows, gsize n, const PawlTransition *row) {
  const char *to = pawl_run_state_name(row->run), *event = pawl_machine_event_name(row->event);
  if (row->from == PAWL_ATTEMPT_NONE) {
    g_string_append_printf(out, "  [*] --> %s: %s\n", to, event);
    return;
  }
  for (int i = PAWL_RUN_SCHEDULED; i <= PAWL_RUN_RETRY_WAIT; i++) {
    PawlRunState from = (PawlRunState)i;
    if (from == row->run || !can_be(rows, n, row->from, from) || (waits_for_instant(from) && row->event == PAWL_EVENT_GRANT)) continue;
    g_autofree char *arrow = g_strdup_printf("  %s --> %s: %s\n", pawl_run_state_name(from), to, event);
    if (strstr(out->str, arrow) == NULL) g_string_append(out, arrow);
  }
}

static void append_runs(GString *out, const PawlTransition *rows, gsize n) {
  g_autoptr(GString) arrows = g_string_new(NULL);
  for (gsize i = 0; i < n; i++) append_run_arrows(arrows, rows, n, &rows[i]);
  for (int state = PAWL_RUN_SUCCEEDED; state <= PAWL_RUN_TIMED_OUT; state++)
    g_string_append_printf(arrows, "  %s --> [*]\n", pawl_run_state_name((PawlRunState)state));
  g_string_append_printf(out, "## A run\n\n```mermaid\nstateDiagram-v2\n%s```\n\n", arrows->str);
}

static void append_table(GString *out, const PawlTransition *rows, gsize n) {
  g_string_append(out,
    "## The rows\n\nWhere the retry rule decides there are two rows: *retry* says that it grants another attempt, *last* that it does not.\n\n"
    "| row | attempt | event | guard | attempt then | run then | another attempt | because |\n|--:|---|---|---|---|---|---|---|\n");
  for (gsize i = 0; i < n; i++) {
    const PawlTransition *row = &rows[i];
    gboolean paired = !row->retry_left && pawl_machine_find(row->from, row->event, TRUE) != row;
    g_string_append_printf(out, "| %d | %s | %s | %s | %s | %s | %s | %s |\n", row->row, pawl_attempt_state_name(row->from),
      pawl_machine_event_name(row->event),
      row->retry_left ? "retry"
      : paired        ? "last"
                      : "",
      pawl_attempt_state_name(row->to), pawl_run_state_name(row->run), row->next_attempt ? "yes" : "", row->why);
  }
}

int main(int argc, char **argv) {
  gboolean write = argc > 2 && strcmp(argv[1], "--write") == 0;
  const char *path = argc > 1 ? argv[argc - 1] : NULL;
  g_autofree char *found = NULL;
  g_autoptr(GString) page = g_string_new(head);
  gsize n;
  const PawlTransition *rows = pawl_machine_table(&n);
  if (path == NULL || argc > 3) {
    fprintf(stderr, "usage: machine-diagram [--write] PAGE\n");
    return 2;
  }
  append_attempts(page, rows, n);
  append_runs(page, rows, n);
  append_table(page, rows, n);
  if (write) return g_file_set_contents(path, page->str, -1, NULL) ? 0 : 1;
  if (g_file_get_contents(path, &found, NULL, NULL) && strcmp(found, page->str) == 0) return 0;
  fprintf(stderr, "%s is not what the table says; write it anew: machine-diagram --write %s\n", path, path);
  return 1;
}
