/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting diagnostics, and the guess at what a misspelt word should have been. Private to domain/. */
#pragma once
#include "domain/domain.h"

#define PAWL_ISSUES_MAX 100

/* Where something stands. 0: not known. */
typedef struct {
  gint line, column;
} PawlPlace;

/* Appends an issue. At most PAWL_ISSUES_MAX are kept; an error that finds the list full takes the place of the last warning, so
 * that a list without errors is one of a good file. `file`, `path` and `hint` may be NULL and are copied. */
void pawl_issues_add(GPtrArray *issues, gboolean warning, const char *file, PawlPlace place, const char *path, const char *hint,
  const char *format, ...) G_GNUC_PRINTF(7, 8);
/* The same with an issue that is made already; takes it. */
void pawl_issues_move(GPtrArray *issues, PawlIssue *issue);
gboolean pawl_issues_have_error(const GPtrArray *issues);

/* The word of `words` (ended by NULL) that `word` is nearest to, or NULL when none is near enough to be what was meant. */
const char *pawl_nearest_word(const char *word, const char *const *words);
