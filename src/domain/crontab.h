/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about crontabs share. Private to domain/. */
#pragma once
#include "domain/issue.h"

/* A line that starts something, and what held when it was read. */
typedef struct {
  gint line;
  char *expression; /* single blanks between the fields */
  char *rest;       /* what follows the expression, as written: a user, in the system format, and a command */
  gint rest_column;
  char *zone;
  gint64 jitter_ms;
  json_t *env; /* the variables so far; shared between lines, never changed */
} PawlCrontabLine;
void pawl_crontab_line_free(gpointer line);

/* crontab_read.c: the lines (PawlCrontabLine *) that could be read; the others are issues. */
GPtrArray *pawl_crontab_read(const char *text, gsize bytes, const PawlCrontabOptions *options, GPtrArray *issues);
/* Whether mail can go to the value of MAILTO; an empty one means nobody. */
gboolean pawl_crontab_is_receiver(const char *mailto);
/* Whether the value of HOME can be a working directory, or that of SHELL a shell. */
gboolean pawl_crontab_is_path(const char *value);
/* Whether the first word of each line's rest is a user. */
PawlCrontabFormat pawl_crontab_detect(const GPtrArray *lines, const char *file, const char *login);

/* crontab_name.c: "mdadm-checkarray" for a command in a file "/etc/cron.d/mdadm". A valid name, short enough to be added to. Caller
 * g_free()s. */
char *pawl_crontab_task_name(const char *file, const char *command);
/* Words that no user is called, but that commands begin with. */
gboolean pawl_crontab_is_program_word(const char *word, gsize bytes);
