/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between a test and its server, or in its place. */
#include "test_db_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

typedef struct {
  int listener;
  Cut cut;
  const char *number, *version;
} Stand;

static Stand *stand(int *ret_port) {
  Stand *made = g_new0(Stand, 1);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof at;
  made->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(bind(made->listener, (struct sockaddr *)&at, n), ==, 0);
  g_assert_cmpint(listen(made->listener, 16), ==, 0);
  g_assert_cmpint(getsockname(made->listener, (struct sockaddr *)&at, &n), ==, 0);
  *ret_port = ntohs(at.sin_port);
  return made;
}

static gboolean send_all(int fd, const void *bytes, gsize n) {
  for (gsize done = 0; done < n;) {
    gssize part = send(fd, (const char *)bytes + done, n - done, MSG_NOSIGNAL);
    if (part <= 0) return FALSE;
    done += (gsize)part;
  }
  return TRUE;
}

/* ---- the proxy ---- */

static gboolean pass(int from, int to, const Stand *proxy, gboolean to_server) {
  char bytes[65536];
  gssize n = recv(from, bytes, sizeof bytes, 0);
  if (n <= 0) return FALSE;
  gboolean commits = to_server && memmem(bytes, (gsize)n, "COMMIT", 7) != NULL;
  if (commits && proxy->cut == CUT_BEFORE_COMMIT) return FALSE;
  if (!send_all(to, bytes, (gsize)n)) return FALSE;
  if (!commits) return TRUE;
  gssize answered = recv(to, bytes, sizeof bytes, 0); /* so the server is through with it */
  (void)answered;
  return FALSE;
}

static gpointer run_proxy(gpointer data) {
  const Stand *proxy = data;
  for (;;) {
    int client = accept(proxy->listener, NULL, NULL), server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((guint16)server_port())};
    gboolean open = connect(server, (struct sockaddr *)&at, sizeof at) == 0;
    while (open) {
      struct pollfd fds[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
      if (poll(fds, 2, -1) < 0) continue;
      if (fds[0].revents != 0) open = pass(client, server, proxy, TRUE);
      if (open && fds[1].revents != 0) open = pass(server, client, proxy, FALSE);
    }
    close(client);
    close(server);
  }
  return NULL;
}

int stand_proxy(Cut cut) {
  int port;
  Stand *proxy = stand(&port);
  proxy->cut = cut;
  g_thread_unref(g_thread_new("proxy", run_proxy, proxy));
  return port;
}

/* ---- the fake ---- */

static void say(GByteArray *out, char type, const void *body, gsize n) {
  guint32 length = htonl((guint32)n + 4);
  g_byte_array_append(out, (const guint8 *)&type, 1);
  g_byte_array_append(out, (const guint8 *)&length, 4);
  g_byte_array_append(out, body, (guint)n);
}

static void say_setting(GByteArray *out, const char *name, const char *value) {
  g_autoptr(GByteArray) body = g_byte_array_new();
  g_byte_array_append(body, (const guint8 *)name, (guint)strlen(name) + 1);
  g_byte_array_append(body, (const guint8 *)value, (guint)strlen(value) + 1);
  say(out, 'S', body->data, body->len);
}

static gboolean heard(int fd, char type) {
  char bytes[8192];
  gssize n = recv(fd, bytes, sizeof bytes, 0);
  return n > 0 && (type == '\0' || memchr(bytes, type, (gsize)n) != NULL);
}

static void greet(int fd, const Stand *fake) {
  g_autoptr(GByteArray) out = g_byte_array_new();
  say(out, 'R', "\0\0\0\0", 4);
  say_setting(out, "server_version", fake->number);
  say_setting(out, "client_encoding", "UTF8");
  say_setting(out, "default_transaction_read_only", "off");
  say_setting(out, "in_hot_standby", "off");
  say(out, 'K', "\0\0\0\1\0\0\0\2", 8);
  say(out, 'Z', "I", 1);
  send_all(fd, out->data, out->len);
}

/* One row of one text, and the sync. */
static void answer(int fd, const Stand *fake) {
  static const char shape[] = "\0\1version\0\0\0\0\0\0\0\0\0\0\31\377\377\377\377\377\377\0\1";
  g_autoptr(GByteArray) out = g_byte_array_new(), row = g_byte_array_new();
  guint32 n = htonl((guint32)strlen(fake->version));
  g_byte_array_append(row, (const guint8 *)"\0\1", 2);
  g_byte_array_append(row, (const guint8 *)&n, 4);
  g_byte_array_append(row, (const guint8 *)fake->version, (guint)strlen(fake->version));
  say(out, '1', "", 0);
  say(out, '2', "", 0);
  say(out, 'T', shape, sizeof shape - 1);
  say(out, 'D', row->data, row->len);
  say(out, 'C', "SELECT 1", 9);
  say(out, 'Z', "I", 1);
  send_all(fd, out->data, out->len);
}

static gpointer run_fake(gpointer data) {
  const Stand *fake = data;
  for (;;) {
    int fd = accept(fake->listener, NULL, NULL);
    if (heard(fd, '\0') && send_all(fd, "N", 1) && heard(fd, '\0')) { /* asks for TLS first, then begins */
      greet(fd, fake);
      if (heard(fd, 'S')) answer(fd, fake);
      heard(fd, '\0');
    }
    close(fd);
  }
  return NULL;
}

int stand_fake(const char *number, const char *version) {
  int port;
  Stand *fake = stand(&port);
  fake->number = number;
  fake->version = version;
  g_thread_unref(g_thread_new("fake", run_fake, fake));
  return port;
}
