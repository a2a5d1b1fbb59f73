/* SPDX-License-Identifier: Apache-2.0 */
/* One field of a cron expression: items, their masks, and H. */
#include "civil/cron_private.h"

#include <string.h>

const CronFieldInfo pawl_cron_fields[CRON_N_FIELDS] = {
  [CRON_SECOND] = {"second", 0, 59, 60, 59},
  [CRON_MINUTE] = {"minute", 0, 59, 60, 59},
  [CRON_HOUR] = {"hour", 0, 23, 24, 23},
  [CRON_DOM] = {"day-of-month", 1, 31, 31, 28},
  [CRON_MONTH] = {"month", 1, 12, 12, 12},
  [CRON_DOW] = {"day-of-week", 0, 7, 7, 6},
  [CRON_YEAR] = {"year", 1970, PAWL_DATE_LAST_YEAR, 0, 0},
};

static const char *const month_names[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
static const char *const weekday_names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

/* One item while it is read: p moves from its start to end. */
typedef struct {
  const CronSource *source;
  CronField field;
  const CronFieldInfo *info;
  const char *p, *end;
} Reader;

static gboolean at_end(const Reader *r) { return r->p >= r->end; }
static char peek(const Reader *r) { return at_end(r) ? '\0' : g_ascii_toupper(*r->p); }

static gboolean take(Reader *r, char c) {
  if (peek(r) != c) return FALSE;
  r->p++;
  return TRUE;
}

static const char *allowed_text(CronField field) {
  switch (field) {
  case CRON_SECOND:
  case CRON_MINUTE: return "0-59, *, lists, ranges, steps, H";
  case CRON_HOUR: return "0-23, *, lists, ranges, steps, H";
  case CRON_DOM: return "1-31, *, ?, lists, ranges, steps, L, L-n, LW, nW, H";
  case CRON_MONTH: return "1-12, JAN-DEC, *, lists, ranges, steps, H";
  case CRON_DOW: return "0-7 (0 and 7 are Sunday), SUN-SAT, *, ?, lists, ranges, steps, nL, d#n, H";
  default: return "1970-2900, *, lists, ranges, steps";
  }
}

static gboolean refuse_item(const Reader *r, const char *at, const char *why) {
  gsize length = (gsize)(r->end - at);
  g_autofree char *shown = g_utf8_make_valid(at, (gssize)MIN(length, 24));
  return pawl_cron_refuse(
    r->source, at, "'%s%s' in %s: %s; allowed are %s", shown, length > 24 ? "…" : "", r->info->name, why, allowed_text(r->field));
}

/* A name of three letters that no letter or digit follows. */
static gboolean take_name(Reader *r, int *ret) {
  const char *const *names = r->field == CRON_MONTH ? month_names : r->field == CRON_DOW ? weekday_names : NULL;
  if (names == NULL || r->end - r->p < 3) return FALSE;
  for (int i = 0; i < (r->field == CRON_MONTH ? 12 : 7); i++)
    if (g_ascii_strncasecmp(r->p, names[i], 3) == 0) {
      r->p += 3;
      *ret = i + (r->field == CRON_MONTH);
      return TRUE;
    }
  return FALSE;
}

static gboolean take_digits(Reader *r, gint64 max, gint64 *ret) {
  gint64 value = 0;
  const char *start = r->p;
  for (; !at_end(r) && g_ascii_isdigit(*r->p); r->p++) value = MIN(value * 10 + (*r->p - '0'), max + 1);
  *ret = value;
  return r->p > start;
}

static gboolean take_value(Reader *r, int low, int high, int *ret) {
  const char *start = r->p;
  gint64 value;
  if (take_name(r, ret)) return TRUE;
  if (!take_digits(r, 100000, &value)) return refuse_item(r, start, at_end(r) ? "a value is missing" : "this is no value");
  if (value >= low && value <= high) {
    *ret = (int)value;
    return TRUE;
  }
  g_autofree char *why = g_strdup_printf("it is out of range, %d to %d", low, high);
  return refuse_item(r, start, why);
}

/* After an item's value: "/step", or nothing. */
static gboolean take_step(Reader *r, gint32 *ret_step) {
  gint64 step;
  if (!take(r, '/')) return TRUE;
  const char *start = r->p;
  if (!take_digits(r, G_MAXINT32, &step)) return refuse_item(r, start, "a step must be a number");
  if (step < 1) return refuse_item(r, start, "a step must be at least 1");
  if (step > G_MAXINT32) return refuse_item(r, start, "the step is too large");
  *ret_step = (gint32)step;
  return TRUE;
}

static gboolean take_hash(Reader *r, CronItem *item) {
  const char *start = r->p - 1;
  if (r->field == CRON_YEAR) return refuse_item(r, start, "H cannot choose a year");
  item->kind = ITEM_HASH;
  item->b = -1;
  if (take(r, '(')) {
    int a = 0, b = 0;
    if (!take_value(r, r->info->low, r->info->high, &a)) return FALSE;
    if (!take(r, '-')) return refuse_item(r, start, "H takes bounds as H(a-b)");
    if (!take_value(r, r->info->low, r->info->high, &b)) return FALSE;
    if (!take(r, ')')) return refuse_item(r, start, "H takes bounds as H(a-b)");
    if (a > b) return refuse_item(r, start, "the bounds of H must ascend");
    item->a = (gint16)a;
    item->b = (gint16)b;
  }
  return take_step(r, &item->step);
}

static gboolean take_last(Reader *r, CronItem *item) {
  const char *start = r->p - 1;
  if (r->field == CRON_DOW) return refuse_item(r, start, "L needs the weekday before it, such as 5L");
  if (r->field != CRON_DOM) return refuse_item(r, start, "L is for days");
  item->kind = ITEM_LAST;
  if (take(r, 'W'))
    item->kind = ITEM_LAST_WEEKDAY;
  else if (take(r, '-')) {
    gint64 n;
    if (!take_digits(r, 100, &n) || n < 1 || n > 30) return refuse_item(r, start, "L-n counts 1 to 30 days back from the last");
    item->a = (gint16)n;
  }
  return TRUE;
}

static gboolean take_range(Reader *r, CronItem *item) {
  const char *start = r->p;
  int b = 0;
  if (!take_value(r, r->info->low, r->info->high, &b)) return FALSE;
  if (r->field == CRON_DOW && item->a == 7 && b != 7) item->a = 0;
  if (r->field == CRON_YEAR && b < item->a) return refuse_item(r, start, "a range of years must ascend");
  if (r->field == CRON_DOM && peek(r) == 'W') return refuse_item(r, start, "W goes with a single day");
  item->kind = ITEM_RANGE;
  item->b = (gint16)b;
  if (!take_step(r, &item->step)) return FALSE;
  if (item->step == 1) item->step = 0;
  return TRUE;
}

static gboolean take_nth(Reader *r, CronItem *item) {
  const char *start = r->p;
  gint64 n;
  if (!take_digits(r, 100, &n) || n < 1 || n > 5) return refuse_item(r, start, "the number after # is 1 to 5");
  item->kind = ITEM_NTH;
  item->b = (gint16)n;
  return TRUE;
}

static gboolean take_number_item(Reader *r, CronItem *item) {
  int a = 0;
  if (!take_value(r, r->info->low, r->info->high, &a)) return FALSE;
  item->kind = ITEM_VALUE;
  item->a = (gint16)a;
  gboolean is_day = r->field == CRON_DOM, is_weekday = r->field == CRON_DOW;
  if (take(r, '-')) return take_range(r, item);
  if (is_weekday && take(r, '#')) {
    item->a %= 7;
    return take_nth(r, item);
  }
  if (is_weekday && take(r, 'L')) {
    item->kind = ITEM_LAST_DOW;
    item->a %= 7;
  } else if (is_day && take(r, 'W')) {
    item->kind = ITEM_NEAREST;
  } else if (peek(r) == '/') {
    item->kind = ITEM_FROM;
    return take_step(r, &item->step);
  } else if (is_weekday) {
    item->a %= 7;
  }
  return TRUE;
}

static gboolean take_item(Reader *r, CronItem *item) {
  const char *start = r->p;
  gboolean ok = TRUE;
  if (at_end(r)) return refuse_item(r, start, "an item of the list is empty");
  if (take(r, '*')) {
    ok = take_step(r, &item->step);
    if (item->step == 1) item->step = 0;
  } else if (take(r, '?')) {
    if (r->field != CRON_DOM && r->field != CRON_DOW) return refuse_item(r, start, "? is for day-of-month and day-of-week");
  } else if (take(r, 'H'))
    ok = take_hash(r, item);
  else if (peek(r) == 'L') {
    r->p++;
    ok = take_last(r, item);
  } else
    ok = take_number_item(r, item);
  if (ok && !at_end(r)) ok = refuse_item(r, r->p, "this does not belong there");
  return ok;
}

static void set_bit(PawlCron *cron, CronField field, int value) {
  switch (field) {
  case CRON_SECOND: cron->seconds |= G_GUINT64_CONSTANT(1) << value; break;
  case CRON_MINUTE: cron->minutes |= G_GUINT64_CONSTANT(1) << value; break;
  case CRON_HOUR: cron->hours |= 1u << value; break;
  case CRON_DOM: cron->days |= 1u << value; break;
  case CRON_MONTH: cron->months |= (guint16)(1u << value); break;
  case CRON_DOW: cron->weekdays |= (guint8)(1u << value % 7); break;
  default: cron->years[(value - 1970) / 64] |= G_GUINT64_CONSTANT(1) << (value - 1970) % 64; break;
  }
}

/* Sets low, low + step, … up to high; past the field's last value it goes on at its first. */
static void set_range(PawlCron *cron, CronField field, int low, int high, gint32 step) {
  const CronFieldInfo *info = &pawl_cron_fields[field];
  int count = high >= low ? high - low : high + info->span - low;
  for (gint64 i = 0; i <= count; i += MAX(step, 1)) {
    int value = low + (int)i;
    set_bit(cron, field, field != CRON_DOW && value > info->high ? value - info->span : value);
  }
}

void pawl_cron_hash_bounds(const CronItem *item, int *ret_low, int *ret_high) {
  const CronFieldInfo *info = &pawl_cron_fields[item->field];
  *ret_low = item->b < 0 ? info->low : item->a;
  *ret_high = item->b < 0 ? info->hash_high : item->b;
}

void pawl_cron_step_bounds(const CronItem *item, int *ret_low, int *ret_high) {
  const CronFieldInfo *info = &pawl_cron_fields[item->field];
  int low = info->low, high = info->high;
  if (item->kind == ITEM_HASH)
    pawl_cron_hash_bounds(item, &low, &high);
  else if (item->kind == ITEM_FROM)
    low = item->a;
  else if (item->kind == ITEM_RANGE)
    low = item->a, high = item->b < item->a ? item->b + info->span : item->b;
  else if (item->field == CRON_DOW)
    high = 6;
  *ret_low = low;
  *ret_high = high;
}

/* The field's own four bytes of the hash, as a big-endian number, modulo the choices there are. */
static void set_hash(PawlCron *cron, CronItem *item, const guint8 *hash) {
  const guint8 *h = hash + 4 * item->field;
  guint32 number = (guint32)h[0] << 24 | (guint32)h[1] << 16 | (guint32)h[2] << 8 | h[3];
  int low, high;
  pawl_cron_hash_bounds(item, &low, &high);
  guint32 choices = (guint32)(high - low + 1);
  if (item->step > 0) choices = MIN(choices, (guint32)item->step);
  item->at = (gint16)(low + (int)(number % choices));
  set_range(cron, (CronField)item->field, item->at, item->step > 0 ? high : item->at, item->step);
}

static void set_item(PawlCron *cron, CronItem *item, const guint8 *hash) {
  CronField field = (CronField)item->field;
  const CronFieldInfo *info = &pawl_cron_fields[field];
  switch ((CronItemKind)item->kind) {
  case ITEM_STAR: set_range(cron, field, info->low, info->high, item->step); break;
  case ITEM_VALUE: set_bit(cron, field, item->a); break;
  case ITEM_RANGE: set_range(cron, field, item->a, item->b, item->step); break;
  case ITEM_FROM: set_range(cron, field, item->a, info->high, item->step); break;
  case ITEM_HASH: set_hash(cron, item, hash); break;
  case ITEM_LAST: cron->days_from_last |= 1u << item->a; break;
  case ITEM_LAST_WEEKDAY: cron->last_workday = TRUE; break;
  case ITEM_NEAREST: cron->nearest |= 1u << item->a; break;
  case ITEM_LAST_DOW: cron->last_weekdays |= (guint8)(1u << item->a); break;
  case ITEM_NTH: cron->nth_weekdays[item->b - 1] |= (guint8)(1u << item->a); break;
  }
  if (field == CRON_HOUR || field == CRON_MINUTE)
    cron->interval |= item->kind == ITEM_STAR || item->kind == ITEM_RANGE || item->kind == ITEM_FROM || item->step > 0;
}

gboolean pawl_cron_parse_field(
  const CronSource *source, PawlCron *cron, CronField field, const char *text, const char *end, const guint8 *hash, GArray *items) {
  if (field == CRON_DOM) cron->day_star = *text == '*' || *text == '?';
  if (field == CRON_DOW) cron->weekday_star = *text == '*' || *text == '?';
  if (field == CRON_YEAR) cron->years = g_new0(guint64, (PAWL_DATE_LAST_YEAR - 1970) / 64 + 1);
  for (const char *start = text;;) {
    const char *comma = memchr(start, ',', (gsize)(end - start));
    Reader reader = {source, field, &pawl_cron_fields[field], start, comma ? comma : end};
    CronItem item = {.field = (guint8)field};
    if (!take_item(&reader, &item)) return FALSE;
    set_item(cron, &item, hash);
    g_array_append_val(items, item);
    if (comma == NULL) return TRUE;
    start = comma + 1;
  }
}
