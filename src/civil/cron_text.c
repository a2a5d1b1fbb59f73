/* SPDX-License-Identifier: Apache-2.0 */
/* A cron expression in normal form, and in English. */
#include "base/clock.h"
#include "civil/cron_private.h"

static const char *const month_names[] = {
  "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"};
static const char *const weekday_names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

/* ---- normal form ---- */

void pawl_cron_add_item_text(const CronItem *item, GString *out) {
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
  if (cron->nickname != NULL)
    g_string_append(out, cron->nickname);
  else
    for (guint i = 0; i < cron->n_items; i++) {
      if (i > 0) g_string_append_c(out, cron->items[i].field == cron->items[i - 1].field ? ',' : ' ');
      pawl_cron_add_item_text(&cron->items[i], out);
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
  if (field == CRON_MONTH)
    g_string_append(out, month_names[value - 1]);
  else if (field == CRON_DOW)
    g_string_append(out, weekday_names[value]);
  else
    g_string_append_printf(out, "%d", value);
}

static const char *unit_name(CronField field) {
  static const char *const units[] = {"second", "minute", "hour", "day", "month", "weekday", "year"};
  return units[field];
}

/* Whether the item stands for one number of its field, also as a range that holds one or a step that is too long. */
static gboolean is_single(const CronItem *item, int *ret_value) {
  int low, high;
  if (item->kind > ITEM_HASH) return FALSE;
  pawl_cron_step_bounds(item, &low, &high);
  if (item->kind == ITEM_VALUE)
    low = item->a;
  else if (item->kind == ITEM_HASH && (item->step == 0 || item->at + (gint64)item->step > high))
    low = item->at;
  else if (item->kind == ITEM_HASH || (low < high && low + (gint64)item->step <= high))
    return FALSE;
  *ret_value = low;
  return TRUE;
}

/* "every 2nd day from 1 to 31"; to < 0: to the field's end */
static void add_steps(CronField field, int from, int to, gint32 step, GString *out) {
  if (step > 1)
    g_string_append_printf(out, "every %d%s %s from ", step, ordinal_end(step), unit_name(field));
  else
    g_string_append_printf(out, "every %s from ", unit_name(field));
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
  g_string_append(out, " to ");
  add_value(field, item->b, out);
}

static void add_day_item(const CronItem *item, GString *out) {
  if (item->kind == ITEM_LAST && item->a == 0)
    g_string_append(out, "the last day of the month");
  else if (item->kind == ITEM_LAST && item->a == 1)
    g_string_append(out, "the day before the last of the month");
  else if (item->kind == ITEM_LAST)
    g_string_append_printf(out, "the day %d days before the last of the month", item->a);
  else if (item->kind == ITEM_LAST_WEEKDAY)
    g_string_append(out, "the last Monday-to-Friday day of the month");
  else if (item->kind == ITEM_NEAREST)
    g_string_append_printf(out, "the Monday-to-Friday day nearest to day %d", item->a);
  else if (item->kind == ITEM_LAST_DOW)
    g_string_append_printf(out, "the last %s of the month", weekday_names[item->a]);
  else
    g_string_append_printf(out, "the %d%s %s of the month", item->b, ordinal_end(item->b), weekday_names[item->a]);
}

static void add_item(const CronItem *item, GString *out) {
  CronField field = (CronField)item->field;
  int low, high, value;
  if (is_single(item, &value))
    add_value(field, value, out);
  else if (item->kind == ITEM_STAR && item->step == 0)
    g_string_append_printf(out, "every %s", unit_name(field));
  else if (item->kind == ITEM_STAR)
    add_steps(field, pawl_cron_fields[field].low, -1, item->step, out);
  else if (item->kind == ITEM_FROM)
    add_steps(field, item->a, -1, item->step, out);
  else if (item->kind == ITEM_RANGE)
    add_range(item, out);
  else if (item->kind == ITEM_HASH) {
    pawl_cron_hash_bounds(item, &low, &high);
    add_steps(field, item->at, high, item->step, out);
  } else
    add_day_item(item, out);
  if (item->kind == ITEM_HASH) g_string_append(out, " (chosen by H)");
}

static gboolean is_number(const CronItem *item) {
  int value;
  return is_single(item, &value) || (item->kind == ITEM_RANGE && item->step == 0);
}

/* "minute 5", "minutes 5, 10 to 20 and every 7th minute from 30": numbers have their unit before the first of them. */
static void add_items(const PawlCron *cron, CronField field, GString *out) {
  guint n, numbers = 0;
  int value;
  const CronItem *items = field_items(cron, field, &n);
  for (guint i = 0; i < n; i++) numbers += is_number(&items[i]) ? 1 + !is_single(&items[i], &value) : 0;
  gboolean unit = field != CRON_MONTH && field != CRON_DOW && field != CRON_YEAR;
  for (guint i = 0; i < n; i++) {
    if (i > 0) g_string_append(out, i + 1 == n ? " and " : ", ");
    if (unit && is_number(&items[i])) {
      g_string_append_printf(out, "%s%s ", unit_name(field), numbers > 1 ? "s" : "");
      unit = FALSE;
    }
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
  const CronFieldInfo *info = &pawl_cron_fields[field];
  if (item == NULL || item->step < 2 || item->step >= info->span || info->span % item->step != 0) return FALSE;
  if (item->kind != ITEM_STAR && !(item->kind == ITEM_FROM && item->a == info->low)) return FALSE;
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
  if (every_hour)
    g_string_append(out, g_str_has_prefix(out->str + before, "every ") ? "" : " of every hour");
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
  if (any_day)
    g_string_append(out, ", on ");
  else
    g_string_append(out, cron->day_star || cron->weekday_star ? ", but only on " : " or on ");
  add_items(cron, CRON_DOW, out);
}

/* Shorter than what the items of a nickname would say. */
static const char *nickname_sentence(const char *nickname) {
  static const struct {
    const char *nickname, *sentence;
  } sentences[] = {
    {"@yearly", "At 00:00, on 1 January"},
    {"@monthly", "At 00:00, on the first day of each month"},
    {"@weekly", "At 00:00, on Sunday"},
    {"@daily", "At 00:00, every day"},
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
