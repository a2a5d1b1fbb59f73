/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdatomic.h>

/* As G_DEFINE_QUARK makes it, but two threads may come first at once. Each module has a copy; the text makes them one domain. */
GQuark pawl_error_quark(void) {
  static atomic_uint known;
  guint quark = atomic_load_explicit(&known, memory_order_relaxed);
  if (quark != 0) return quark;
  quark = g_quark_from_static_string("pawl-error-quark");
  atomic_store_explicit(&known, quark, memory_order_relaxed);
  return quark;
}

static const PawlErrorInfo error_table[] = {
  {PAWL_ERROR_INVALID, "invalid", FALSE, 400, PAWL_EXIT_USAGE},
  {PAWL_ERROR_CONFIG, "config", FALSE, 500, PAWL_EXIT_CONFIG},
  {PAWL_ERROR_CONFLICT, "conflict", FALSE, 409, PAWL_EXIT_FAILED},
  {PAWL_ERROR_RACED, "raced", TRUE, 409, PAWL_EXIT_TRY_AGAIN},
  {PAWL_ERROR_FENCED, "fenced", FALSE, 409, PAWL_EXIT_FAILED},
  {PAWL_ERROR_NOT_FOUND, "not_found", FALSE, 404, PAWL_EXIT_FAILED},
  {PAWL_ERROR_DENIED, "denied", FALSE, 403, PAWL_EXIT_DENIED},
  {PAWL_ERROR_BUSY, "busy", TRUE, 503, PAWL_EXIT_TRY_AGAIN},
  {PAWL_ERROR_UNAVAILABLE, "unavailable", TRUE, 503, PAWL_EXIT_UNAVAILABLE},
  {PAWL_ERROR_AMBIGUOUS, "ambiguous", TRUE, 503, PAWL_EXIT_TRY_AGAIN},
  {PAWL_ERROR_INTERNAL, "internal", FALSE, 500, PAWL_EXIT_FAILED},
};

const PawlErrorInfo *pawl_error_info(int code) {
  for (gsize i = 0; i < G_N_ELEMENTS(error_table); i++)
    if ((int)error_table[i].code == code) return &error_table[i];
  return &error_table[G_N_ELEMENTS(error_table) - 1];
}

const PawlErrorInfo *pawl_error_info_of(const GError *error) {
  return pawl_error_info(error->domain == PAWL_ERROR ? error->code : PAWL_ERROR_INTERNAL);
}
