/* SPDX-License-Identifier: Apache-2.0 */
/* A door on the loopback trusts whoever can reach it, and a browser can be made to: by a name that its owner points to 127.0.0.1 (DNS
 * rebinding), or by a form of another site. The first is seen by its Host, the second by its Origin. */
#include "http/door_private.h"

#include <string.h>

static gboolean is_loopback(const char *host) {
  PawlAddress address;
  g_autofree char *text = g_strconcat(host, ":0", NULL);
  return pawl_address_parse(text, &address, NULL) && address.loopback;
}

/* The host of "https://host:port". "null" and other schemes have none. Caller frees. */
static char *host_of_origin(const char *origin) {
  const char *host = strstr(origin, "://");
  if (host == NULL || (!g_str_has_prefix(origin, "http://") && !g_str_has_prefix(origin, "https://"))) return NULL;
  host += 3;
  const char *end = *host == '[' ? strchr(host, ']') : NULL;
  return g_ascii_strdown(host, end != NULL ? end + 1 - host : (gssize)strcspn(host, ":/"));
}

gboolean pawl_http_guard(const PawlDoor *door, const PawlHttpRequest *request, const char **ret_why) {
  const char *origin = pawl_http_header(request, "Origin"), *site = pawl_http_header(request, "Sec-Fetch-Site");
  if (door->options.address.loopback && request->host != NULL && !is_loopback(request->host)) {
    *ret_why = "this door listens on the loopback, and the Host header names another place";
    return FALSE;
  }
  if (origin != NULL) {
    g_autofree char *host = host_of_origin(origin);
    if (host == NULL || request->host == NULL ||
        !(g_str_equal(host, request->host) || (door->options.address.loopback && is_loopback(host)))) {
      *ret_why = "a page of another site asked for this";
      return FALSE;
    }
  }
  if (site != NULL && g_str_equal(site, "cross-site")) {
    *ret_why = "a page of another site asked for this";
    return FALSE;
  }
  return TRUE;
}
