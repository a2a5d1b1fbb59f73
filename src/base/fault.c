/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fault.h"

#ifdef PAWL_FAULTS
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

gboolean pawl_fault_hit(const char *point) {
  static atomic_int passages;
  const char *plan = getenv("PAWL_FAULT");
  gsize len = strlen(point);
  if (plan == NULL || strncmp(plan, point, len) != 0 || (plan[len] != ':' && plan[len] != '\0')) return FALSE;
  int at = plan[len] == ':' ? atoi(plan + len + 1) : 1;
  if (atomic_fetch_add(&passages, 1) + 1 != at) return FALSE;
  const char *what = plan[len] == ':' ? strchr(plan + len + 1, ':') : NULL;
  if (what == NULL || strcmp(what, ":kill") == 0)
    kill(getpid(), SIGKILL);
  else if (strcmp(what, ":stop") == 0)
    kill(getpid(), SIGSTOP);
  else if (g_str_has_prefix(what, ":sleep="))
    g_usleep((gulong)atol(what + 7) * 1000);
  else
    return TRUE;
  return FALSE;
}

gint64 pawl_fault_clock_offset_ms(void) {
  const char *file = getenv("PAWL_FAULT_CLOCK");
  g_autofree char *text = NULL;
  if (file == NULL || !g_file_get_contents(file, &text, NULL, NULL)) return 0;
  return g_ascii_strtoll(text, NULL, 10);
}

gint64 pawl_fault_patience_ms(gint64 usual_ms) {
  const char *text = getenv("PAWL_FAULT_PATIENCE");
  return text != NULL ? g_ascii_strtoll(text, NULL, 10) : usual_ms;
}
#endif
