/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of `pawl next` share. */
#pragma once
#include "cli/verb.h"

typedef struct {
  char *zone, *after, *hash, *file;
  gint count;
  gboolean seconds, explain;
} PawlNextOptions;

/* The triggers of a file, or of the store; `reference` NULL: all. Return the exit code. */
int pawl_next_file(PawlCall *call, const char *reference, gint64 after_ms, GError **error);
int pawl_next_stored(PawlCall *call, const char *reference, gint64 after_ms, GError **error);

/* A row of four cells: civil time, UTC, relative, and a remark where the offset differs from the row before (`last_offset_s`, at first
 * G_MININT). */
void pawl_next_row(PawlTable *table, const PawlZone *zone, gint64 at_ms, gint64 now_ms, gint *last_offset_s);
void pawl_next_print_warnings(PawlOut *out, const char *sentence, const GPtrArray *warnings);
