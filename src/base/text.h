/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of words parted by blanks and tabs, as crontabs are made of. */
#pragma once
#include <glib.h>

static inline gboolean pawl_is_blank(char c) { return c == ' ' || c == '\t'; }

/* The first character that is no blank. */
static inline const char *pawl_skip_blanks(const char *p) {
  while (pawl_is_blank(*p)) p++;
  return p;
}

/* The end of the word that stands at `p`. */
static inline const char *pawl_skip_word(const char *p) {
  while (*p != '\0' && !pawl_is_blank(*p)) p++;
  return p;
}
