/* SPDX-License-Identifier: Apache-2.0 */
/* Where pawl-runner is: $PAWL_RUNNER, else beside this program, else ../libexec/pawl of it. Caller frees; the last of them when none can be executed. */
#pragma once
#include <glib.h>

char *pawl_runner_path(char **environment);
