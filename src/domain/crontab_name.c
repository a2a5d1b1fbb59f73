/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a task that comes from a crontab: of the file and of the program that the command is about. A command line often begins
 * with something else ("test -x /usr/sbin/x && …", "if [ … ]; then nice x"), so it is cut into words by the main rules of the shell, and
 * the first word in the place of a command that is neither a test nor a wrapper is the program. A guess is enough: it only makes a name. */
#include "domain/crontab.h"

#include <string.h>

#define SLUG_MAX 48

static const char *const keywords[] = {
  "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "case", "esac", "in", "!", "{", "}", "time", NULL};
/* commands that say whether, not what */
static const char *const preludes[] = {"test", "[", "[[", ":", "true", "false", "cd", "export", "set", "unset", "umask", "ulimit", "sleep",
  "source", ".", "trap", "wait", "exit", "return", "for", NULL};
static const char *const wrappers[] = {"nice", "ionice", "nohup", "env", "exec", "eval", "timeout", "flock", "chronic", "setsid", "sudo",
  "command", "chrt", "taskset", "stdbuf", NULL};
static const char *const interpreters[] = {
  "php", "python", "python2", "python3", "perl", "ruby", "node", "sh", "bash", "dash", "zsh", "ksh", "java", NULL};
static const char *const others[] = {"find", "rm", "cp", "mv", "tar", "echo", "date", "curl", "wget", "rsync", "cat", "touch", "mkdir",
  "chown", "chmod", "mail", "docker", "podman", "git", "make", "certbot", "apt", "apt-get", "systemctl", "service", "mysqldump", "pg_dump",
  "psql", "run-parts", "logrotate", "logger", "printf", "ls", "grep", "sed", "awk", "ssh", "scp", "kill", "killall", "pkill", "xargs",
  "restic", "borg", "rclone", "npm", "npx", "go", "if", "while", NULL};

gboolean pawl_crontab_is_program_word(const char *word, gsize bytes) {
  g_autofree char *copy = g_strndup(word, bytes);
  return g_strv_contains(keywords, copy) || g_strv_contains(preludes, copy) || g_strv_contains(wrappers, copy) ||
         g_strv_contains(interpreters, copy) || g_strv_contains(others, copy);
}

/* ---- words ---- */

/* Past a quoted part or a $(…), ${…} or `…`, or one character. */
static const char *skip_part(const char *p) {
  char open = 0, close = 0;
  int depth = 0;
  if (*p == '\\') return p[1] != '\0' ? p + 2 : p + 1;
  if (*p == '\'' || *p == '"' || *p == '`') {
    const char quote = *p++;
    while (*p != '\0' && *p != quote) p += *p == '\\' && quote != '\'' && p[1] != '\0' ? 2 : 1;
    return *p != '\0' ? p + 1 : p;
  }
  if (*p == '$' && p[1] == '(')
    open = '(', close = ')';
  else if (*p == '$' && p[1] == '{')
    open = '{', close = '}';
  else
    return p + 1;
  for (p++; *p != '\0'; p++) {
    if (*p == open)
      depth++;
    else if (*p == close && --depth == 0)
      return p + 1;
  }
  return p;
}

/* The next word as a new string without quotes; "" at what ends a command (; & | ( ) and a newline); NULL at the end. Redirections are
 * passed over. */
static char *next_word(const char **p) {
  for (;;) {
    while (**p == ' ' || **p == '\t') (*p)++;
    if (**p == '\0') return NULL;
    if (strchr(";&|()\n", **p) != NULL) {
      (*p)++;
      return g_strdup("");
    }
    const char *digits = *p + strspn(*p, "0123456789");
    if (*digits != '<' && *digits != '>') break;
    *p = digits + strspn(digits, "<>&"); /* then what it leads to */
    while (**p == ' ' || **p == '\t') (*p)++;
    while (**p != '\0' && strchr(" \t;|()\n&", **p) == NULL) *p = skip_part(*p);
  }
  GString *word = g_string_new(NULL);
  while (**p != '\0' && strchr(" \t;&|()\n<>", **p) == NULL) {
    const char *after = skip_part(*p);
    for (; *p < after; (*p)++)
      if (strchr("'\"\\", **p) == NULL) g_string_append_c(word, **p);
  }
  if (word->len == 0) g_string_append_c(word, '-'); /* '' is a word too */
  return g_string_free(word, FALSE);
}

static gboolean is_assignment(const char *word) {
  gsize n = 0;
  while (g_ascii_isalnum(word[n]) || word[n] == '_') n++;
  return n > 0 && word[n] == '=';
}

static void skip_command(const char **p) {
  char *word;
  while ((word = next_word(p)) != NULL && *word != '\0') g_free(word);
  g_free(word);
}

/* Past a wrapper's own arguments. */
static void skip_wrapper(const char **p, const char *wrapper) {
  gboolean lock_file = strcmp(wrapper, "flock") == 0;
  for (;;) {
    const char *before = *p;
    g_autofree char *word = next_word(p);
    if (word == NULL) return;
    gboolean own = *word == '-' || is_assignment(word) || g_ascii_isdigit(*word);
    if (strcmp(wrapper, "sudo") == 0 && (strcmp(word, "-u") == 0 || strcmp(word, "-g") == 0)) g_free(next_word(p));
    if (own) continue;
    if (lock_file && *word != '\0') {
      lock_file = FALSE;
      continue;
    }
    *p = before;
    return;
  }
}

/* What an interpreter runs: its script, or NULL for a mere wait, or itself. */
static char *script_of(const char **p, const char *interpreter) {
  for (;;) {
    g_autofree char *word = next_word(p);
    if (word == NULL || *word == '\0') return g_strdup(interpreter);
    if (strcmp(word, "-c") == 0 || strcmp(word, "-e") == 0 || strcmp(word, "-r") == 0) {
      g_autofree char *code = next_word(p);
      gboolean waits = code != NULL && strstr(code, "sleep") != NULL;
      if (code != NULL && *code != '\0') skip_command(p);
      return waits ? NULL : g_strdup(interpreter);
    }
    if (*word == '-') continue;
    skip_command(p);
    return g_strdup(word);
  }
}

static char *program_of(const char *command) {
  g_autofree char *fallback = NULL;
  const char *p = command;
  char *found = NULL;
  while (found == NULL) {
    g_autofree char *word = next_word(&p);
    if (word == NULL) break;
    if (*word == '\0' || g_strv_contains(keywords, word) || is_assignment(word)) continue;
    g_autofree char *base = g_path_get_basename(word);
    const char *look = p;
    g_autofree char *argument = strcmp(base, "command") == 0 ? next_word(&look) : NULL;
    gboolean asks = argument != NULL && (strcmp(argument, "-v") == 0 || strcmp(argument, "-V") == 0);
    if (fallback == NULL) fallback = g_strdup(base);
    if (asks || g_strv_contains(preludes, base))
      skip_command(&p);
    else if (g_strv_contains(wrappers, base))
      skip_wrapper(&p, base);
    else
      found = g_strv_contains(interpreters, base) ? script_of(&p, base) : g_strdup(word);
  }
  return found != NULL ? found : fallback != NULL ? g_steal_pointer(&fallback) : g_strdup("job");
}

/* ---- names ---- */

/* A path's last part as a part of a name, without the usual endings; NULL when nothing is left. */
static char *slug(const char *path, const char *const *endings) {
  g_autofree char *base = g_path_get_basename(path);
  GString *out = g_string_new(NULL);
  for (; *endings != NULL; endings++) {
    if (!g_str_has_suffix(base, *endings) || strlen(base) == strlen(*endings)) continue;
    base[strlen(base) - strlen(*endings)] = '\0';
    break;
  }
  for (const char *p = base; *p != '\0' && out->len < SLUG_MAX; p++) {
    if (g_ascii_isalnum(*p) || (out->len > 0 && (*p == '_' || *p == '.')))
      g_string_append_c(out, *p);
    else if (out->len > 0 && out->str[out->len - 1] != '-')
      g_string_append_c(out, '-');
  }
  while (out->len > 0 && !g_ascii_isalnum(out->str[out->len - 1])) g_string_truncate(out, out->len - 1);
  return g_string_free(out, out->len == 0);
}

char *pawl_crontab_task_name(const char *file, const char *command) {
  static const char *const file_endings[] = {".cron", ".crontab", ".tab", ".txt", NULL};
  static const char *const program_endings[] = {".sh", ".py", ".pl", ".php", ".rb", NULL};
  g_autofree char *base = slug(file, file_endings), *word = program_of(command), *program = slug(word, program_endings);
  g_autofree char *with_dash = NULL;
  if (base == NULL) base = g_strdup("crontab");
  if (program == NULL) program = g_strdup("job");
  with_dash = g_strconcat(base, "-", NULL);
  if (strcmp(base, program) == 0 || g_str_has_prefix(program, with_dash)) return g_steal_pointer(&program);
  return g_strconcat(with_dash, program, NULL);
}
