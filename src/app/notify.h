/* SPDX-License-Identifier: Apache-2.0 */
/* systemd's readiness protocol (sd_notify(3)): datagrams to the socket that NOTIFY_SOCKET names. Without one, nothing happens. */
#pragma once
#include <glib.h>

void pawl_notify(const char *state);
/* Half of WATCHDOG_USEC in milliseconds when it is meant for this process; 0: no watchdog. */
gint64 pawl_watchdog_period_ms(void);
