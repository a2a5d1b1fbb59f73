/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of retry, overlap and order: values in, a verdict out. */
#include "domain/domain.h"

#define LATERS_MAX 100 /* puttings-off of one run by exit code 75 */
#define JITTER_PERCENT 20

/* A number that is spread over 64 bits and depends on nothing but the run and the attempt, so that a retry that is computed twice is due
 * at the same instant (splitmix64's finaliser over the two halves of the id). */
static guint64 spread(const PawlId *run, gint attempt) {
  guint64 z = (guint64)attempt * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
  for (int i = 0; i < PAWL_ID_BYTES; i++) {
    z = (z ^ run->b[i]) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    z ^= z >> 31;
  }
  return (z ^ (z >> 30)) * G_GUINT64_CONSTANT(0x94d049bb133111eb) >> 11;
}

static gint64 backoff_ms(const PawlTaskSpec *spec, gint nth, const PawlId *run, gint attempt) {
  gint64 wait_ms = MIN(spec->retry_backoff_ms, spec->retry_max_backoff_ms);
  for (gint i = 1; i < nth && wait_ms < spec->retry_max_backoff_ms && wait_ms > 0; i++)
    wait_ms = MIN(wait_ms * 2, spec->retry_max_backoff_ms);
  gint64 width_ms = wait_ms / 100 * JITTER_PERCENT + wait_ms % 100 * JITTER_PERCENT / 100;
  return wait_ms - width_ms + (gint64)(spread(run, attempt) % (guint64)(2 * width_ms + 1));
}

gboolean pawl_retry_rule(
  const PawlTaskSpec *spec, const PawlId *run, gint attempt, gint laters, PawlMachineEvent ended_by, gint64 *ret_wait_ms) {
  guint bit;
  if (ended_by == PAWL_EVENT_LATER && spec->retry_later && laters < LATERS_MAX) {
    *ret_wait_ms = backoff_ms(spec, laters + 1, run, attempt);
    return TRUE;
  }
  if (ended_by == PAWL_EVENT_FAIL || ended_by == PAWL_EVENT_LATER)
    bit = PAWL_RETRY_FAILED;
  else if (ended_by == PAWL_EVENT_TIME_OUT)
    bit = PAWL_RETRY_TIMED_OUT;
  else if (ended_by == PAWL_EVENT_LOSE)
    bit = PAWL_RETRY_LOST;
  else
    return FALSE;
  gint used = attempt - laters; /* attempts that were put off do not count */
  if ((spec->retry_when & bit) == 0 || used >= spec->retry_attempts) return FALSE;
  *ret_wait_ms = backoff_ms(spec, MAX(used, 1), run, attempt);
  return TRUE;
}

PawlOverlapVerdict pawl_overlap_rule(PawlOverlap overlap, gint queue, gint active, gint waiting) {
  gboolean busy = active > 0 || waiting > 0;
  switch (overlap) {
  case PAWL_OVERLAP_ALLOW: break;
  case PAWL_OVERLAP_SKIP: return busy ? PAWL_OVERLAP_DO_LEDGER : PAWL_OVERLAP_DO_ADMIT;
  case PAWL_OVERLAP_QUEUE: return waiting >= queue ? PAWL_OVERLAP_DO_LEDGER : PAWL_OVERLAP_DO_ADMIT;
  case PAWL_OVERLAP_REPLACE: return busy ? PAWL_OVERLAP_DO_REPLACE : PAWL_OVERLAP_DO_ADMIT;
  }
  return PAWL_OVERLAP_DO_ADMIT;
}

gint64 pawl_order_key(gint64 queued_at_ms, gint priority) { return queued_at_ms - (gint64)priority * PAWL_AGEING_MS; }
