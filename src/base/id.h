/* SPDX-License-Identifier: Apache-2.0 */
/* Ids are UUIDs of 16 bytes. What happens gets version 7 (RFC 9562: 48 bits of milliseconds, then random
 * bits, and within a process they only rise); what is derived gets version 8 with the same time layout, so that both
 * sort by time and the derived id of an occurrence is the same wherever it is computed. */
#pragma once
#include <glib.h>

#define PAWL_ID_BYTES 16
#define PAWL_ID_TEXT 37 /* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" and the NUL */
#define PAWL_ID_SHORT 8 /* the last characters, by which people name a run */

typedef struct {
  guint8 b[PAWL_ID_BYTES];
} PawlId;

extern const PawlId PAWL_ID_NONE; /* all zero */

/* A new version 7 id. `now_ms`: milliseconds of the Unix epoch. Thread-safe. */
PawlId pawl_id_new(gint64 now_ms);
/* A random version 4 id, for tokens. */
PawlId pawl_id_random(void);
/* Version 8: the time bits are `at_ms`, the rest SHA-256 of (`parent`, `at_ms`). The id of the run of a trigger's
 * occurrence (the last line of G1, one run per occurrence). */
PawlId pawl_id_derive(const PawlId *parent, gint64 at_ms);
gboolean pawl_id_equal(const PawlId *a, const PawlId *b);
int pawl_id_compare(const PawlId *a, const PawlId *b);
gboolean pawl_id_is_none(const PawlId *id);
guint pawl_id_hash(gconstpointer id); /* GHashTable keys that point to a PawlId */
gboolean pawl_id_equal_p(gconstpointer a, gconstpointer b);
/* Writes the 36 characters and a NUL into `text`, and returns it. */
char *pawl_id_text(const PawlId *id, char text[PAWL_ID_TEXT]);
/* The last 8 characters of the text. */
const char *pawl_id_short(const PawlId *id, char text[PAWL_ID_TEXT]);
/* Reads the canonical 36 characters, any case. FALSE when it is not one. */
gboolean pawl_id_parse(const char *text, PawlId *ret_id);
/* The milliseconds in the time bits of a version 7 or 8 id. */
gint64 pawl_id_time_ms(const PawlId *id);
