/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

const PawlId PAWL_ID_NONE = {{0}};

static void put_time(PawlId *id, gint64 at_ms) {
  for (int i = 0; i < 6; i++) id->b[i] = (guint8)((guint64)at_ms >> (40 - 8 * i));
}

static void fill_random(void *buf, gsize bytes) {
  gsize got = 0;
  while (got < bytes) {
    gssize n = getrandom((guint8 *)buf + got, bytes - got, 0);
    if (n > 0) got += (gsize)n;
  }
}

static void put_version(PawlId *id, guint8 version) {
  id->b[6] = (guint8)((id->b[6] & 0x0f) | (version << 4));
  id->b[8] = (guint8)((id->b[8] & 0x3f) | 0x80);
}

/* Within one millisecond the 12 bits behind the version count up (RFC 9562, method 1); when they are used up, or the
 * clock went back, the last millisecond is used on, so ids of a process never fall. */
PawlId pawl_id_new(gint64 now_ms) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static gint64 last_ms;
  static guint counter;
  PawlId id;
  fill_random(&id, sizeof id);
  pthread_mutex_lock(&lock);
  if (now_ms > last_ms) {
    last_ms = now_ms;
    counter = ((guint)id.b[6] << 8 | id.b[7]) & 0x3ff; /* start low, so that there is room */
  } else if (++counter > 0xfff) {
    last_ms++;
    counter = 0;
  }
  put_time(&id, last_ms);
  id.b[6] = (guint8)(counter >> 8);
  id.b[7] = (guint8)counter;
  pthread_mutex_unlock(&lock);
  put_version(&id, 7);
  return id;
}

PawlId pawl_id_random(void) {
  PawlId id;
  fill_random(&id, sizeof id);
  put_version(&id, 4);
  return id;
}

/* 28 bits that say when the parent was made follow the time, so that what falls due at one instant is written where its neighbours are: with
 * a hash alone every row of a batch dirties pages of its own (docs/adr/0007-derived-ids.md). 46 bits of a hash over both follow. */
PawlId pawl_id_derive(const PawlId *parent, gint64 at_ms) {
  guint8 digest[32];
  gsize len = sizeof digest;
  gint64 be = GINT64_TO_BE(at_ms);
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(sum, parent->b, PAWL_ID_BYTES);
  g_checksum_update(sum, (const guchar *)&be, sizeof be);
  g_checksum_get_digest(sum, digest, &len);
  PawlId id;
  memcpy(id.b, digest, PAWL_ID_BYTES);
  put_time(&id, at_ms);
  guint made = (guint)(parent->b[4] << 20 | parent->b[5] << 12 | (parent->b[6] & 0x0f) << 8 | parent->b[7]);
  id.b[6] = (guint8)(made >> 24);
  id.b[7] = (guint8)(made >> 16);
  id.b[8] = (guint8)(made >> 10 & 0x3f);
  id.b[9] = (guint8)(made >> 2);
  id.b[10] = (guint8)((made & 3) << 6 | (digest[10] & 0x3f));
  put_version(&id, 8);
  return id;
}

gboolean pawl_id_equal(const PawlId *a, const PawlId *b) { return memcmp(a, b, sizeof *a) == 0; }
int pawl_id_compare(const PawlId *a, const PawlId *b) { return memcmp(a, b, sizeof *a); }
gboolean pawl_id_is_none(const PawlId *id) { return pawl_id_equal(id, &PAWL_ID_NONE); }
gboolean pawl_id_equal_p(gconstpointer a, gconstpointer b) { return pawl_id_equal(a, b); }

guint pawl_id_hash(gconstpointer id) {
  guint h;
  memcpy(&h, ((const PawlId *)id)->b + 12, sizeof h);
  return h;
}

char *pawl_id_text(const PawlId *id, char text[PAWL_ID_TEXT]) {
  static const char hex[] = "0123456789abcdef";
  char *p = text;
  for (int i = 0; i < PAWL_ID_BYTES; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *p++ = '-';
    *p++ = hex[id->b[i] >> 4];
    *p++ = hex[id->b[i] & 15];
  }
  *p = '\0';
  return text;
}

const char *pawl_id_short(const PawlId *id, char text[PAWL_ID_TEXT]) { return pawl_id_text(id, text) + PAWL_ID_TEXT - 1 - PAWL_ID_SHORT; }

gboolean pawl_id_parse(const char *text, PawlId *ret_id) {
  if (!g_uuid_string_is_valid(text)) return FALSE;
  PawlId id;
  const char *p = text;
  for (int i = 0; i < PAWL_ID_BYTES; i++) {
    if (*p == '-') p++;
    id.b[i] = (guint8)(g_ascii_xdigit_value(p[0]) << 4 | g_ascii_xdigit_value(p[1]));
    p += 2;
  }
  *ret_id = id;
  return TRUE;
}

gint64 pawl_id_time_ms(const PawlId *id) {
  gint64 ms = 0;
  for (int i = 0; i < 6; i++) ms = ms << 8 | id->b[i];
  return ms;
}
