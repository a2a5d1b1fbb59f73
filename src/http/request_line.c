/* SPDX-License-Identifier: Apache-2.0 */
/* The request line: METHOD SP /path?query SP HTTP/1.x. The path is decoded here, once, so that nobody behind it decodes again. */
#include "http/request_private.h"

#define METHOD_MAX_BYTES 32

static int hex(char c) { return g_ascii_isxdigit(c) ? g_ascii_xdigit_value(c) : -1; }

/* NULL: not a path that can mean one thing only. */
static char *decode_path(const char *path, gsize n) {
  g_autoptr(GString) text = g_string_sized_new(n);
  if (n == 0 || path[0] != '/') return NULL;
  for (gsize i = 0; i < n; i++) {
    char c = path[i];
    if (c == '%') {
      if (i + 2 >= n || hex(path[i + 1]) < 0 || hex(path[i + 2]) < 0) return NULL;
      c = (char)(hex(path[i + 1]) * 16 + hex(path[i + 2]));
      if (c == '/') return NULL;
      i += 2;
    }
    if ((guchar)c < ' ' || c == 0x7f || c == '\\') return NULL;
    g_string_append_c(text, c);
  }
  return g_utf8_validate_len(text->str, text->len, NULL) ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

static gboolean segments_are_plain(const char *path) {
  if (g_str_equal(path, "/")) return TRUE;
  g_auto(GStrv) segments = g_strsplit(path + 1, "/", -1);
  for (char **segment = segments; *segment != NULL; segment++)
    if ((**segment == '\0' && segment[1] != NULL) || g_str_equal(*segment, ".") || g_str_equal(*segment, "..")) return FALSE;
  return TRUE;
}

static gboolean take_version(PawlHttpReader *reader, const char *version) {
  if (strncmp(version, "HTTP/", 5) != 0 || !g_ascii_isdigit(version[5]) || version[6] != '.' || !g_ascii_isdigit(version[7]) ||
      version[8] != '\0')
    return pawl_http_refuse(reader, 400, "the request line does not end with the version of HTTP");
  if (version[5] != '1') return pawl_http_refuse(reader, 505, "HTTP/1.1 is spoken here");
  reader->request.minor = version[7] == '0' ? 0 : 1;
  reader->request.keep_alive = reader->request.minor == 1;
  return TRUE;
}

static gboolean take_target(PawlHttpReader *reader, const char *target, gsize n) {
  const char *query = memchr(target, '?', n);
  for (gsize i = 0; i < n; i++)
    if (target[i] <= ' ' || target[i] >= 0x7f || target[i] == '#')
      return pawl_http_refuse(reader, 400, "the path holds a character that has to be written as %XX");
  g_autofree char *path = decode_path(target, query != NULL ? (gsize)(query - target) : n);
  if (path == NULL || !segments_are_plain(path))
    return pawl_http_refuse(reader, 400, "the path must begin with '/', and have no empty, '.' or '..' part and no encoded '/'");
  if (query != NULL) reader->request.query = g_strndup(query + 1, n - (gsize)(query - target) - 1);
  reader->request.path = g_steal_pointer(&path);
  return TRUE;
}

gboolean pawl_http_take_line(PawlHttpReader *reader, const char *line) {
  const char *first = strchr(line, ' '), *second = first != NULL ? strchr(first + 1, ' ') : NULL;
  if (second == NULL) return pawl_http_refuse(reader, 400, "the request line is not METHOD PATH VERSION");
  g_autofree char *method = g_strndup(line, (gsize)(first - line));
  if (!pawl_http_all_token(method)) return pawl_http_refuse(reader, 400, "the method is no word");
  if (strlen(method) > METHOD_MAX_BYTES) return pawl_http_refuse(reader, 501, "there is no such method");
  reader->request.method = g_steal_pointer(&method);
  return take_version(reader, second + 1) && take_target(reader, first + 1, (gsize)(second - first - 1));
}
