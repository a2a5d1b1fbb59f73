/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verbs, in the order of `pawl help`. */
#include "cli/verbs.h"

#include "domain/issue.h"

#include <string.h>

static const PawlVerb *const verbs[] = {
  &pawl_verb_up,
  &pawl_verb_import,
  &pawl_verb_validate,
  &pawl_verb_diff,
  &pawl_verb_apply,
  &pawl_verb_run,
  &pawl_verb_cancel,
  &pawl_verb_retry,
  &pawl_verb_status,
  &pawl_verb_list,
  &pawl_verb_show,
  &pawl_verb_next,
  &pawl_verb_runs,
  &pawl_verb_logs,
  &pawl_verb_explain,
  &pawl_verb_pause,
  &pawl_verb_resume,
  &pawl_verb_delete,
  &pawl_verb_pools,
  &pawl_verb_replicas,
  &pawl_verb_db,
  &pawl_verb_doctor,
  &pawl_verb_defaults,
  &pawl_verb_version,
  &pawl_verb_help,
};

const PawlVerb *const *pawl_verbs(gsize *ret_n) {
  *ret_n = G_N_ELEMENTS(verbs);
  return verbs;
}

const PawlVerb *pawl_verb_find(const char *name) {
  for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++)
    if (strcmp(verbs[i]->name, name) == 0 || g_strcmp0(verbs[i]->alias, name) == 0) return verbs[i];
  return NULL;
}

const char *pawl_verb_nearest(const char *name) {
  const char *names[2 * G_N_ELEMENTS(verbs) + 1];
  gsize n = 0;
  for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++) {
    names[n++] = verbs[i]->name;
    if (verbs[i]->alias != NULL) names[n++] = verbs[i]->alias;
  }
  names[n] = NULL;
  return pawl_nearest_word(name, names);
}
