/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's states: lines up to CR LF, then a body of known length or in chunks. */
#include "http/request.h"

#include "http/request_private.h"

#define CHUNK_LINE_MAX_BYTES 256
#define CHUNK_MAX_DIGITS 15

const PawlHttpLimits PAWL_HTTP_LIMITS = {.line_bytes = 8192, .head_bytes = 32768, .headers = 100, .body_bytes = 1024 * 1024};

static void header_clear(gpointer p) {
  PawlHttpHeader *header = p;
  g_free(header->name);
  g_free(header->value);
}

static void request_init(PawlHttpRequest *request) {
  *request = (PawlHttpRequest){.headers = g_array_new(FALSE, FALSE, sizeof(PawlHttpHeader)), .body = g_byte_array_new()};
  g_array_set_clear_func(request->headers, header_clear);
}

static void request_clear(PawlHttpRequest *request) {
  g_free(request->method);
  g_free(request->path);
  g_free(request->query);
  g_free(request->host);
  g_array_unref(request->headers);
  g_byte_array_unref(request->body);
}

PawlHttpReader *pawl_http_reader_new(const PawlHttpLimits *limits) {
  PawlHttpReader *reader = g_new0(PawlHttpReader, 1);
  reader->limits = limits;
  reader->line = g_string_new(NULL);
  request_init(&reader->request);
  return reader;
}

void pawl_http_reader_free(PawlHttpReader *reader) {
  if (reader == NULL) return;
  request_clear(&reader->request);
  g_string_free(reader->line, TRUE);
  g_free(reader);
}

void pawl_http_reader_next(PawlHttpReader *reader) {
  GString *line = g_string_truncate(reader->line, 0);
  request_clear(&reader->request);
  *reader = (PawlHttpReader){.limits = reader->limits, .line = line};
  request_init(&reader->request);
}

gboolean pawl_http_refuse(PawlHttpReader *reader, int status, const char *why) {
  reader->state = STATE_BAD;
  reader->status = status;
  reader->why = why;
  return FALSE;
}

/* ---- lines ---- */

/* Bytes of the line that stands open, and what to answer when it or the head is too long. */
static gboolean line_fits(PawlHttpReader *reader, gsize more) {
  gsize bytes = reader->line->len + more;
  switch (reader->state) {
  case STATE_LINE: return bytes <= reader->limits->line_bytes || pawl_http_refuse(reader, 414, "the request line is too long");
  case STATE_CHUNK_SIZE: return bytes <= CHUNK_LINE_MAX_BYTES || pawl_http_refuse(reader, 400, "the line of a chunk's size is too long");
  default: return reader->head_bytes + bytes <= reader->limits->head_bytes || pawl_http_refuse(reader, 431, "the headers are too long");
  }
}

static gboolean take_chunk_size(PawlHttpReader *reader, const char *line) {
  gsize digits = strspn(line, "0123456789abcdefABCDEF");
  const char *rest = line + digits;
  if (digits == 0 || digits > CHUNK_MAX_DIGITS) return pawl_http_refuse(reader, 400, "a chunk's size is no hexadecimal number");
  if (*rest != '\0' && *rest != ';') return pawl_http_refuse(reader, 400, "a chunk's size is followed by something else");
  for (; *rest != '\0'; rest++)
    if ((guchar)*rest < ' ' || *rest == 0x7f) return pawl_http_refuse(reader, 400, "a control character in a chunk's extension");
  guint64 bytes = g_ascii_strtoull(line, NULL, 16);
  if (bytes > reader->limits->body_bytes - reader->request.body->len)
    return pawl_http_refuse(reader, 413, "the body is larger than what is accepted");
  reader->to_come = (gsize)bytes;
  reader->state = bytes > 0 ? STATE_CHUNK : STATE_TRAILER;
  return TRUE;
}

/* Trailers are checked as headers are, and mean nothing. */
static gboolean take_trailer(PawlHttpReader *reader, const char *line) {
  guint kept = reader->request.headers->len;
  if (!pawl_http_take_header(reader, line)) return FALSE;
  g_array_set_size(reader->request.headers, (guint)kept);
  return TRUE;
}

static gboolean count_line(PawlHttpReader *reader) {
  reader->head_bytes += reader->line->len + 2;
  return ++reader->n_lines <= reader->limits->headers || pawl_http_refuse(reader, 431, "there are too many headers");
}

static gboolean take_whole_line(PawlHttpReader *reader) {
  const char *line = reader->line->str;
  gboolean empty = *line == '\0';
  switch (reader->state) {
  case STATE_LINE:
    if (empty) return reader->n_blank++ == 0 || pawl_http_refuse(reader, 400, "empty lines before a request");
    if (!pawl_http_take_line(reader, line)) return FALSE;
    reader->state = STATE_HEADER;
    return TRUE;
  case STATE_HEADER: return empty ? pawl_http_end_head(reader) : count_line(reader) && pawl_http_take_header(reader, line);
  case STATE_CHUNK_SIZE: return take_chunk_size(reader, line);
  case STATE_CHUNK_END: reader->state = STATE_CHUNK_SIZE; return empty || pawl_http_refuse(reader, 400, "a chunk is longer than its size");
  default:
    if (!empty) return count_line(reader) && take_trailer(reader, line);
    reader->state = STATE_DONE;
    return TRUE;
  }
}

/* Takes bytes up to and including the first LF. A CR stands before a LF and nowhere else. */
static gboolean take_line_bytes(PawlHttpReader *reader, const char *bytes, gsize n, gsize *used) {
  const char *lf = memchr(bytes, '\n', n);
  gsize take = lf != NULL ? (gsize)(lf - bytes) + 1 : n;
  if (memchr(bytes, '\0', take) != NULL) return pawl_http_refuse(reader, 400, "a NUL");
  if (!line_fits(reader, lf != NULL ? take - 1 : take)) return FALSE;
  g_string_append_len(reader->line, bytes, (gssize)take);
  *used += take;
  const char *cr = memchr(reader->line->str, '\r', reader->line->len);
  if (lf == NULL)
    return cr == NULL || cr + 1 == reader->line->str + reader->line->len || pawl_http_refuse(reader, 400, "a CR that ends no line");
  if (cr == NULL) return pawl_http_refuse(reader, 400, "a line that is ended by LF alone; write CR LF");
  if (cr + 2 != reader->line->str + reader->line->len) return pawl_http_refuse(reader, 400, "a CR that ends no line");
  g_string_truncate(reader->line, reader->line->len - 2);
  gboolean ok = take_whole_line(reader);
  g_string_truncate(reader->line, 0);
  return ok;
}

/* ---- bodies ---- */

static void take_body_bytes(PawlHttpReader *reader, const char *bytes, gsize n, gsize *used) {
  gsize take = MIN(n, reader->to_come);
  g_byte_array_append(reader->request.body, (const guint8 *)bytes, (guint)take);
  reader->to_come -= take;
  *used += take;
  if (reader->to_come == 0) reader->state = reader->state == STATE_BODY ? STATE_DONE : STATE_CHUNK_END;
}

PawlHttpProgress pawl_http_reader_feed(PawlHttpReader *reader, const char *bytes, gsize n, gsize *ret_used) {
  gsize used = 0;
  while (used < n && reader->state != STATE_DONE && reader->state != STATE_BAD) {
    reader->started = TRUE;
    if (reader->state == STATE_BODY || reader->state == STATE_CHUNK)
      take_body_bytes(reader, bytes + used, n - used, &used);
    else if (!take_line_bytes(reader, bytes + used, n - used, &used))
      break;
  }
  *ret_used = used;
  return reader->state == STATE_BAD ? PAWL_HTTP_BAD : reader->state == STATE_DONE ? PAWL_HTTP_DONE : PAWL_HTTP_MORE;
}

/* ---- what was read ---- */

const PawlHttpRequest *pawl_http_reader_request(const PawlHttpReader *reader) { return &reader->request; }
int pawl_http_reader_status(const PawlHttpReader *reader) { return reader->status; }
const char *pawl_http_reader_why(const PawlHttpReader *reader) { return reader->why; }

PawlHttpPlace pawl_http_reader_place(const PawlHttpReader *reader) {
  if (!reader->started) return PAWL_HTTP_IDLE;
  return reader->state <= STATE_HEADER ? PAWL_HTTP_IN_HEAD : PAWL_HTTP_IN_BODY;
}

gboolean pawl_http_reader_wants_continue(PawlHttpReader *reader) {
  gboolean wants = reader->continues;
  reader->continues = FALSE;
  return wants;
}

const char *pawl_http_header(const PawlHttpRequest *request, const char *name) {
  for (guint i = 0; i < request->headers->len; i++) {
    const PawlHttpHeader *header = &g_array_index(request->headers, PawlHttpHeader, i);
    if (g_ascii_strcasecmp(header->name, name) == 0) return header->value;
  }
  return NULL;
}

gboolean pawl_http_query_has(const PawlHttpRequest *request, const char *name) {
  g_auto(GStrv) pairs = g_strsplit(request->query != NULL ? request->query : "", "&", -1);
  gsize n = strlen(name);
  for (char **pair = pairs; *pair != NULL; pair++)
    if (strncmp(*pair, name, n) == 0 && ((*pair)[n] == '\0' || (*pair)[n] == '=')) return TRUE;
  return FALSE;
}
