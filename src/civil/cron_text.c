/* SPDX-License-Identifier: Apache-2.0 */
/* A cron expression in normal form, in English, and what is to be warned of. */
#include "base/clock.h"
#include "civil/cron_private.h"

#define WARN_AHEAD_MS (400 * PAWL_DAY_MS)

static const char *const month_names[] = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                                          "November", "December"};
static const char *const weekday_names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

/* ---- normal form ---- */

static void add_item_text(const CronItem *item, GString *out) {
  switch ((CronItemKind)item->kind) {
  case ITEM_STAR: g_string_append_c(out, '*'); break;
  case ITEM_VALUE:
  case ITEM_FROM: g_string_append_printf(out, "%d", item->a); break;
  case ITEM_RANGE: g_string_append_printf(out, "%d-%d", item->a, item->b); break;
  case ITEM_HASH:
    g_string_append_c(out, 'H');
    if (item->b >= 0) g_string_append_printf(out, "(%d-%d)", item->a, item->b);
    break;
  case ITEM_LAST:
    g_string_append_c(out, 'L');
    if (item->a > 0) g_string_append_printf(out, "-%d", item->a);
    break;
  case ITEM_LAST_WEEKDAY: g_string_append(out, "LW"); break;
  case ITEM_NEAREST: g_string_append_printf(out, "%dW", item->a); break;
  case ITEM_LAST_DOW: g_string_append_printf(out, "%dL", item->a); break;
  case ITEM_NTH: g_string_append_printf(out, "%d#%d", item->a, item->b); break;
  }
  if (item->step > 0) g_string_append_printf(out, "/%d", item->step);
}

char *pawl_cron_text(const PawlCron *cron) {
  GString *out = g_string_new(NULL);
  if (cron->has_prefix) g_string_append_printf(out, "CRON_TZ=%s ", pawl_zone_name(cron->zone));
  if (cron->nickname != NULL) g_string_append(out, cron->nickname);
  else
    for (guint i = 0; i < cron->n_items; i++) {
      if (i > 0) g_string_append_c(out, cron->items[i].field == cron->items[i - 1].field ? ',' : ' ');
      add_item_text(&cron->items[i], out);
    }
  if (cron->kind == CRON_EVERY) {
    g_autofree char *every = pawl_duration_text(cron->every_s * 1000);
    g_string_append_printf(out, " %s", every);
  }
  return g_string_free(out, FALSE);
}

/* ---- English ---- */

static const CronItem *field_items(const PawlCron *cron, CronField field, guint *ret_n) {
  guint first = 0, n = 0;
  while (first < cron->n_items && cron->items[first].field != field) first++;
  while (first + n < cron->n_items && cron->items[first + n].field == field) n++;
  *ret_n = n;
  return cron->items + first;
}

/* The one item of the field, or NULL. */
static const CronItem *only_item(const PawlCron *cron, CronField field) {
  guint n;
  const CronItem *items = field_items(cron, field, &n);
  return n == 1 ? items : NULL;
}

static gboolean is_plain_star(const PawlCron *cron, CronField field) {
  guint n;
  const CronItem *items = field_items(cron, field, &n);
  return n == 0 || (n == 1 && items->kind == ITEM_STAR && items->step == 0);
}

static const char *ordinal_end(int n) {
  if (n % 100 >= 11 && n % 100 <= 13) return "th";
  return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void add_value(CronField field, int value, GString *out) {
  if (field == CRON_MONTH) g_string_append(out, month_names[value - 1]);
  else if (field == CRON_DOW) g_string_append(out, weekday_names[value]);
  else g_string_append_printf(out, "%d", value);
}

static const char *unit_name(CronField field) {
  static const char *const units[] = {"second", "minute", "hour", "day", "month", "weekday", "year"};
  return units[field];
}

/* "every 2nd day from 1 to 31" */
static void add_steps(CronField field, int from, int to, gint32 step, GString *out) {
  if (step > 1) g_string_append_printf(out, "every %d%s %s from ", step, ordinal_end(step), unit_name(field));
  else g_string_append_printf(out, "every %s from ", unit_name(field));
  add_value(field, from, out);
  if (to < 0) return;
  g_string_append(out, " to ");
  add_value(field, to, out);
}

static void add_range(const CronItem *item, GString *out) {
  CronField field = (CronField)item->field;
  if (item->step > 0) {
    add_steps(field, item->a, item->b, item->step, out);
    return;
  }
  add_value(field, item->a, out);
  if (item->a == item->b) return;
  g_string_append(out, " to ");
  add_value(field, item->b, out);
}

static void add_item(const CronItem *item, GString *out) {
  CronField field = (CronField)item->field;
  int low, high;
  switch ((CronItemKind)item->kind) {
  case ITEM_STAR:
    if (item->step == 0) g_string_append_printf(out, "every %s", unit_name(field));
    else add_steps(field, pawl_cron_fields[field].low, -1, item->step, out);
    break;
  case ITEM_VALUE: add_value(field, item->a, out); break;
  case ITEM_RANGE: add_range(item, out); break;
  case ITEM_FROM: add_steps(field, item->a, -1, item->step, out); break;
  case ITEM_HASH:
    pawl_cron_hash_bounds(item, &low, &high);
    if (item->step > 0) add_steps(field, item->at, high, item->step, out);
    else add_value(field, item->at, out);
    g_string_append(out, " (chosen by H)");
    break;
  case ITEM_LAST:
    if (item->a == 0) g_string_append(out, "the last day of the month");
    else g_string_append_printf(out, "the day %d day%s before the last of the month", item->a, item->a > 1 ? "s" : "");
    break;
  case ITEM_LAST_WEEKDAY: g_string_append(out, "the last Monday-to-Friday day of the month"); break;
  case ITEM_NEAREST: g_string_append_printf(out, "the Monday-to-Friday day nearest to day %d", item->a); break;
  case ITEM_LAST_DOW: g_string_append_printf(out, "the last %s of the month", weekday_names[item->a]); break;
  case ITEM_NTH:
    g_string_append_printf(out, "the %d%s %s of the month", item->b, ordinal_end(item->b), weekday_names[item->a]);
    break;
  }
}

static gboolean is_number(const CronItem *item) {
  return item->kind == ITEM_VALUE || (item->kind == ITEM_HASH && item->step == 0) || (item->kind == ITEM_RANGE && item->step == 0);
}

/* "minute 5", "minutes 5, 10 to 20 and every 7th minute from 30"; the unit only before numbers. */
static void add_items(const PawlCron *cron, CronField field, GString *out) {
  guint n;
  const CronItem *items = field_items(cron, field, &n);
  gboolean unit = is_number(&items[0]) && field != CRON_MONTH && field != CRON_DOW && field != CRON_YEAR;
  gboolean many = n > 1 || (items[0].kind == ITEM_RANGE && items[0].a != items[0].b);
  if (unit) g_string_append_printf(out, "%s%s ", unit_name(field), many ? "s" : "");
  for (guint i = 0; i < n; i++) {
    if (i > 0) g_string_append(out, i + 1 == n ? " and " : ", ");
    add_item(&items[i], out);
  }
}

/* `at 02:30, 02:45 and 14:30`, if hour, minute and second are few plain values. */
static gboolean add_clock_times(const PawlCron *cron, GString *out) {
  int n = __builtin_popcountll(cron->seconds) * __builtin_popcountll(cron->minutes) * __builtin_popcount(cron->hours), i = 0;
  gboolean hashed = FALSE, with_seconds = cron->seconds != 1;
  for (guint k = 0; k < cron->n_items && cron->items[k].field <= CRON_HOUR; k++) {
    if (cron->items[k].kind != ITEM_VALUE && !(cron->items[k].kind == ITEM_HASH && cron->items[k].step == 0)) return FALSE;
    hashed |= cron->items[k].kind == ITEM_HASH;
  }
  if (n > 8) return FALSE;
  for (int s = 0; s < PAWL_DAY_S; s++) {
    if (!(cron->hours >> s / 3600 & 1)) {
      s += 3599;
      continue;
    }
    if (!(cron->minutes >> s / 60 % 60 & 1) || !(cron->seconds >> s % 60 & 1)) continue;
    g_string_append_printf(out, "%s%02d:%02d", i == 0 ? "at " : i + 1 == n ? " and " : ", ", s / 3600, s / 60 % 60);
    if (with_seconds) g_string_append_printf(out, ":%02d", s % 60);
    i++;
  }
  if (hashed) g_string_append(out, " (chosen by H)");
  return TRUE;
}

/* "every 15 minutes" reads better than "every 15th minute from 0", where it is true. */
static gboolean add_even_step(const PawlCron *cron, CronField field, GString *out) {
  const CronItem *item = only_item(cron, field);
  if (item == NULL || item->kind != ITEM_STAR || item->step == 0 || pawl_cron_fields[field].span % item->step != 0) return FALSE;
  if (item->step == pawl_cron_fields[field].span) return FALSE;
  g_string_append_printf(out, "every %d %ss", item->step, unit_name(field));
  return TRUE;
}

static void add_times(const PawlCron *cron, GString *out) {
  if (add_clock_times(cron, out)) return;
  guint n;
  const CronItem *minutes = field_items(cron, CRON_MINUTE, &n);
  gboolean every_minute = is_plain_star(cron, CRON_MINUTE), every_hour = is_plain_star(cron, CRON_HOUR);
  gboolean with_seconds = cron->seconds != 1;
  if (with_seconds && !add_even_step(cron, CRON_SECOND, out)) {
    if (!is_plain_star(cron, CRON_SECOND) && is_number(field_items(cron, CRON_SECOND, &n))) g_string_append(out, "at ");
    add_items(cron, CRON_SECOND, out);
  }
  if (with_seconds) g_string_append(out, every_minute && every_hour ? " of every minute" : " of ");
  if (with_seconds && every_minute && every_hour) return;
  gsize before = out->len;
  if (!add_even_step(cron, CRON_MINUTE, out)) {
    if (!every_minute && !with_seconds && is_number(minutes)) g_string_append(out, "at ");
    add_items(cron, CRON_MINUTE, out);
  }
  if (every_hour) g_string_append(out, g_str_has_prefix(out->str + before, "every ") ? "" : " of every hour");
  else {
    g_string_append(out, " of ");
    if (!add_even_step(cron, CRON_HOUR, out)) add_items(cron, CRON_HOUR, out);
  }
}

static void add_days(const PawlCron *cron, GString *out) {
  gboolean any_day = is_plain_star(cron, CRON_DOM), any_weekday = is_plain_star(cron, CRON_DOW);
  if (any_day && any_weekday) {
    g_string_append(out, ", every day");
    return;
  }
  if (!any_day) {
    g_string_append(out, ", on ");
    add_items(cron, CRON_DOM, out);
  }
  if (any_weekday) return;
  if (any_day) g_string_append(out, ", on ");
  else g_string_append(out, cron->day_star || cron->weekday_star ? ", but only on " : " or on ");
  add_items(cron, CRON_DOW, out);
}

/* Shorter than what the items of a nickname would say. */
static const char *nickname_sentence(const char *nickname) {
  static const struct { const char *nickname, *sentence; } sentences[] = {
    {"@yearly", "At 00:00, on 1 January"},          {"@monthly", "At 00:00, on the first day of each month"},
    {"@weekly", "At 00:00, on Sunday"},             {"@daily", "At 00:00, every day"},
    {"@hourly", "At minute 0 of every hour, every day"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(sentences); i++)
    if (g_strcmp0(sentences[i].nickname, nickname) == 0) return sentences[i].sentence;
  return NULL;
}

char *pawl_cron_explain(const PawlCron *cron) {
  if (cron->kind == CRON_REBOOT) return g_strdup("Once at each start of pawl on a single node.");
  if (cron->kind == CRON_EVERY) {
    g_autofree char *every = pawl_duration_text(cron->every_s * 1000);
    return g_strdup_printf("Every %s, counted from the occurrence before.", every);
  }
  GString *out = g_string_new(nickname_sentence(cron->nickname));
  if (cron->nickname == NULL) {
    add_times(cron, out);
    add_days(cron, out);
    if (!is_plain_star(cron, CRON_MONTH)) {
      g_string_append(out, ", in ");
      add_items(cron, CRON_MONTH, out);
    }
    if (!is_plain_star(cron, CRON_YEAR)) {
      g_string_append(out, ", in ");
      add_items(cron, CRON_YEAR, out);
    }
  }
  g_string_append_printf(out, ", in %s", pawl_zone_name(cron->zone));
  g_string_append(out, cron->year_kinds == 0 ? "; there is no such day, so it never fires." : ".");
  out->str[0] = g_ascii_toupper(out->str[0]);
  return g_string_free(out, FALSE);
}

/* ---- warnings ---- */

static void warn(GPtrArray *warnings, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void warn(GPtrArray *warnings, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(warnings, g_strdup_vprintf(format, args));
  va_end(args);
}

static void warn_of_step(const CronItem *item, GPtrArray *warnings) {
  const CronFieldInfo *info = &pawl_cron_fields[item->field];
  int low = info->low, high = item->field == CRON_DOW ? 6 : info->high;
  if (item->kind == ITEM_HASH) pawl_cron_hash_bounds(item, &low, &high);
  else if (item->kind == ITEM_FROM) low = item->a, high = info->high;
  else if (item->kind == ITEM_RANGE) low = item->a, high = item->b < item->a ? item->b + info->span : item->b;
  g_autoptr(GString) text = g_string_new(NULL);
  add_item_text(item, text);
  if (item->step > high - low) {
    if (high > low) warn(warnings, "%s in %s: the step is longer than the range, so only its first value is left.", text->str, info->name);
    return;
  }
  gboolean whole = item->kind == ITEM_STAR || (item->kind == ITEM_HASH && item->b < 0) || (item->kind == ITEM_FROM && item->a - info->low < item->step);
  if (!whole || item->field == CRON_YEAR) return;
  if (item->field == CRON_DOM) {
    warn(warnings, "%s in %s is uneven: it starts anew each month.", text->str, info->name);
  } else if (info->span % item->step != 0) {
    warn(warnings, "%s in %s is uneven: %d is not a multiple of %d, so the last step before each new round is shorter.", text->str, info->name,
      info->span, item->step);
  }
}

static void warn_of_change(const PawlCron *cron, const PawlZoneSpan *span, GPtrArray *warnings) {
  gboolean gap = span->offset_s > span->before_s;
  gint64 low = span->from_s + (gap ? span->before_s : span->offset_s), high = span->from_s + (gap ? span->offset_s : span->before_s);
  if (!pawl_cron_has_local(cron, low, high)) return;
  int year, month, day;
  pawl_date_of(pawl_floor_div(low, PAWL_DAY_S), &year, &month, &day);
  int from = (int)pawl_floor_mod(low, PAWL_DAY_S) / 60, to = (int)pawl_floor_mod(high, PAWL_DAY_S) / 60;
  const char *what;
  if (gap) {
    if (cron->interval) what = "do not exist, and instants in them are skipped";
    else if (high - low > CRON_GAP_MAX_S) what = "do not exist, and what falls into them is not made up";
    else what = "do not exist, and what falls into them fires once, at the end of the gap";
  } else what = cron->interval ? "occur twice, and instants in them fire both times" : "occur twice, and instants in them fire the first time only";
  warn(warnings, "On %04d-%02d-%02d in %s the times from %02d:%02d to %02d:%02d %s.", year, month, day, pawl_zone_name(cron->zone), from / 60,
    from % 60, to / 60, to % 60, what);
}

static void warn_of_changes(const PawlCron *cron, gint64 after_ms, GPtrArray *warnings) {
  gint64 at_ms = after_ms;
  if (cron->interval && cron->hours == 0xffffff) return; /* follows real time through every change */
  while (pawl_zone_next_change(cron->zone, at_ms, &at_ms) && at_ms <= after_ms + WARN_AHEAD_MS) {
    PawlZoneSpan span;
    pawl_zone_span(cron->zone, at_ms / 1000, &span);
    warn_of_change(cron, &span, warnings);
  }
}

GPtrArray *pawl_cron_warnings(const PawlCron *cron, gint64 after_ms) {
  GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
  gint64 at_ms;
  if (cron->kind != CRON_CALENDAR) return warnings;
  if (!pawl_cron_next(cron, after_ms, &at_ms)) {
    if (cron->year_kinds == 0) warn(warnings, "It never fires: there is no such day in any year.");
    else warn(warnings, pawl_cron_next(cron, -1, &at_ms) ? "It never fires again: its last instant has passed."
                                                         : "It never fires: its local times do not exist on its days.");
  }
  for (guint i = 0; i < cron->n_items; i++)
    if (cron->items[i].step > 0) warn_of_step(&cron->items[i], warnings);
  if (cron->fields == PAWL_CRON_SECONDS && cron->nickname == NULL && is_plain_star(cron, CRON_SECOND) && !is_plain_star(cron, CRON_MINUTE))
    warn(warnings, "The first of six fields is the second, and * there fires every second of the minutes given; write 0 for once a minute, or "
                   "five fields without seconds.");
  warn_of_changes(cron, after_ms, warnings);
  return warnings;
}
