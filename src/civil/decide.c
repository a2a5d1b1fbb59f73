/* SPDX-License-Identifier: Apache-2.0 */
/* The decision about what is due: one walk from the cursor, oldest first. Each due occurrence is settled as it is passed, except
 * that FIRE_ONCE holds the newest late one back until it is known whether a newer one is due. */
#include "base/clock.h"
#include "civil/civil.h"

#define GRACE_MAX_MS (5 * PAWL_MINUTE_MS)

typedef struct {
  const PawlTiming *timing;
  const PawlId *trigger;
  const PawlMisfireRule *rule;
  const PawlDecideInput *input;
  PawlDecision *decision;
  gint64 made_up;
  gboolean has_held; /* FIRE_ONCE: the newest late occurrence so far */
  gint64 held_ms;
} Walk;

void pawl_decision_clear(PawlDecision *decision) {
  g_free(decision->admit_ms);
  *decision = (PawlDecision){0};
}

static gint64 due_at(const Walk *walk, gint64 nominal_ms) {
  return nominal_ms + pawl_timing_jitter(walk->timing, walk->trigger, nominal_ms);
}

/* `next_ms`: the occurrence after it, where there is one. */
static gboolean is_late(const Walk *walk, gint64 nominal_ms, gboolean has_next, gint64 next_ms) {
  const PawlDecideInput *input = walk->input;
  gint64 grace_ms = walk->rule->grace_ms, seen_ms = input->now_ms;
  if (grace_ms < 0) grace_ms = has_next ? MIN(next_ms - nominal_ms, GRACE_MAX_MS) : GRACE_MAX_MS;
  if (nominal_ms == input->cursor_ms && input->first_claimed_at_ms != 0) seen_ms = MIN(seen_ms, input->first_claimed_at_ms);
  return seen_ms - due_at(walk, nominal_ms) > grace_ms;
}

static gboolean admit(Walk *walk, gint64 nominal_ms) {
  PawlDecision *decision = walk->decision;
  if (decision->n_admit == PAWL_DECIDE_ADMIT_MAX) return FALSE;
  if (decision->admit_ms == NULL) decision->admit_ms = g_new(gint64, PAWL_DECIDE_ADMIT_MAX);
  decision->admit_ms[decision->n_admit++] = nominal_ms;
  return TRUE;
}

static void settle(Walk *walk, PawlSettled outcome, gint64 nominal_ms) {
  PawlDecision *decision = walk->decision;
  guint i = 0;
  while (i < decision->n_ranges && decision->ranges[i].outcome != outcome) i++;
  PawlSettledRange *range = &decision->ranges[i];
  if (i == decision->n_ranges) {
    *range = (PawlSettledRange){.outcome = outcome, .from_ms = nominal_ms};
    decision->n_ranges++;
  }
  range->to_ms = nominal_ms;
  range->count++;
}

static void coalesce_held(Walk *walk) {
  if (walk->has_held) settle(walk, PAWL_SETTLED_COALESCED, walk->held_ms);
  walk->has_held = FALSE;
}

/* FALSE: it does not fit into this decision, and the cursor stops at it. */
static gboolean pass(Walk *walk, gint64 nominal_ms, gboolean late) {
  coalesce_held(walk); /* a newer one is due */
  if (!late) return admit(walk, nominal_ms);
  switch (walk->rule->misfire) {
  case PAWL_MISFIRE_SKIP: settle(walk, PAWL_SETTLED_SKIPPED, nominal_ms); break;
  case PAWL_MISFIRE_FIRE_ONCE:
    walk->has_held = TRUE;
    walk->held_ms = nominal_ms;
    break;
  case PAWL_MISFIRE_FIRE_ALL:
    if (walk->made_up >= walk->rule->misfire_limit)
      settle(walk, PAWL_SETTLED_OVER_LIMIT, nominal_ms);
    else if (admit(walk, nominal_ms))
      walk->made_up++;
    else
      return FALSE;
    break;
  }
  return TRUE;
}

void pawl_decide(
  const PawlTiming *timing, const PawlId *trigger, const PawlMisfireRule *rule, const PawlDecideInput *input, PawlDecision *ret_decision) {
  PawlDecision decision = {.has_next = TRUE, .next_ms = input->cursor_ms};
  Walk walk = {timing, trigger, rule, input, &decision, input->made_up, FALSE, 0};
  gboolean due = due_at(&walk, input->cursor_ms) <= input->now_ms, late = FALSE;
  for (guint n = 0; due; n++) {
    gint64 nominal_ms = decision.next_ms, next_ms = 0;
    gboolean has_next = pawl_timing_next(timing, nominal_ms, &next_ms);
    late = is_late(&walk, nominal_ms, has_next, next_ms);
    if (n == PAWL_DECIDE_WALK_MAX) coalesce_held(&walk); /* what is due here stands for it in the next round */
    if (n == PAWL_DECIDE_WALK_MAX || !pass(&walk, nominal_ms, late)) break;
    decision.has_next = has_next;
    decision.next_ms = next_ms;
    due = has_next && due_at(&walk, next_ms) <= input->now_ms;
  }
  if (walk.has_held && !admit(&walk, walk.held_ms)) { /* the decision is full: the held one waits for the next round */
    decision.has_next = TRUE;
    decision.next_ms = walk.held_ms;
    due = late = TRUE;
  }
  decision.made_up = due && late && rule->misfire == PAWL_MISFIRE_FIRE_ALL ? walk.made_up : 0;
  *ret_decision = decision;
}
