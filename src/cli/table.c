/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and cards as text. Widths are counted in columns of a terminal, not in bytes. */
#include "cli/format.h"

#include <stdarg.h>
#include <string.h>

#define GAP 2
#define CUT_MIN 8 /* a cut column keeps at least so many columns */
#define CARD_KEY 14

typedef struct {
  char *text;
  PawlColour colour;
  gint width;
} Cell;
struct PawlTable {
  const PawlColumn *columns;
  gsize n_columns;
  GArray *cells; /* row by row */
  guint n_rows;
};

gint pawl_display_width(const char *text) {
  gint width = 0;
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p)) {
    gunichar c = g_utf8_get_char(p);
    if (!g_unichar_iszerowidth(c)) width += g_unichar_iswide(c) ? 2 : 1;
  }
  return width;
}

char *pawl_display_text(const char *text) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  GString *out = g_string_sized_new(strlen(valid));
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char(p)) {
    gunichar c = g_utf8_get_char(p);
    if (c == '\n' || c == '\t')
      g_string_append_c(out, ' ');
    else
      g_string_append_unichar(out, g_unichar_iscntrl(c) ? 0xFFFD : c);
  }
  return g_string_free(out, FALSE);
}

/* The first `width` columns, with "…" as the last of them when something is left out. */
static char *cut(const char *text, gint width) {
  const char *p = text;
  gint used = 0;
  if (pawl_display_width(text) <= width) return g_strdup(text);
  while (*p != '\0') {
    gunichar c = g_utf8_get_char(p);
    gint w = g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
    if (used + w > width - 1) break;
    used += w;
    p = g_utf8_next_char(p);
  }
  g_autofree char *head = g_strndup(text, (gsize)(p - text));
  return g_strconcat(head, "…", NULL);
}

static void clear_cell(gpointer cell) { g_free(((Cell *)cell)->text); }

PawlTable *pawl_table_new(const PawlColumn *columns, gsize n_columns) {
  PawlTable *table = g_new0(PawlTable, 1);
  table->columns = columns;
  table->n_columns = n_columns;
  table->cells = g_array_new(FALSE, FALSE, sizeof(Cell));
  g_array_set_clear_func(table->cells, clear_cell);
  return table;
}

void pawl_table_free(PawlTable *table) {
  if (table == NULL) return;
  g_array_free(table->cells, TRUE);
  g_free(table);
}

void pawl_table_cell(PawlTable *table, PawlColour colour, const char *text) {
  Cell cell = {.text = pawl_display_text(text != NULL ? text : ""), .colour = colour};
  cell.width = pawl_display_width(cell.text);
  g_array_append_val(table->cells, cell);
  if (table->cells->len == (table->n_rows + 1) * table->n_columns) table->n_rows++;
}

void pawl_table_cellf(PawlTable *table, PawlColour colour, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  pawl_table_cell(table, colour, text);
}

guint pawl_table_rows(const PawlTable *table) { return table->n_rows; }

/* The widest cell of each column; then the columns that may be cut give up what is too much, the last of them first. */
static void find_widths(const PawlTable *table, gint width, gint *widths) {
  gint total = GAP * ((gint)table->n_columns - 1);
  for (gsize c = 0; c < table->n_columns; c++) {
    widths[c] = pawl_display_width(table->columns[c].title);
    for (guint r = 0; r < pawl_table_rows(table); r++)
      widths[c] = MAX(widths[c], g_array_index(table->cells, Cell, r * table->n_columns + c).width);
    total += widths[c];
  }
  for (gsize c = table->n_columns; c-- > 0 && width > 0 && total > width;) {
    if (!table->columns[c].shrink || widths[c] <= CUT_MIN) continue;
    gint less = MIN(total - width, widths[c] - CUT_MIN);
    widths[c] -= less;
    total -= less;
  }
}

static void put_cell(GString *line, const PawlColumn *column, gint width, const char *text, PawlColour colour, const PawlOut *out) {
  g_autofree char *shown = cut(text, width);
  gint blanks = MAX(width - pawl_display_width(shown), 0);
  if (column->right) g_string_append_printf(line, "%*s", blanks, "");
  const char *begin = colour != PAWL_COLOUR_NONE ? pawl_out_colour(out, colour) : "";
  g_string_append_printf(line, "%s%s%s", begin, shown, *begin != '\0' ? pawl_out_plain(out) : "");
  if (!column->right) g_string_append_printf(line, "%*s", blanks, "");
}

static void end_line(GString *text, GString *line) {
  while (line->len > 0 && line->str[line->len - 1] == ' ') g_string_truncate(line, line->len - 1);
  g_string_append_len(text, line->str, (gssize)line->len);
  g_string_append_c(text, '\n');
  g_string_truncate(line, 0);
}

char *pawl_table_text(const PawlTable *table, gint width, const PawlOut *out) {
  g_autoptr(GArray) widths = g_array_new(FALSE, TRUE, sizeof(gint));
  GString *text = g_string_new(NULL);
  g_autoptr(GString) line = g_string_new(NULL);
  g_array_set_size(widths, (guint)table->n_columns);
  find_widths(table, width, (gint *)(void *)widths->data);
  for (gsize c = 0; c < table->n_columns; c++) {
    if (c > 0) g_string_append_printf(line, "%*s", GAP, "");
    put_cell(line, &table->columns[c], g_array_index(widths, gint, c), table->columns[c].title, PAWL_COLOUR_BOLD, out);
  }
  end_line(text, line);
  for (guint r = 0; r < pawl_table_rows(table); r++) {
    for (gsize c = 0; c < table->n_columns; c++) {
      const Cell *cell = &g_array_index(table->cells, Cell, r * table->n_columns + c);
      if (c > 0) g_string_append_printf(line, "%*s", GAP, "");
      put_cell(line, &table->columns[c], g_array_index(widths, gint, c), cell->text, cell->colour, out);
    }
    end_line(text, line);
  }
  return g_string_free(text, FALSE);
}

void pawl_card_line(PawlOut *out, const char *key, PawlColour colour, const char *value) {
  if (value == NULL) return;
  g_autofree char *text = pawl_display_text(value);
  gint blanks = MAX(CARD_KEY - pawl_display_width(key), 1);
  const char *begin = colour != PAWL_COLOUR_NONE ? pawl_out_colour(out, colour) : "";
  pawl_out_text(out, "%s%s%s%*s%s%s%s\n", pawl_out_colour(out, PAWL_COLOUR_DIM), key, pawl_out_plain(out), blanks, "", begin, text,
    *begin != '\0' ? pawl_out_plain(out) : "");
}

void pawl_card_linef(PawlOut *out, const char *key, PawlColour colour, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  pawl_card_line(out, key, colour, text);
}
