/* SPDX-License-Identifier: Apache-2.0 */
/* The formatter: the only place in this room that writes to standard output or standard error.
 *
 * A PawlOut gathers text and writes it in blocks. A closed pipe ends the output in silence: what follows is dropped, and long work asks
 * pawl_out_closed(). Any other failure of standard output is an error at the end (pawl_out_finish). Text that comes from tasks or people
 * is made harmless (control characters) in tables, cards and messages; pawl_out_bytes() alone is raw. */
#pragma once
#include "base/json.h"

#include <glib.h>

typedef struct PawlOut PawlOut;
typedef struct {
  int fd, error_fd; /* -1: gathered only, for tests */
  gboolean json, quiet;
  gboolean terminal, error_terminal;
  gboolean colour;
  gint width; /* columns; 0: do not cut */
} PawlOutOptions;
/* What suits these descriptors and this environment (NO_COLOR, TERM, COLUMNS). */
PawlOutOptions pawl_out_detect(int fd, int error_fd, char **environment);
PawlOut *pawl_out_new(const PawlOutOptions *options);
/* Writes what is left. FALSE: standard output failed, and that was said. */
gboolean pawl_out_finish(PawlOut *out);
void pawl_out_free(PawlOut *out);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlOut, pawl_out_free)
/* What the call's own options ask for, once they are known. */
void pawl_out_set_mode(PawlOut *out, gboolean json, gboolean quiet, gboolean no_colour);
gboolean pawl_out_json_wanted(const PawlOut *out);
gboolean pawl_out_terminal(const PawlOut *out);
gboolean pawl_out_closed(const PawlOut *out);
/* Columns of the terminal; 0: output is not cut. */
gint pawl_out_width(const PawlOut *out);
/* What was gathered and not yet written; for tests. */
const char *pawl_out_gathered(const PawlOut *out);
const char *pawl_out_gathered_errors(const PawlOut *out);

void pawl_out_text(PawlOut *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
void pawl_out_bytes(PawlOut *out, const void *bytes, gsize n);
void pawl_out_flush(PawlOut *out);
/* Takes the reference. Indented on a terminal, else one line. */
void pawl_out_json(PawlOut *out, json_t *json);
/* The same, always one line: for streams of objects. */
void pawl_out_json_line(PawlOut *out, json_t *json);

/* A line on standard error; not with --quiet or --json. */
void pawl_out_note(PawlOut *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A line on standard error, always. */
void pawl_out_complain(PawlOut *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* "pawl VERB: message", or with --json {"error":{"code","message"}}. Returns the exit code that the error stands for. */
int pawl_out_error(PawlOut *out, const char *verb, const GError *error);
/* A line on standard error that the next one replaces; on a terminal only. */
void pawl_out_progress(PawlOut *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
void pawl_out_progress_end(PawlOut *out);
/* A question on standard error, answered on standard input, where both are terminals; TRUE: yes. */
gboolean pawl_out_can_ask(const PawlOut *out);
gboolean pawl_out_ask(PawlOut *out, const char *question);

typedef enum {
  PAWL_COLOUR_NONE,
  PAWL_COLOUR_GOOD,
  PAWL_COLOUR_BAD,
  PAWL_COLOUR_BUSY,
  PAWL_COLOUR_DIM,
  PAWL_COLOUR_BOLD,
  PAWL_COLOUR_WARN
} PawlColour;
/* The escape sequence that begins a colour, or "" when there are no colours. */
const char *pawl_out_colour(const PawlOut *out, PawlColour colour);
/* The sequence that ends any. */
const char *pawl_out_plain(const PawlOut *out);
/* By the name of a state of a run, an attempt, a task or a trigger. */
PawlColour pawl_state_colour(const char *state);

/* ---- tables (table.c) ---- */
typedef struct {
  const char *title;
  gboolean right;  /* aligned to the right */
  gboolean shrink; /* may be cut where the table is wider than the terminal */
} PawlColumn;
typedef struct PawlTable PawlTable;
/* `columns` is borrowed for the table's life. */
PawlTable *pawl_table_new(const PawlColumn *columns, gsize n_columns);
/* Adds the next cell, from left to right; NULL is an empty one. A row ends by itself. */
void pawl_table_cell(PawlTable *table, PawlColour colour, const char *text);
void pawl_table_cellf(PawlTable *table, PawlColour colour, const char *format, ...) G_GNUC_PRINTF(3, 4);
guint pawl_table_rows(const PawlTable *table);
/* The text, for `width` columns (0: any) with `out`'s colours. Caller frees. */
char *pawl_table_text(const PawlTable *table, gint width, const PawlOut *out);
/* Prints and frees it. */
void pawl_table_print(PawlTable *table, PawlOut *out);
void pawl_table_free(PawlTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlTable, pawl_table_free)

/* A line "key  value" of a card; nothing when value is NULL. Keys are padded to one width. */
void pawl_card_line(PawlOut *out, const char *key, PawlColour colour, const char *value);
void pawl_card_linef(PawlOut *out, const char *key, PawlColour colour, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* How many columns of a terminal a text takes, and the text with control characters replaced. Invalid UTF-8 is replaced too. */
gint pawl_display_width(const char *text);
char *pawl_display_text(const char *text);

/* ---- words for time (words.c) ---- */
/* "2026-03-29 03:00:00" in local time; "-" for 0. Caller frees. */
char *pawl_local_text(gint64 at_ms);
/* "in 3m", "2h ago", "now"; "" for 0. Caller frees. */
char *pawl_relative_text(gint64 at_ms, gint64 now_ms);
/* Both: "2026-03-29 03:00:00 (in 3m)"; "-" for 0. */
char *pawl_when_text(gint64 at_ms, gint64 now_ms);
/* At most two units: "1h 20m", "3d 4h", "420ms". Caller frees. */
char *pawl_rough_text(gint64 ms);
/* "1.5 KiB". Caller frees. */
char *pawl_size_text(gint64 bytes);
