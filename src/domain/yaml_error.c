/* SPDX-License-Identifier: Apache-2.0 */
/* What libyaml says about a broken file is true and seldom helps. The common cases get a sentence that names the fix. */
#include "domain/yaml_tree.h"

#include <string.h>

/* The line of the text, and in it the byte at the place. The line is a copy to be freed; NULL: there is no such place. */
static char *line_at(const char *text, gsize bytes, PawlPlace place, const char **ret_at) {
  const char *end = text + bytes, *line = text;
  for (gint n = 1; n < place.line && line != NULL; n++) {
    line = memchr(line, '\n', (gsize)(end - line));
    if (line != NULL) line++;
  }
  if (line == NULL || line >= end) return NULL;
  const char *stop = memchr(line, '\n', (gsize)(end - line));
  char *copy = g_strndup(line, (gsize)((stop != NULL ? stop : end) - line)), *at = copy;
  for (gint n = 1; n < place.column && *at != '\0'; n++) at = g_utf8_next_char(at);
  *ret_at = at;
  return copy;
}

/* The key before the value that begins at `at`, "cron" in "  nightly: {cron: * * * * *}". Free it; NULL: none. */
static char *key_before(const char *line, const char *at) {
  const char *end = at;
  while (end > line && strchr(" \t", end[-1]) != NULL) end--;
  if (end == line || end[-1] != ':') return NULL;
  const char *begin = --end;
  while (begin > line && (g_ascii_isalnum(begin[-1]) || strchr("_-.", begin[-1]) != NULL)) begin--;
  return begin == end ? NULL : g_strndup(begin, (gsize)(end - begin));
}

/* What was meant as the value: up to a comment, or to what closes a flow mapping or goes on in it. Free it. */
static char *value_from(const char *at, gboolean expression) {
  gsize n = 0;
  while (at[n] != '\0' && at[n] != '\r' && at[n] != '}' && at[n] != ']' && !(at[n] == ' ' && at[n + 1] == '#')) {
    if (at[n] == ',' && (at[n + 1] == ' ' || !expression)) break;
    n++;
  }
  while (n > 0 && at[n - 1] == ' ') n--;
  return g_strndup(at, n);
}

static gboolean explain_unquoted(const char *line, const char *at, const char *file, PawlPlace place, GPtrArray *issues) {
  g_autofree char *key = key_before(line, at);
  gboolean expression = key == NULL || strcmp(key, "cron") == 0;
  g_autofree char *value = value_from(at, expression);
  g_autofree char *hint = NULL;
  /* a value may be a secret, an expression is none */
  if (key == NULL)
    hint = g_strdup("put the value in quotes");
  else if (!expression)
    hint = g_strdup_printf("quote the value: %s: \"%c…\"", key, *at);
  else if (strpbrk(value, "\"\\") != NULL)
    hint = g_strdup("quote the expression: cron: \"*/5 * * * *\"");
  else
    hint = g_strdup_printf("quote the expression: cron: \"%.80s\"", value);
  pawl_issues_add(issues, FALSE, file, place, NULL, hint, "a value cannot begin with '%c' unless it is quoted", *at);
  return TRUE;
}

static gboolean explain_at(const char *text, gsize bytes, const char *file, PawlPlace place, gboolean alias, GPtrArray *issues) {
  const char *at = NULL;
  g_autofree char *line = line_at(text, bytes, place, &at);
  if (line == NULL) return FALSE;
  if (*at == '\t') {
    pawl_issues_add(issues, FALSE, file, place, NULL, "indent with blanks", "a tab, where YAML allows only blanks");
    return TRUE;
  }
  if (alias ? *at == '*' : (*at != '\0' && strchr("@`%", *at) != NULL)) return explain_unquoted(line, at, file, place, issues);
  /* "* * * * *" is refused at its second star, or behind a first one that reads as an alias */
  const char *tab = strspn(line, " \t") > strspn(line, " ") ? strchr(line, '\t') : NULL;
  if (tab == NULL) return FALSE;
  place.column = (gint)(tab - line) + 1;
  pawl_issues_add(issues, FALSE, file, place, NULL, "indent with blanks", "a tab, where YAML allows only blanks");
  return TRUE;
}

/* "shell: echo hello: world" and "{shell: echo hello, world}" are read as more than one entry. NULL: it is something else. */
static const char *hint_of_colon(const char *text, gsize bytes, const PawlYamlFault *fault) {
  const char *at = NULL, *problem = fault->problem != NULL ? fault->problem : "";
  g_autofree char *line = line_at(text, bytes, fault->place, &at);
  if (strstr(problem, "mapping values are not allowed") != NULL) {
    const char *colon = line != NULL ? strchr(line, ':') : NULL;
    if (colon != NULL && colon < at) return "a value that holds ': ' needs quotes, as in shell: \"echo hello: world\"";
    return "indent it as its neighbours are, or put the value of the line before in quotes";
  }
  if (strstr(problem, "did not find expected ',' or '}'") != NULL && fault->context_place.line == fault->place.line)
    return "a value that holds ': ', '{' or '}' needs quotes, as in shell: \"echo hello: world\"";
  return NULL;
}

void pawl_yaml_explain(const char *text, gsize bytes, const char *file, const PawlYamlFault *fault, GPtrArray *issues) {
  gboolean alias = fault->context != NULL && strstr(fault->context, "alias") != NULL;
  if (explain_at(text, bytes, file, alias ? fault->context_place : fault->place, alias, issues)) return;
  const char *problem = fault->problem != NULL ? fault->problem : "not YAML";
  const char *quote = hint_of_colon(text, bytes, fault);
  g_autofree char *hint = NULL;
  if (quote != NULL)
    hint = g_strdup(quote);
  else if (fault->context != NULL && fault->context_place.line != fault->place.line && fault->context_place.line > 0)
    hint = g_strdup_printf("%s that begins in line %d", fault->context, fault->context_place.line);
  else
    hint = g_strdup(fault->context);
  pawl_issues_add(issues, FALSE, file, fault->place, NULL, hint, "%s", problem);
}
