/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to civil. A parsed cron expression.
 *
 * The items keep what was written, in normal form: text, explanation and warnings come from them. The masks keep what it means: the walk
 * uses nothing else. cron.c reads the frame (prefix, nicknames, fields), cron_field.c one field. */
#pragma once
#include "civil/civil.h"
#include "civil/date.h"
#include "civil/zone_private.h"

#include <stdatomic.h>

typedef enum { CRON_SECOND, CRON_MINUTE, CRON_HOUR, CRON_DOM, CRON_MONTH, CRON_DOW, CRON_YEAR, CRON_N_FIELDS } CronField;

typedef struct {
  const char *name; /* in messages */
  int low, high;    /* values allowed; weekday: 7 is Sunday too */
  int span;         /* distinct values: a descending range wraps by it */
  int hash_high;    /* H without bounds spreads over low..hash_high */
} CronFieldInfo;
extern const CronFieldInfo pawl_cron_fields[CRON_N_FIELDS];

typedef enum {
  ITEM_STAR,         /* * or ?, with step */
  ITEM_VALUE,        /* a */
  ITEM_RANGE,        /* a-b, with step; a > b wraps */
  ITEM_FROM,         /* a/step */
  ITEM_HASH,         /* H, H/step; H(a-b), H(a-b)/step where b >= 0 */
  ITEM_LAST,         /* L, or L-a */
  ITEM_LAST_WEEKDAY, /* LW */
  ITEM_NEAREST,      /* aW */
  ITEM_LAST_DOW,     /* aL */
  ITEM_NTH,          /* a#b */
} CronItemKind;

typedef struct {
  guint8 kind, field;
  gint16 a, b;
  gint16 at;   /* ITEM_HASH: the value it was spread to, or the first of its steps */
  gint32 step; /* 0: none */
} CronItem;

typedef enum { CRON_CALENDAR, CRON_EVERY, CRON_REBOOT } CronKind;

struct PawlCron {
  atomic_int refs;
  CronKind kind;
  PawlCronFields fields;
  PawlZone *zone;
  const char *nickname; /* a constant, "@daily"; NULL: fields were written */
  gboolean has_prefix;  /* the zone came with the expression */
  gint64 every_s;       /* CRON_EVERY */

  guint64 seconds, minutes; /* bit v: value v */
  guint32 hours;
  guint32 days;                    /* bits 1..31 */
  guint32 days_from_last;          /* bit n: L-n; bit 0: L */
  guint32 nearest;                 /* bit n: nW */
  guint16 months;                  /* bits 1..12 */
  guint8 weekdays;                 /* bits 0..6 */
  guint8 last_weekdays;            /* bit d: dL */
  guint8 nth_weekdays[5];          /* [n-1] bit d: d#n */
  gboolean last_workday;           /* LW */
  gboolean day_star, weekday_star; /* the field starts with * or ? */
  gboolean interval;               /* follows real time; else fixed times, made up in a gap and played once in an overlap */
  guint64 *years;                  /* bit y-1970; NULL: every year */
  guint16 year_kinds;              /* bit leap*7 + weekday of 1 January: that kind of year has a matching day */

  guint n_items;
  CronItem *items; /* in the order of the fields */
};

/* Where the parser stands, for messages. */
typedef struct {
  const char *text; /* the whole expression */
  GError **error;
} CronSource;
/* Always FALSE. Sets "column N: …" for the character at `at`. */
gboolean pawl_cron_refuse(const CronSource *source, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Reads [text, end) as `field`, appends its items and sets its masks. `hash`: 32 bytes, what H is spread by. */
gboolean pawl_cron_parse_field(
  const CronSource *source, PawlCron *cron, CronField field, const char *text, const char *end, const guint8 *hash, GArray *items);

/* The matching days of a month as bits 1..31. */
guint32 pawl_cron_month_days(const PawlCron *cron, int year, int month);
guint16 pawl_cron_year_kinds(const PawlCron *cron);
/* The first local second >= local_s that the fields allow, by a calendar without offsets. CRON_CALENDAR only. */
gboolean pawl_cron_next_local(const PawlCron *cron, gint64 local_s, gint64 *ret_local_s);
/* Whether some local second in [from_s, to_s) is allowed. */
gboolean pawl_cron_has_local(const PawlCron *cron, gint64 from_s, gint64 to_s);
#define CRON_GAP_MAX_S (3 * 3600) /* a longer gap is a change of the date line and is not made up */

/* The bounds of its values for H: from the item, else from the field. */
void pawl_cron_hash_bounds(const CronItem *item, int *ret_low, int *ret_high);
/* The range of values that the item's step runs over; `high` past the field's end where it wraps. */
void pawl_cron_step_bounds(const CronItem *item, int *ret_low, int *ret_high);
void pawl_cron_add_item_text(const CronItem *item, GString *out);
