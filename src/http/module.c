/* SPDX-License-Identifier: Apache-2.0 */
/* What the module offers to who opens it. */
#include "base/module.h"
#include "http/door_private.h"

extern const PawlModule pawl_module;
const PawlModule pawl_module = {.version = PAWL_VERSION, .table = &pawl_http};
