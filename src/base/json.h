/* SPDX-License-Identifier: Apache-2.0 */
/* JSON on jansson, with pawl's caps: duplicate keys refused, depth 64, 16 MiB. Canonical form: keys sorted, no blanks, UTF-8;
 * digests are SHA-256 over it, in lower-case hex. */
#pragma once
#include <glib.h>
#include <jansson.h>

#define PAWL_DIGEST_TEXT 65 /* 64 hex digits and the NUL */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_t, json_decref)

/* New reference, or NULL with PAWL_ERROR_INVALID naming line and column. */
json_t *pawl_json_parse(const char *text, gsize bytes, GError **error);
/* Caller g_free()s. */
char *pawl_json_canonical(const json_t *json);
/* SHA-256 of `text`, 64 hex digits. Caller g_free()s. */
char *pawl_digest(const char *text, gssize bytes);
/* Adds a string, or null when `value` is NULL; takes no ownership. Invalid UTF-8 is replaced. */
void pawl_json_set_text(json_t *object, const char *key, const char *value);
/* Adds an instant as RFC 3339 with milliseconds, or null when at_ms is 0. */
void pawl_json_set_instant(json_t *object, const char *key, gint64 at_ms);
