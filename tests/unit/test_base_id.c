/* SPDX-License-Identifier: Apache-2.0 */
/* Ids: what is derived is the same everywhere, is unique, sorts by time, and lies in the order of its parents. */
#include "base/id.h"

#include <string.h>

#define PARENTS 20000
#define AT_MS G_GINT64_CONSTANT(1774750200000)

static void test_derive_is_fixed(void) {
  char text[PAWL_ID_TEXT];
  PawlId parent;
  g_assert_true(pawl_id_parse("0198c5b1-2c3d-7abc-8def-0123456789ab", &parent));
  PawlId id = pawl_id_derive(&parent, AT_MS), again = pawl_id_derive(&parent, AT_MS);
  g_assert_true(pawl_id_equal(&id, &again));
  g_assert_cmpint(pawl_id_time_ms(&id), ==, AT_MS);
  /* a stored run answers to this id for ever: time, then 2c3d and abc of the parent, then the hash */
  pawl_id_text(&id, text);
  g_assert_cmpstr(text, ==, "019d375a-f0c0-82c3-b6af-13872495f011");
  PawlId later = pawl_id_derive(&parent, AT_MS + 1);
  g_assert_cmpint(pawl_id_compare(&id, &later), <, 0);
  g_assert_cmpint(memcmp(id.b + 11, later.b + 11, 5), !=, 0);
}

static void test_derive_keeps_the_order_of_parents(void) {
  g_autoptr(GHashTable) seen = g_hash_table_new(pawl_id_hash, pawl_id_equal_p);
  g_autofree PawlId *ids = g_new(PawlId, PARENTS);
  guint falls = 0;
  for (guint i = 0; i < PARENTS; i++) {
    PawlId parent = pawl_id_new(AT_MS); /* counts on within and beyond the millisecond */
    ids[i] = pawl_id_derive(&parent, AT_MS);
    g_assert_true(g_hash_table_add(seen, &ids[i]));
    if (i > 0 && pawl_id_compare(&ids[i - 1], &ids[i]) > 0) falls++;
  }
  g_assert_cmpuint(falls, <=, 1); /* once, if the low 16 bits of the milliseconds wrap */
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/id/derive-is-fixed", test_derive_is_fixed);
  g_test_add_func("/base/id/derive-keeps-the-order-of-parents", test_derive_keeps_the_order_of_parents);
  return g_test_run();
}
