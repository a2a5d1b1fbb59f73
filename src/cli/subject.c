/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show.h"

#include "base/error.h"
#include "domain/issue.h"

#include <string.h>

void pawl_subject_clear(PawlSubject *subject) {
  if (subject->task != NULL) pawl_task_row_free(subject->task);
  *subject = (PawlSubject){0};
}

static gboolean find_trigger(const PawlTaskRow *task, const char *name, const PawlTriggerRow **ret_trigger, GError **error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < task->triggers->len; i++) {
    const PawlTriggerRow *trigger = g_ptr_array_index(task->triggers, i);
    if (strcmp(trigger->name, name) == 0) {
      *ret_trigger = trigger;
      return TRUE;
    }
    g_ptr_array_add(names, trigger->name);
  }
  g_ptr_array_add(names, NULL);
  const char *nearest = pawl_nearest_word(name, (const char *const *)names->pdata);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "task '%s' has no trigger '%s'%s%s%s", task->name, name,
    nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
  return FALSE;
}

/* TRUE also when there is no such task: then `ret_task` is NULL and `ret_why` says so. */
static gboolean find_task(PawlCall *call, PawlStore *store, const char *name, PawlTaskRow **ret_task, GError **ret_why, GError **error) {
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  g_autoptr(GError) why = NULL;
  *ret_task = NULL;
  if (!pawl_store_tasks(store, pawl_call_project(call), name, rows, &why)) {
    if (!g_error_matches(why, PAWL_ERROR, PAWL_ERROR_NOT_FOUND)) {
      g_propagate_error(error, g_steal_pointer(&why));
      return FALSE;
    }
    *ret_why = g_steal_pointer(&why);
    return TRUE;
  }
  if (rows->len > 0)
    *ret_task = g_ptr_array_steal_index(rows, 0);
  else
    g_set_error(ret_why, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no task '%s' in project '%s'", name, pawl_call_project(call));
  return TRUE;
}

/* What was found stands in `subject` also where this fails. */
static gboolean find_in(PawlCall *call, PawlStore *store, const char *text, PawlSubject *subject, GError **error) {
  g_autofree char *name = NULL, *trigger = NULL;
  g_autoptr(GError) no_task = NULL;
  if (!pawl_reference_split(text, &name, &trigger, error) || !find_task(call, store, name, &subject->task, &no_task, error)) return FALSE;
  if (subject->task != NULL) return trigger == NULL || find_trigger(subject->task, trigger, &subject->trigger, error);
  if (trigger == NULL && pawl_looks_like_run(text)) return pawl_store_find_run(store, pawl_call_project(call), text, &subject->run, error);
  g_propagate_error(error, g_steal_pointer(&no_task));
  return FALSE;
}

gboolean pawl_subject_find(PawlCall *call, PawlStore *store, const char *text, PawlSubject *ret_subject, GError **error) {
  PawlSubject subject = {0};
  if (!find_in(call, store, text, &subject, error)) {
    pawl_subject_clear(&subject);
    return FALSE;
  }
  *ret_subject = subject;
  return TRUE;
}
