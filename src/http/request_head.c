/* SPDX-License-Identifier: Apache-2.0 */
/* Header lines, and what they mean together: host, length, connection. */
#include "http/request_private.h"

#define LENGTH_MAX_DIGITS 18

static gboolean is_blank(char c) { return c == ' ' || c == '\t'; }

gboolean pawl_http_take_header(PawlHttpReader *reader, const char *line) {
  const char *colon = strchr(line, ':'), *value, *end;
  if (is_blank(line[0])) return pawl_http_refuse(reader, 400, "a folded header line");
  if (colon == NULL) return pawl_http_refuse(reader, 400, "a header line without a colon");
  g_autofree char *name = g_strndup(line, (gsize)(colon - line));
  if (!pawl_http_all_token(name)) return pawl_http_refuse(reader, 400, "a header's name is empty or no word");
  for (value = colon + 1; is_blank(*value); value++) {}
  for (end = value + strlen(value); end > value && is_blank(end[-1]); end--) {}
  for (const char *p = value; p < end; p++)
    if (((guchar)*p < ' ' && *p != '\t') || *p == 0x7f) return pawl_http_refuse(reader, 400, "a control character in a header");
  PawlHttpHeader header = {g_steal_pointer(&name), g_strndup(value, (gsize)(end - value))};
  g_array_append_val(reader->request.headers, header);
  return TRUE;
}

/* How many headers of that name there are; `ret_value`: the last one's value. */
static guint count(const PawlHttpReader *reader, const char *name, const char **ret_value) {
  guint n = 0;
  for (guint i = 0; i < reader->request.headers->len; i++) {
    const PawlHttpHeader *header = &g_array_index(reader->request.headers, PawlHttpHeader, i);
    if (g_ascii_strcasecmp(header->name, name) != 0) continue;
    *ret_value = header->value;
    n++;
  }
  return n;
}

/* ---- Host ---- */

/* NULL: not HOST or HOST:PORT. */
static char *host_of(const char *value) {
  const char *end = value[0] == '[' ? strchr(value, ']') : value + strcspn(value, ":");
  if (end == NULL) return NULL;
  if (*end == ']') end++;
  if (end == value || (*end != '\0' && *end != ':')) return NULL;
  for (const char *p = value; p < end; p++)
    if (!g_ascii_isalnum(*p) && strchr("-._~[]:%", *p) == NULL) return NULL;
  for (const char *p = *end == ':' ? end + 1 : end; *p != '\0'; p++)
    if (!g_ascii_isdigit(*p)) return NULL;
  return g_ascii_strdown(value, end - value);
}

static gboolean take_host(PawlHttpReader *reader) {
  const char *value = NULL;
  guint n = count(reader, "Host", &value);
  if (n == 0 && reader->request.minor == 0) return TRUE;
  if (n != 1) return pawl_http_refuse(reader, 400, n == 0 ? "there is no Host header" : "there is more than one Host header");
  reader->request.host = host_of(value);
  return reader->request.host != NULL || pawl_http_refuse(reader, 400, "the Host header is no host");
}

/* ---- length ---- */

static gboolean take_length(PawlHttpReader *reader, const char *value) {
  gsize n = strlen(value);
  if (n == 0 || n > LENGTH_MAX_DIGITS || strspn(value, "0123456789") != n)
    return pawl_http_refuse(reader, 400, "the Content-Length is no number of bytes");
  guint64 bytes = g_ascii_strtoull(value, NULL, 10);
  if (bytes > reader->limits->body_bytes) return pawl_http_refuse(reader, 413, "the body is larger than what is accepted");
  reader->to_come = (gsize)bytes;
  reader->state = bytes > 0 ? STATE_BODY : STATE_DONE;
  return TRUE;
}

static gboolean take_framing(PawlHttpReader *reader) {
  const char *length = NULL, *coding = NULL;
  guint lengths = count(reader, "Content-Length", &length), codings = count(reader, "Transfer-Encoding", &coding);
  if (lengths > 1) return pawl_http_refuse(reader, 400, "there is more than one Content-Length");
  if (lengths > 0 && codings > 0) return pawl_http_refuse(reader, 400, "there are both Content-Length and Transfer-Encoding");
  if (codings > 1 || (codings > 0 && reader->request.minor == 0))
    return pawl_http_refuse(reader, 400, "there is more than one Transfer-Encoding, or one in HTTP/1.0");
  if (lengths > 0) return take_length(reader, length);
  if (codings > 0 && g_ascii_strcasecmp(coding, "chunked") != 0)
    return pawl_http_refuse(reader, 501, "the only Transfer-Encoding that is understood is chunked");
  reader->state = codings > 0 ? STATE_CHUNK_SIZE : STATE_DONE;
  return TRUE;
}

/* ---- connection ---- */

static gboolean list_has(const char *list, const char *word) {
  g_auto(GStrv) words = g_strsplit(list, ",", -1);
  for (char **w = words; *w != NULL; w++)
    if (g_ascii_strcasecmp(g_strstrip(*w), word) == 0) return TRUE;
  return FALSE;
}

static void take_connection(PawlHttpReader *reader) {
  gboolean close = FALSE, keep = FALSE;
  for (guint i = 0; i < reader->request.headers->len; i++) {
    const PawlHttpHeader *header = &g_array_index(reader->request.headers, PawlHttpHeader, i);
    if (g_ascii_strcasecmp(header->name, "Connection") != 0) continue;
    close = close || list_has(header->value, "close");
    keep = keep || list_has(header->value, "keep-alive");
  }
  reader->request.keep_alive = !close && (reader->request.minor == 1 || keep);
}

static gboolean take_expect(PawlHttpReader *reader) {
  const char *value = NULL;
  if (count(reader, "Expect", &value) == 0 || reader->request.minor == 0) return TRUE;
  if (g_ascii_strcasecmp(value, "100-continue") != 0)
    return pawl_http_refuse(reader, 417, "the only expectation that is met is 100-continue");
  reader->continues = reader->state != STATE_DONE;
  return TRUE;
}

gboolean pawl_http_end_head(PawlHttpReader *reader) {
  take_connection(reader);
  return take_host(reader) && take_framing(reader) && take_expect(reader);
}
