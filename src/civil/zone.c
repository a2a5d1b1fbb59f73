/* SPDX-License-Identifier: Apache-2.0 */
/* Zones: names, the table of those in use, and look-ups.
 *
 * Zones in use are shared through one table under a lock, so that a thousand triggers in one zone hold one; the table keeps no
 * zone alive, and a zone file that changed is read anew once nobody holds the zone. */
#include "base/clock.h"
#include "base/error.h"
#include "civil/date.h"
#include "civil/zone_private.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define ZONE_FILES "/usr/share/zoneinfo"
#define ZONE_NAME_MAX 64
#define ZONE_FILE_MAX_BYTES (256 * 1024)

struct PawlZone {
  atomic_int refs; /* falls to 0 only under zones_lock */
  char *name;
  PawlTzData data;
};

static pthread_mutex_t zones_lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *zones; /* name -> PawlZone, weak */

static gboolean name_is_plain(const char *name) {
  gsize length = strlen(name);
  if (length == 0 || length > ZONE_NAME_MAX || !g_ascii_isalpha(name[0]) || name[length - 1] == '/') return FALSE;
  if (name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/")] != '\0') return FALSE;
  /* Files beside the zones: the host's own, old defaults, and the two trees of variants (one of which counts leap seconds). */
  return strcmp(name, "localtime") != 0 && strcmp(name, "posixrules") != 0 && !g_str_has_prefix(name, "posix/") &&
         !g_str_has_prefix(name, "right/") && strstr(name, "//") == NULL;
}

static int edit_distance(const char *a, const char *b) {
  int row[ZONE_NAME_MAX + 1], n_b = (int)strlen(b);
  for (int j = 0; j <= n_b; j++) row[j] = j;
  for (int i = 0; a[i] != '\0'; i++) {
    int diagonal = row[0];
    row[0] = i + 1;
    for (int j = 0; j < n_b; j++) {
      int change = diagonal + (g_ascii_tolower(a[i]) != g_ascii_tolower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = MIN(change, MIN(row[j], row[j + 1]) + 1);
    }
  }
  return row[n_b];
}

typedef struct {
  const char *wanted;
  int distance;
  char name[ZONE_NAME_MAX + 1];
} Nearest;

static void weigh_name(const char *name, Nearest *nearest) {
  if (!name_is_plain(name) || strchr(name, '.') != NULL) return;
  int distance = edit_distance(nearest->wanted, name);
  const char *city = strrchr(name, '/');
  if (city != NULL && strchr(nearest->wanted, '/') == NULL) distance = MIN(distance, edit_distance(nearest->wanted, city + 1) + 1);
  if (distance > nearest->distance || (distance == nearest->distance && strcmp(name, nearest->name) >= 0)) return;
  nearest->distance = distance;
  g_strlcpy(nearest->name, name, sizeof nearest->name);
}

static void weigh_folder(const char *inside, int depth, Nearest *nearest) {
  g_autofree char *path = g_build_filename(ZONE_FILES, inside, NULL);
  DIR *folder = opendir(path);
  if (folder == NULL) return;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (!g_ascii_isupper(entry->d_name[0])) continue;
    g_autofree char *name = *inside ? g_strconcat(inside, "/", entry->d_name, NULL) : g_strdup(entry->d_name);
    if (entry->d_type == DT_DIR && depth < 3)
      weigh_folder(name, depth + 1, nearest);
    else if (entry->d_type != DT_DIR)
      weigh_name(name, nearest);
  }
  closedir(folder);
}

static void refuse(const char *name, const char *why, GError **error) {
  gsize length = strlen(name);
  Nearest nearest = {.wanted = name, .distance = 1 + (int)MIN(length, 12) / 4};
  if (error == NULL) return;
  if (length > 0 && length <= ZONE_NAME_MAX) weigh_folder("", 0, &nearest);
  g_autofree char *shown = g_utf8_make_valid(name, (gssize)MIN(length, ZONE_NAME_MAX));
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "'%s' is no time zone: %s; %s%s%s", shown, why,
    nearest.name[0] ? "is '" : "an IANA name such as Europe/Berlin or UTC is meant", nearest.name, nearest.name[0] ? "' meant?" : "");
}

static PawlZone *load(const char *name, GError **error) {
  g_autofree char *path = g_build_filename(ZONE_FILES, name, NULL), *bytes = NULL;
  gsize n_bytes = 0;
  const char *why;
  PawlTzData data = {0};
  gboolean is_utc = strcmp(name, "UTC") == 0;
  if (!is_utc) {
    if (!name_is_plain(name)) {
      refuse(name, *name ? "it is no IANA name" : "it is empty", error);
      return NULL;
    }
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR) || !g_file_get_contents(path, &bytes, &n_bytes, NULL)) {
      refuse(name, "no such zone is known here", error);
      return NULL;
    }
    if (n_bytes > ZONE_FILE_MAX_BYTES || !pawl_tzif_parse((const guint8 *)bytes, n_bytes, &data, &why)) {
      refuse(name, n_bytes > ZONE_FILE_MAX_BYTES ? "its file is too large" : why, error);
      return NULL;
    }
  }
  PawlZone *zone = g_new0(PawlZone, 1);
  atomic_init(&zone->refs, 1);
  zone->name = g_strdup(name);
  zone->data = data;
  return zone;
}

PawlZone *pawl_zone_new(const char *name, GError **error) {
  g_return_val_if_fail(name != NULL, NULL);
  if (strcmp(name, "Z") == 0) name = "UTC";
  pthread_mutex_lock(&zones_lock);
  if (zones == NULL) zones = g_hash_table_new(g_str_hash, g_str_equal);
  PawlZone *zone = g_hash_table_lookup(zones, name);
  if (zone != NULL) atomic_fetch_add(&zone->refs, 1);
  pthread_mutex_unlock(&zones_lock);
  if (zone != NULL) return zone;
  PawlZone *loaded = load(name, error);
  if (loaded == NULL) return NULL;
  pthread_mutex_lock(&zones_lock);
  zone = g_hash_table_lookup(zones, name); /* another thread may have been faster */
  if (zone != NULL)
    atomic_fetch_add(&zone->refs, 1);
  else
    g_hash_table_insert(zones, loaded->name, zone = loaded);
  pthread_mutex_unlock(&zones_lock);
  if (zone != loaded) {
    pawl_tz_data_clear(&loaded->data);
    g_free(loaded->name);
    g_free(loaded);
  }
  return zone;
}

PawlZone *pawl_zone_ref(PawlZone *zone) {
  atomic_fetch_add(&zone->refs, 1);
  return zone;
}

void pawl_zone_unref(PawlZone *zone) {
  if (zone == NULL) return;
  int refs = atomic_load(&zone->refs);
  while (refs > 1)
    if (atomic_compare_exchange_weak(&zone->refs, &refs, refs - 1)) return;
  pthread_mutex_lock(&zones_lock);
  gboolean last = atomic_fetch_sub(&zone->refs, 1) == 1;
  if (last) g_hash_table_remove(zones, zone->name);
  pthread_mutex_unlock(&zones_lock);
  if (!last) return;
  pawl_tz_data_clear(&zone->data);
  g_free(zone->name);
  g_free(zone);
}

const char *pawl_zone_name(const PawlZone *zone) { return zone->name; }

/* The last change of the rule at or before at_s, and the first after it, as [from, to). */
static void rule_span(const PawlTzRule *rule, gint64 at_s, PawlZoneSpan *ret) {
  int year, month, day;
  pawl_date_of(pawl_floor_div(at_s, PAWL_DAY_S), &year, &month, &day);
  PawlZoneSpan span = {.from_s = G_MININT64, .to_s = G_MAXINT64, .offset_s = rule->std_s, .before_s = rule->std_s};
  for (int y = year - 1; y <= year + 1; y++)
    for (int start = 0; start <= 1; start++) {
      gint64 change = pawl_tz_rule_change(rule, start, y);
      if (change > at_s)
        span.to_s = MIN(span.to_s, change);
      else if (change >= span.from_s) { /* of two at one instant the start counts: daylight time all year */
        span.from_s = change;
        span.offset_s = start ? rule->dst_s : rule->std_s;
        span.before_s = start ? rule->std_s : rule->dst_s;
      }
    }
  *ret = span;
}

void pawl_zone_span(const PawlZone *zone, gint64 at_s, PawlZoneSpan *ret_span) {
  const PawlTzData *data = &zone->data;
  gboolean has_rule = data->has_rule && data->rule.has_dst;
  guint low = 0, high = data->n; /* low: how many changes lie at or before at_s */
  while (low < high) {
    guint middle = (low + high) / 2;
    if (data->at_s[middle] <= at_s)
      low = middle + 1;
    else
      high = middle;
  }
  PawlZoneSpan span = {.from_s = low > 0 ? data->at_s[low - 1] : G_MININT64,
    .to_s = low < data->n ? data->at_s[low] : G_MAXINT64,
    .offset_s = low > 0 ? data->offset_s[low - 1] : data->first_offset_s,
    .before_s = low > 1 ? data->offset_s[low - 2] : data->first_offset_s};
  if (has_rule && low == data->n) {
    PawlZoneSpan by_rule;
    rule_span(&data->rule, MAX(at_s, data->rule_from_s), &by_rule);
    if (at_s >= data->rule_from_s && by_rule.from_s > data->rule_from_s) span = by_rule;
    span.to_s = by_rule.to_s;
  }
  *ret_span = span;
}

gint64 pawl_zone_periodic_from_s(const PawlZone *zone) {
  gint64 last_s = zone->data.n > 0 ? zone->data.at_s[zone->data.n - 1] : 0;
  return zone->data.has_rule ? MAX(last_s, zone->data.rule_from_s) : last_s;
}

gint pawl_zone_offset_s(const PawlZone *zone, gint64 at_ms) {
  PawlZoneSpan span;
  pawl_zone_span(zone, pawl_floor_div(at_ms, 1000), &span);
  return span.offset_s;
}

gboolean pawl_zone_next_change(const PawlZone *zone, gint64 after_ms, gint64 *ret_at_ms) {
  PawlZoneSpan span;
  pawl_zone_span(zone, pawl_floor_div(after_ms, 1000), &span);
  if (span.to_s > PAWL_AT_MAX_MS / 1000) return FALSE;
  *ret_at_ms = span.to_s * 1000;
  return TRUE;
}
