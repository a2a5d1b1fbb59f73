/* SPDX-License-Identifier: Apache-2.0 */
#include "base/address.h"

#include "base/error.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static gboolean refuse(const char *text, const char *why, GError **error) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "'%.80s': %s; write ADDR:PORT, as 127.0.0.1:7295 or [::1]:7295", text, why);
  return FALSE;
}

static gboolean fill(const char *host, gboolean v6, in_port_t port, PawlAddress *address) {
  struct sockaddr_in *four = (struct sockaddr_in *)&address->socket;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address->socket;
  if (v6) {
    *six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
    address->bytes = sizeof *six;
    if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1) return FALSE;
    address->loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    return TRUE;
  }
  *four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
  address->bytes = sizeof *four;
  if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &four->sin_addr) != 1) return FALSE;
  address->loopback = ntohl(four->sin_addr.s_addr) >> 24 == 127;
  return TRUE;
}

gboolean pawl_address_parse(const char *text, PawlAddress *ret_address, GError **error) {
  const char *colon = strrchr(text, ':');
  PawlAddress address = {0};
  guint64 port;
  if (colon == NULL) return refuse(text, "it has no port", error);
  if (!g_ascii_string_to_unsigned(colon + 1, 10, 0, 65535, &port, NULL)) return refuse(text, "the port is no number up to 65535", error);
  gsize n = (gsize)(colon - text);
  gboolean v6 = n >= 2 && text[0] == '[' && text[n - 1] == ']';
  g_autofree char *host = v6 ? g_strndup(text + 1, n - 2) : g_strndup(text, n);
  if (*host == '\0') return refuse(text, "it has no address (0.0.0.0 and [::] stand for all)", error);
  if (!fill(host, v6, (in_port_t)port, &address)) {
    const char *why = !v6 && strchr(host, ':') != NULL ? "an IPv6 address stands in brackets" : "the address is not a numeric one";
    return refuse(text, why, error);
  }
  *ret_address = address;
  return TRUE;
}

char *pawl_address_text(const struct sockaddr *socket, char text[PAWL_ADDRESS_TEXT]) {
  char host[INET6_ADDRSTRLEN] = "";
  if (socket->sa_family == AF_INET6) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)socket;
    inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
    g_snprintf(text, PAWL_ADDRESS_TEXT, "[%s]:%u", host, ntohs(six->sin6_port));
  } else {
    const struct sockaddr_in *four = (const struct sockaddr_in *)socket;
    inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
    g_snprintf(text, PAWL_ADDRESS_TEXT, "%s:%u", host, ntohs(four->sin_port));
  }
  return text;
}
