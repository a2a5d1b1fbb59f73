/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces secrets by *** in a stream that arrives in pieces. What could be the beginning of a secret is held back until more arrives, so a
 * secret is found wherever the pieces are cut. Overlapping secrets give one ***. */
#pragma once
#include <glib.h>

#define PAWL_SECRET_MIN_BYTES 4 /* shorter ones are not looked for: they would tear holes into everything */

typedef struct PawlSecrets PawlSecrets;
/* Copies what is long enough, without line ends at its end. NULL when nothing is. */
PawlSecrets *pawl_secrets_new(GPtrArray *texts);
void pawl_secrets_free(PawlSecrets *secrets);

typedef struct {
  GByteArray *held;     /* NULL: nothing */
  gsize shown_bytes;    /* so many of its first bytes were passed on because nothing came for a while */
  gsize redacted_bytes; /* so many of its first bytes, or of what comes next, belong to a secret that was already replaced */
} PawlRedaction;

typedef void (*PawlRedactionSink)(const guint8 *bytes, gsize n_bytes, gpointer data);
/* Passes on to `sink` what is certain. */
void pawl_redact(
  const PawlSecrets *secrets, PawlRedaction *state, const guint8 *bytes, gsize n_bytes, PawlRedactionSink sink, gpointer data);
/* Nothing came for a while: shows the "p" of a prompt that could be the beginning of a secret. Only a beginning shorter than
 * PAWL_SECRET_MIN_BYTES is shown (what is longer is probably a secret), and what follows it is still recognised. */
void pawl_redact_idle(PawlRedaction *state, PawlRedactionSink sink, gpointer data);
/* Whether pawl_redact_idle() would show anything. */
gboolean pawl_redact_waits(const PawlRedaction *state);
/* Nothing else comes: passes on all that is held. */
void pawl_redact_end(const PawlSecrets *secrets, PawlRedaction *state, PawlRedactionSink sink, gpointer data);
