/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a daemon: lines on stderr, as text for people or one JSON object a line, with journald's "<n>" priority when
 * JOURNAL_STREAM says that stderr is the journal. Thread-safe: each line is one write(). Library rooms below engine do not log. */
#pragma once
#include <glib.h>

typedef enum { PAWL_LOG_ERROR = 3, PAWL_LOG_WARNING = 4, PAWL_LOG_NOTICE = 5, PAWL_LOG_INFO = 6, PAWL_LOG_DEBUG = 7 } PawlLogLevel;
typedef enum { PAWL_LOG_TEXT, PAWL_LOG_JSON } PawlLogFormat;

/* Before the first thread. Lines above `max_level` are dropped. Colours only on a terminal without NO_COLOR. */
void pawl_log_setup(PawlLogLevel max_level, PawlLogFormat format);
gboolean pawl_log_level_parse(const char *text, PawlLogLevel *ret_level); /* error, warning, notice, info, debug */

/* `event` is a stable word such as "run.started"; then key, value pairs of strings, ended by NULL; a pair whose value is NULL is left
 * out. `message` is for people. */
void pawl_log(PawlLogLevel level, const char *event, const char *message, ...) G_GNUC_NULL_TERMINATED;
