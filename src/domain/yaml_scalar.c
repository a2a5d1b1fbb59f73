/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/yaml_tree.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static gboolean is_one_of(const char *text, gsize bytes, const char *const *words) {
  for (; *words != NULL; words++)
    if (strlen(*words) == bytes && memcmp(*words, text, bytes) == 0) return TRUE;
  return FALSE;
}

static gsize count_digits(const char *p, const char *end) {
  gsize n = 0;
  while (p + n < end && g_ascii_isdigit(p[n])) n++;
  return n;
}

static gboolean has_only(const char *p, const char *end, const char *allowed) {
  if (p == end) return FALSE;
  for (; p < end; p++)
    if (*p == '\0' || strchr(allowed, *p) == NULL) return FALSE;
  return TRUE;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static gboolean is_float(const char *p, const char *end) {
  if (p < end && (*p == '-' || *p == '+')) p++;
  gsize whole = count_digits(p, end), fraction = 0;
  p += whole;
  if (p < end && *p == '.') {
    p++;
    fraction = count_digits(p, end);
    p += fraction;
  }
  if (whole == 0 && fraction == 0) return FALSE;
  if (p == end) return TRUE;
  if (*p != 'e' && *p != 'E') return FALSE;
  p++;
  if (p < end && (*p == '-' || *p == '+')) p++;
  gsize exponent = count_digits(p, end);
  return exponent > 0 && p + exponent == end;
}

static gboolean is_int(const char *p, const char *end) {
  if (end - p > 2 && p[0] == '0' && p[1] == 'o') return has_only(p + 2, end, "01234567");
  if (end - p > 2 && p[0] == '0' && p[1] == 'x') return has_only(p + 2, end, "0123456789abcdefABCDEF");
  if (p < end && (*p == '-' || *p == '+')) p++;
  gsize digits = count_digits(p, end);
  return digits > 0 && p + digits == end;
}

PawlPlain pawl_yaml_plain(const char *text, gsize bytes) {
  static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
  static const char *const bools[] = {"true", "True", "TRUE", "false", "False", "FALSE", NULL};
  static const char *const infinite[] = {
    ".inf", ".Inf", ".INF", "-.inf", "-.Inf", "-.INF", "+.inf", "+.Inf", "+.INF", ".nan", ".NaN", ".NAN", NULL};
  if (is_one_of(text, bytes, nulls)) return PAWL_PLAIN_NULL;
  if (is_one_of(text, bytes, bools)) return PAWL_PLAIN_BOOL;
  if (is_one_of(text, bytes, infinite)) return PAWL_PLAIN_NOT_FINITE;
  if (is_int(text, text + bytes)) return PAWL_PLAIN_INT;
  return is_float(text, text + bytes) ? PAWL_PLAIN_FLOAT : PAWL_PLAIN_TEXT;
}

static json_t *int_value(const char *text) {
  int base = text[0] == '0' && text[1] == 'o' ? 8 : text[0] == '0' && text[1] == 'x' ? 16 : 10;
  errno = 0;
  gint64 value = g_ascii_strtoll(base == 10 ? text : text + 2, NULL, (guint)base);
  return errno == 0 ? json_integer(value) : NULL;
}

json_t *pawl_yaml_plain_value(PawlPlain plain, const char *text, gsize bytes) {
  g_autofree char *copy = g_strndup(text, bytes);
  switch (plain) {
  case PAWL_PLAIN_NULL: return json_null();
  case PAWL_PLAIN_BOOL: return json_boolean(g_ascii_tolower(text[0]) == 't');
  case PAWL_PLAIN_INT: return int_value(copy);
  case PAWL_PLAIN_FLOAT: {
    double value = g_ascii_strtod(copy, NULL);
    return isfinite(value) ? json_real(value) : NULL;
  }
  case PAWL_PLAIN_NOT_FINITE: return NULL;
  case PAWL_PLAIN_TEXT: break;
  }
  return json_stringn(text, bytes);
}
