/* SPDX-License-Identifier: Apache-2.0 */
/* Errors. One GError domain for the whole project; the code says what the caller can do about it.
 * Everything else that is known about a code (its name, whether a retry helps, the HTTP status, the
 * exit code) stands in one table in error.c.
 *
 * Rules: an output argument is untouched on failure; library rooms do not log, who handles an error logs it once;
 * no message carries a secret, an environment value, an input or an SQL parameter. */
#pragma once
#include <glib.h>

#define PAWL_ERROR (pawl_error_quark())

typedef enum {
  PAWL_ERROR_INVALID,     /* the request is malformed; the message names the place and the fix */
  PAWL_ERROR_CONFIG,      /* a setting or a file of settings is wrong */
  PAWL_ERROR_CONFLICT,    /* it contradicts what is stored */
  PAWL_ERROR_RACED,       /* somebody else was first; look again */
  PAWL_ERROR_FENCED,      /* the caller does not hold the current lease */
  PAWL_ERROR_NOT_FOUND,   /* no such thing */
  PAWL_ERROR_DENIED,      /* the caller may not */
  PAWL_ERROR_BUSY,        /* held by another; try again */
  PAWL_ERROR_UNAVAILABLE, /* the store cannot be used now (disk full, read-only, gone) */
  PAWL_ERROR_AMBIGUOUS,   /* a COMMIT whose outcome is not known: resolve it, assume nothing */
  PAWL_ERROR_INTERNAL,    /* a bug in pawl or a damaged store */
} PawlError;

typedef struct {
  PawlError code;
  const char *name; /* the word in JSON output and logs, "not_found" */
  gboolean retry;   /* the same call can succeed later */
  int http_status;
  int exit_code;
} PawlErrorInfo;

GQuark pawl_error_quark(void);
/* The table row of a code. Never NULL; an unknown code answers as internal. */
const PawlErrorInfo *pawl_error_info(int code);
/* The row for an error of any domain (other domains answer as internal). */
const PawlErrorInfo *pawl_error_info_of(const GError *error);

/* Exit codes that no error class stands for. */
enum {
  PAWL_EXIT_OK = 0,
  PAWL_EXIT_FAILED = 1,
  PAWL_EXIT_USAGE = 2,
  PAWL_EXIT_UNAVAILABLE = 69,
  PAWL_EXIT_TRY_AGAIN = 75,
  PAWL_EXIT_DENIED = 77,
  PAWL_EXIT_CONFIG = 78,
  PAWL_EXIT_TIMED_OUT = 124,
  PAWL_EXIT_SIGNAL_BASE = 128
};
