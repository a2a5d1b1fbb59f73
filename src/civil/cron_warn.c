/* SPDX-License-Identifier: Apache-2.0 */
/* What a cron expression's author should be told: it never fires, its steps are uneven, a clock change hits it. */
#include "base/clock.h"
#include "civil/cron_private.h"

#define WARN_AHEAD_MS (400 * PAWL_DAY_MS)

static gboolean is_star(const PawlCron *cron, CronField field) {
  guint n = 0;
  gboolean star = TRUE;
  for (guint i = 0; i < cron->n_items; i++)
    if (cron->items[i].field == field) star = n++ == 0 && cron->items[i].kind == ITEM_STAR && cron->items[i].step == 0;
  return star;
}

static void warn(GPtrArray *warnings, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void warn(GPtrArray *warnings, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(warnings, g_strdup_vprintf(format, args));
  va_end(args);
}

static void warn_of_step(const CronItem *item, GPtrArray *warnings) {
  const CronFieldInfo *info = &pawl_cron_fields[item->field];
  int low, high;
  pawl_cron_step_bounds(item, &low, &high);
  g_autoptr(GString) text = g_string_new(NULL);
  pawl_cron_add_item_text(item, text);
  if (item->step > high - low) {
    if (high > low) warn(warnings, "%s in %s: the step is longer than the range, so only its first value is left.", text->str, info->name);
    return;
  }
  gboolean whole =
    item->kind == ITEM_STAR || (item->kind == ITEM_HASH && item->b < 0) || (item->kind == ITEM_FROM && low - info->low < item->step);
  if (!whole || item->field == CRON_YEAR || item->step == 1) return;
  if (item->field == CRON_DOM) {
    warn(warnings, "%s in %s is uneven: it starts anew each month.", text->str, info->name);
  } else if (info->span % item->step != 0) {
    warn(warnings, "%s in %s is uneven: %d is not a multiple of %d, so the last step before each new round is shorter.", text->str,
      info->name, info->span, item->step);
  }
}

static void warn_of_change(const PawlCron *cron, const PawlZoneSpan *span, gboolean losses_only, GPtrArray *warnings) {
  gboolean gap = span->offset_s > span->before_s;
  gint64 low = span->from_s + (gap ? span->before_s : span->offset_s), high = span->from_s + (gap ? span->offset_s : span->before_s);
  gboolean loses = gap && (cron->interval || high - low > CRON_GAP_MAX_S);
  if ((losses_only && !loses) || !pawl_cron_has_local(cron, low, high)) return;
  int year, month, day;
  pawl_date_of(pawl_floor_div(low, PAWL_DAY_S), &year, &month, &day);
  int from = (int)pawl_floor_mod(low, PAWL_DAY_S) / 60, to = (int)pawl_floor_mod(high, PAWL_DAY_S) / 60;
  const char *what;
  if (gap) {
    if (cron->interval)
      what = "do not exist, and instants in them are skipped";
    else if (high - low > CRON_GAP_MAX_S)
      what = "do not exist, and what falls into them is not made up";
    else
      what = "do not exist, and what falls into them fires once, at the end of the gap";
  } else
    what =
      cron->interval ? "occur twice, and instants in them fire both times" : "occur twice, and instants in them fire the first time only";
  warn(warnings, "On %04d-%02d-%02d in %s the times from %02d:%02d to %02d:%02d %s.", year, month, day, pawl_zone_name(cron->zone),
    from / 60, from % 60, to / 60, to % 60, what);
}

static void warn_of_changes(const PawlCron *cron, gint64 after_ms, gboolean losses_only, GPtrArray *warnings) {
  gint64 at_ms = after_ms;
  if (cron->interval && cron->hours == 0xffffff) return; /* follows real time through every change */
  while (pawl_zone_next_change(cron->zone, at_ms, &at_ms) && at_ms <= after_ms + WARN_AHEAD_MS) {
    PawlZoneSpan span;
    pawl_zone_span(cron->zone, at_ms / 1000, &span);
    warn_of_change(cron, &span, losses_only, warnings);
  }
}

static GPtrArray *warnings_of(const PawlCron *cron, gint64 after_ms, gboolean losses_only) {
  GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
  gint64 at_ms;
  if (cron->kind != CRON_CALENDAR) return warnings;
  if (!pawl_cron_next(cron, after_ms, &at_ms)) {
    if (cron->year_kinds == 0)
      warn(warnings, "It never fires: there is no such day in any year.");
    else
      warn(warnings, pawl_cron_next(cron, -1, &at_ms) ? "It never fires again: its last instant has passed."
                                                      : "It never fires: its local times do not exist on its days.");
  }
  for (guint i = 0; i < cron->n_items; i++)
    if (cron->items[i].step > 0) warn_of_step(&cron->items[i], warnings);
  if (cron->fields == PAWL_CRON_SECONDS && cron->nickname == NULL && is_star(cron, CRON_SECOND) && !is_star(cron, CRON_MINUTE))
    warn(warnings,
      "The first of six fields is the second, and * there fires every second of the minutes given; write 0 for once a minute, or "
      "five fields without seconds.");
  warn_of_changes(cron, after_ms, losses_only, warnings);
  return warnings;
}

GPtrArray *pawl_cron_warnings(const PawlCron *cron, gint64 after_ms) { return warnings_of(cron, after_ms, FALSE); }
GPtrArray *pawl_cron_warnings_of_loss(const PawlCron *cron, gint64 after_ms) { return warnings_of(cron, after_ms, TRUE); }
