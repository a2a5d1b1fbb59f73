/* SPDX-License-Identifier: Apache-2.0 */
/* Where a door listens: a numeric address and a port, as "127.0.0.1:7295" or "[::1]:7295". */
#pragma once
#include <glib.h>
#include <sys/socket.h>

typedef struct {
  struct sockaddr_storage socket;
  socklen_t bytes;
  gboolean loopback;
} PawlAddress;

#define PAWL_ADDRESS_TEXT 64
/* "localhost" stands for 127.0.0.1, port 0 for any that is free. Other names are refused: what they stand for can change. INVALID. */
gboolean pawl_address_parse(const char *text, PawlAddress *ret_address, GError **error);
/* Writes the same form. Returns `text`. */
char *pawl_address_text(const struct sockaddr *socket, char text[PAWL_ADDRESS_TEXT]);
