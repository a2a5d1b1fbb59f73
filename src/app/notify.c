/* SPDX-License-Identifier: Apache-2.0 */
#include "app/notify.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void pawl_notify(const char *state) {
  const char *path = getenv("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path) return;
  memcpy(address.sun_path, path, strlen(path));
  if (path[0] == '@') address.sun_path[0] = '\0';
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
  gssize ignored = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, bytes);
  (void)ignored;
  close(fd);
}

gint64 pawl_watchdog_period_ms(void) {
  const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
  if (usec == NULL || (pid != NULL && g_ascii_strtoll(pid, NULL, 10) != getpid())) return 0;
  return CLAMP(g_ascii_strtoll(usec, NULL, 10) / 2000, 0, 60000);
}
