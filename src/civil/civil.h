/* SPDX-License-Identifier: Apache-2.0 */
/* civil: zones, cron expressions, occurrences, the misfire decision.
 *
 * Pure: values in, values out. Nothing here reads a clock, the TZ variable, or a global; a zone is an argument. All instants
 * are milliseconds since the Unix epoch, from 1970 to the year 2900. Objects are immutable once made and may be shared by threads;
 * reference counts are atomic. Outputs are untouched on failure. */
#pragma once
#include "base/id.h"

#include <glib.h>

/* ---- zones (zone.c) ---- */
typedef struct PawlZone PawlZone;
/* `name`: an IANA name such as "Europe/Berlin", "UTC", or "Z" (which is "UTC" from then on). PAWL_ERROR_INVALID for anything else
 * (POSIX strings such as "CET-1CEST,M3.5.0,M10.5.0/3" that are no file, absolute paths, "..", empty), with the nearest known name as a
 * suggestion where there is one. Zones in use are shared: asking again gives the same one. The caller owns the reference. */
PawlZone *pawl_zone_new(const char *name, GError **error);
PawlZone *pawl_zone_ref(PawlZone *zone);
void pawl_zone_unref(PawlZone *zone);
const char *pawl_zone_name(const PawlZone *zone);
/* Seconds east of UTC at an instant. */
gint pawl_zone_offset_s(const PawlZone *zone, gint64 at_ms);
/* The first instant after `after_ms` at which the offset changes; FALSE when there is none before the year 2900. */
gboolean pawl_zone_next_change(const PawlZone *zone, gint64 after_ms, gint64 *ret_at_ms);

/* ---- cron expressions (cron.c parses, cron_next.c walks, cron_text.c explains) ---- */
typedef struct PawlCron PawlCron;
typedef enum { PAWL_CRON_MINUTES, /* five fields */ PAWL_CRON_SECONDS /* six, or seven with years */ } PawlCronFields;
/* The dialect stands in docs/guide/cron.md and, case by case, in tests/data/cron.md. `hash_key`: what H is spread by (the trigger's full
 * name and project), through SHA-256, so alike on every machine; NULL: "". `zone`: NULL is UTC; the expression's own CRON_TZ= or TZ= prefix
 * takes its place. At most 1024 bytes. PAWL_ERROR_INVALID: the message starts with "column N: " (1-based, in characters) and says what is
 * wrong and what is allowed. "@reboot" is accepted and has no instants (pawl_cron_is_reboot); "@every D" counts from the instant asked
 * from, so every whole second matches it. H and H(a-b) are fixed times, with a step they follow real time. */
PawlCron *pawl_cron_parse(const char *expression, PawlCronFields fields, const char *hash_key, PawlZone *zone, GError **error);
PawlCron *pawl_cron_ref(PawlCron *cron);
void pawl_cron_unref(PawlCron *cron);
gboolean pawl_cron_is_reboot(const PawlCron *cron);
const PawlZone *pawl_cron_zone(const PawlCron *cron);
/* The first instant strictly after `after_ms`; FALSE when there is none (any more). Worst case under 1 ms. */
gboolean pawl_cron_next(const PawlCron *cron, gint64 after_ms, gint64 *ret_at_ms);
/* Whether `at_ms` is an instant of it. */
gboolean pawl_cron_matches(const PawlCron *cron, gint64 at_ms);
/* The shortest gap between two successive instants that the fields allow, in ms; 0 when there are fewer than two instants. A lower
 * bound found from the fields is good enough where it is exact on days without a change of offset. */
gint64 pawl_cron_shortest_gap_ms(const PawlCron *cron);
/* The expression in normal form, such that parse -> text -> parse is stable. Caller g_free()s. */
char *pawl_cron_text(const PawlCron *cron);
/* One sentence in English. Caller g_free()s. */
char *pawl_cron_explain(const PawlCron *cron);
/* Warnings as sentences (char *, owned by the array): never fires (again), skipped or doubled by a clock change within the coming 400
 * days, uneven steps such as star/7, a step longer than its range, six fields given where five are meant. */
GPtrArray *pawl_cron_warnings(const PawlCron *cron, gint64 after_ms);
/* The same, but of clock changes only those that leave occurrences out. */
GPtrArray *pawl_cron_warnings_of_loss(const PawlCron *cron, gint64 after_ms);

/* ---- a trigger's timing: cron, every, at, with window and jitter (timing.c) ---- */
typedef enum { PAWL_TIMING_CRON, PAWL_TIMING_EVERY, PAWL_TIMING_AT, PAWL_TIMING_REBOOT } PawlTimingKind;
typedef struct {
  PawlTimingKind kind;
  PawlCron *cron;  /* CRON, REBOOT: owned */
  gint64 every_ms; /* EVERY: instants are offset_ms + k * every_ms, exact, from the Unix epoch */
  gint64 offset_ms;
  gint64 at_ms;     /* AT */
  gint64 from_ms;   /* 0: none; occurrences before it do not exist (inclusive) */
  gint64 until_ms;  /* 0: none; occurrences at or after it do not exist (exclusive) */
  gint64 jitter_ms; /* 0: none; moves the start by 0..jitter_ms, never the nominal time */
} PawlTiming;
void pawl_timing_clear(PawlTiming *timing);
/* The first occurrence strictly after `after_ms`. */
gboolean pawl_timing_next(const PawlTiming *timing, gint64 after_ms, gint64 *ret_nominal_ms);
/* How much later than nominal this occurrence is due: 0..jitter_ms, a pure function of (trigger, nominal). */
gint64 pawl_timing_jitter(const PawlTiming *timing, const PawlId *trigger, gint64 nominal_ms);
gint64 pawl_timing_shortest_gap_ms(const PawlTiming *timing); /* 0: fewer than two occurrences */

/* ---- the decision about what is due (decide.c) ---- */
typedef enum { PAWL_MISFIRE_FIRE_ONCE, PAWL_MISFIRE_SKIP, PAWL_MISFIRE_FIRE_ALL } PawlMisfire;
#define PAWL_DECIDE_WALK_MAX 10000 /* occurrences walked in one decision */
#define PAWL_DECIDE_ADMIT_MAX 100  /* occurrences admitted in one decision */

typedef struct {
  PawlMisfire misfire;
  gint64 misfire_limit; /* FIRE_ALL: at most so many missed occurrences of one absence are made up */
  gint64 grace_ms;      /* -1: the gap to the next occurrence, at most 5 min (AT: 5 min) */
} PawlMisfireRule;

typedef struct {
  gint64 cursor_ms; /* nominal time of the first unsettled occurrence; due */
  gint64 now_ms;
  gint64 first_claimed_at_ms; /* 0: none. The occurrence at the cursor that was first claimed in time stays on time */
  gint64 made_up;             /* FIRE_ALL: missed occurrences of this absence admitted in earlier rounds */
} PawlDecideInput;

typedef enum { PAWL_SETTLED_SKIPPED, PAWL_SETTLED_COALESCED, PAWL_SETTLED_OVER_LIMIT } PawlSettled;
typedef struct {
  PawlSettled outcome;
  gint64 from_ms, to_ms; /* nominal time of the first and the last occurrence of the range, both inclusive */
  gint64 count;
} PawlSettledRange;

typedef struct {
  gint64 *admit_ms; /* n_admit nominal times, ascending; owned */
  guint n_admit;
  PawlSettledRange ranges[3]; /* what does not run, at most one range an outcome */
  guint n_ranges;
  gboolean has_next; /* FALSE: the trigger is exhausted */
  gint64 next_ms;    /* the new cursor; may be due as well, then another round follows */
  gint64 made_up;    /* to be kept for the next round; 0 once nothing missed is left */
} PawlDecision;
void pawl_decision_clear(PawlDecision *decision);
/* Walks the due occurrences from the cursor on. An occurrence is due when nominal + jitter <= now, and late when it is due for longer
 * than the grace. On-time ones are admitted, each. Late ones: SKIP: a skipped range. FIRE_ONCE: the newest due occurrence is admitted
 * (where it is an on-time one, it stands for the late ones too), the other late ones are a coalesced range. FIRE_ALL: oldest first while
 * made_up < misfire_limit, then an over-limit range. What does not fit into one decision (ADMIT_MAX, WALK_MAX) is left to the next: the
 * cursor stops there. For FIRE_ONCE a walk that ends at WALK_MAX admits no late one and coalesces what it walked, except that an
 * absence's newest occurrence is always admitted in the end. */
void pawl_decide(
  const PawlTiming *timing, const PawlId *trigger, const PawlMisfireRule *rule, const PawlDecideInput *input, PawlDecision *ret_decision);
