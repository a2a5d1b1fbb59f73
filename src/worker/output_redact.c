/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/output_redact.h"

#include <string.h>

struct PawlSecrets {
  GPtrArray *texts;    /* GBytes * */
  gboolean first[256]; /* a secret begins with this byte */
};

PawlSecrets *pawl_secrets_new(GPtrArray *texts) {
  PawlSecrets *secrets = NULL;
  for (guint i = 0; texts && i < texts->len; i++) {
    const char *text = g_ptr_array_index(texts, i);
    gsize n = text ? strlen(text) : 0;
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r')) n--; /* a secret from a file, printed without its line end */
    if (n < PAWL_SECRET_MIN_BYTES) continue;
    if (!secrets) {
      secrets = g_new0(PawlSecrets, 1);
      secrets->texts = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    }
    g_ptr_array_add(secrets->texts, g_bytes_new(text, n));
    secrets->first[(guint8)text[0]] = TRUE;
  }
  return secrets;
}

void pawl_secrets_free(PawlSecrets *secrets) {
  if (!secrets) return;
  g_ptr_array_unref(secrets->texts);
  g_free(secrets);
}

/* How many bytes at `at` are a secret (the longest one). `*ret_open`: with more bytes behind them they could be another, longer one. */
static gsize match(const PawlSecrets *secrets, const guint8 *at, gsize n_bytes, gboolean *ret_open) {
  gsize longest = 0;
  *ret_open = FALSE;
  for (guint i = 0; i < secrets->texts->len; i++) {
    gsize n;
    const guint8 *text = g_bytes_get_data(g_ptr_array_index(secrets->texts, i), &n);
    if (memcmp(at, text, MIN(n, n_bytes)) != 0) continue;
    if (n <= n_bytes)
      longest = MAX(longest, n);
    else
      *ret_open = TRUE;
  }
  return longest;
}

/* Passes on what is certain (with `all`: everything) and returns how many bytes were dealt with. */
static gsize scan(const PawlSecrets *secrets, PawlRedaction *state, const guint8 *bytes, gsize n_bytes, gboolean all,
  PawlRedactionSink sink, gpointer data) {
  gsize until = state->redacted_bytes;                                       /* the bytes before it belong to a secret */
  gsize next = MIN(MAX(state->redacted_bytes, state->shown_bytes), n_bytes); /* the first byte that is still to be passed on or left out */
  gsize i = 0;
  for (; i < n_bytes; i++) {
    if (!secrets->first[bytes[i]]) continue;
    gboolean open;
    gsize n = match(secrets, bytes + i, n_bytes - i, &open);
    if (open && !all) break;
    if (n == 0) continue;
    if (i >= until) {
      if (i > next) sink(bytes + next, i - next, data);
      sink((const guint8 *)"***", 3, data);
    }
    until = MAX(until, i + n);
    next = MIN(MAX(until, next), n_bytes);
  }
  if (i > next) sink(bytes + next, i - next, data);
  state->redacted_bytes = until > i ? until - i : 0;
  state->shown_bytes = state->shown_bytes > i ? state->shown_bytes - i : 0;
  return i;
}

void pawl_redact(
  const PawlSecrets *secrets, PawlRedaction *state, const guint8 *bytes, gsize n_bytes, PawlRedactionSink sink, gpointer data) {
  if (state->held) {
    g_byte_array_append(state->held, bytes, (guint)n_bytes);
    bytes = state->held->data;
    n_bytes = state->held->len;
  }
  gsize done = scan(secrets, state, bytes, n_bytes, FALSE, sink, data);
  GByteArray *left = NULL;
  if (done < n_bytes) left = g_byte_array_append(g_byte_array_new(), bytes + done, (guint)(n_bytes - done));
  if (state->held) g_byte_array_unref(state->held);
  state->held = left;
}

gboolean pawl_redact_waits(const PawlRedaction *state) {
  return state->held && state->held->len < PAWL_SECRET_MIN_BYTES && state->held->len > MAX(state->shown_bytes, state->redacted_bytes);
}

void pawl_redact_idle(PawlRedaction *state, PawlRedactionSink sink, gpointer data) {
  if (!pawl_redact_waits(state)) return;
  gsize from = MAX(state->shown_bytes, state->redacted_bytes);
  sink(state->held->data + from, state->held->len - from, data);
  state->shown_bytes = state->held->len;
}

void pawl_redact_end(const PawlSecrets *secrets, PawlRedaction *state, PawlRedactionSink sink, gpointer data) {
  if (!state->held) return;
  scan(secrets, state, state->held->data, state->held->len, TRUE, sink, data);
  g_byte_array_unref(state->held);
  state->held = NULL;
}
