/* SPDX-License-Identifier: Apache-2.0 */
/* Where pawl-runner is: beside this program, else in ../libexec/pawl of it, where it may be missing. Caller frees. */
#pragma once
#include <glib.h>

char *pawl_runner_path(void);
