/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/output.h"

#include "worker/output_redact.h"

#include <string.h>

#define COALESCE_MS 50        /* from the first byte to the batch that brings it */
#define COALESCE_BUSY_MS 1000 /* when the tail turns over faster than it is handed out, most of it would be stored to be deleted */
#define IDLE_MS 100           /* from the last byte to giving up on a secret's first letters */
#define PENDING_MAX_CHUNKS 64 /* of tiny chunks no more are gathered than this */
#define PENDING_HARD_MAX_CHUNKS 2048
#define TAIL_PARTS 16 /* the tail is dropped in parts of this fraction */

/* A chunk that was not handed out yet. */
typedef struct {
  gint64 seq, at_ms;
  PawlStream stream;
  GByteArray *bytes;
} Pending;

/* Neighbouring tail chunks that are dropped together, so that a tail of very short chunks needs little memory. */
typedef struct {
  gint64 first_seq, end_seq;
  gsize bytes;
} Part;

struct PawlOutput {
  PawlSecrets *secrets; /* NULL: none */
  PawlRedaction redaction[2];
  gsize head_cap, tail_cap, part_bytes;
  gsize head_bytes, tail_bytes;
  gint64 next_seq, note_seq; /* note_seq 0: the head is not full yet */
  GQueue pending;            /* Pending * */
  gsize pending_bytes;
  GQueue parts;            /* Part *, oldest first */
  gint64 taken_before_seq; /* chunks below it were handed out */
  gint64 drop_before_seq, told_before_seq;
  gboolean turning_over; /* tail chunks were dropped before they were handed out, since the last batch */
  gint64 total_bytes, omitted_bytes;
  gint64 pending_since_ms, last_add_ms, last_take_ms;
  gint64 last_at_ms; /* wall clock of last_add_ms */
};

PawlOutput *pawl_output_new(gsize cap_bytes, GPtrArray *secrets) {
  PawlOutput *output = g_new0(PawlOutput, 1);
  output->secrets = pawl_secrets_new(secrets);
  output->head_cap = cap_bytes / 2;
  output->tail_cap = cap_bytes - output->head_cap;
  output->part_bytes = CLAMP(output->tail_cap / TAIL_PARTS, 1, PAWL_OUTPUT_CHUNK_MAX_BYTES);
  output->next_seq = output->taken_before_seq = 1;
  g_queue_init(&output->pending);
  g_queue_init(&output->parts);
  return output;
}

static void pending_free(Pending *pending) {
  g_byte_array_unref(pending->bytes);
  g_free(pending);
}

void pawl_output_free(PawlOutput *output) {
  if (!output) return;
  pawl_secrets_free(output->secrets);
  for (int i = 0; i < 2; i++) g_clear_pointer(&output->redaction[i].held, g_byte_array_unref);
  g_queue_clear_full(&output->pending, (GDestroyNotify)pending_free);
  g_queue_clear_full(&output->parts, g_free);
  g_free(output);
}

void pawl_output_chunk_free(PawlOutputChunk *chunk) {
  if (!chunk) return;
  g_bytes_unref(chunk->bytes);
  g_free(chunk);
}

/* Where the next bytes of `stream` go: the newest pending chunk if it is of that stream, not full and on the same side of the note. */
static Pending *open_chunk(PawlOutput *output, PawlStream stream, gint64 at_ms, gsize max_bytes) {
  Pending *last = g_queue_peek_tail(&output->pending);
  if (last && last->stream == stream && last->bytes->len < max_bytes && last->seq > output->note_seq) return last;
  Pending *pending = g_new(Pending, 1);
  *pending = (Pending){.seq = output->next_seq++, .at_ms = at_ms, .stream = stream, .bytes = g_byte_array_new()};
  g_queue_push_tail(&output->pending, pending);
  return pending;
}

static gsize append(PawlOutput *output, Pending *to, gsize max_bytes, const guint8 *bytes, gsize n_bytes) {
  gsize n = MIN(n_bytes, max_bytes - to->bytes->len);
  g_byte_array_append(to->bytes, bytes, (guint)n);
  output->pending_bytes += n;
  return n;
}

static void drop_oldest_part(PawlOutput *output) {
  g_autofree Part *part = g_queue_pop_head(&output->parts);
  output->tail_bytes -= part->bytes;
  output->omitted_bytes += (gint64)part->bytes;
  if (part->first_seq < output->taken_before_seq) output->drop_before_seq = MIN(part->end_seq, output->taken_before_seq);
  for (GList *link = output->pending.head; link;) {
    GList *next = link->next;
    Pending *pending = link->data;
    if (pending->seq >= part->end_seq) break;
    if (pending->seq >= part->first_seq) {
      output->pending_bytes -= pending->bytes->len;
      output->turning_over = TRUE;
      pending_free(pending);
      g_queue_delete_link(&output->pending, link);
    }
    link = next;
  }
}

static void count_in_part(PawlOutput *output, const Pending *pending, gsize n_bytes) {
  Part *part = g_queue_peek_tail(&output->parts);
  gboolean is_new = !part || pending->seq >= part->end_seq;
  if (is_new && (!part || part->bytes >= (output->part_bytes + 1) / 2)) {
    part = g_new0(Part, 1);
    part->first_seq = pending->seq;
    g_queue_push_tail(&output->parts, part);
  }
  part->end_seq = pending->seq + 1;
  part->bytes += n_bytes;
  output->tail_bytes += n_bytes;
  while (output->tail_bytes > output->tail_cap) drop_oldest_part(output);
  /* Nobody takes them, and tiny chunks cost more than their bytes. */
  while (output->pending.length > PENDING_HARD_MAX_CHUNKS && output->parts.length > 1) drop_oldest_part(output);
}

static void keep_in_tail(PawlOutput *output, PawlStream stream, const guint8 *bytes, gsize n_bytes, gint64 at_ms) {
  while (n_bytes > 0) {
    Pending *to = open_chunk(output, stream, at_ms, output->part_bytes);
    gsize n = append(output, to, output->part_bytes, bytes, n_bytes);
    count_in_part(output, to, n);
    bytes += n;
    n_bytes -= n;
  }
}

static void keep(PawlOutput *output, PawlStream stream, const guint8 *bytes, gsize n_bytes, gint64 at_ms) {
  if (output->tail_cap == 0) {
    output->omitted_bytes += (gint64)n_bytes;
    return;
  }
  while (n_bytes > 0 && output->head_bytes < output->head_cap) {
    gsize room = MIN(n_bytes, output->head_cap - output->head_bytes);
    gsize n = append(output, open_chunk(output, stream, at_ms, PAWL_OUTPUT_CHUNK_MAX_BYTES), PAWL_OUTPUT_CHUNK_MAX_BYTES, bytes, room);
    output->head_bytes += n;
    bytes += n;
    n_bytes -= n;
  }
  if (n_bytes == 0) return;
  if (output->note_seq == 0) output->note_seq = output->next_seq++;
  keep_in_tail(output, stream, bytes, n_bytes, at_ms);
}

typedef struct {
  PawlOutput *output;
  PawlStream stream;
  gint64 at_ms;
} Sink;

static void keep_redacted(const guint8 *bytes, gsize n_bytes, gpointer data) {
  const Sink *sink = data;
  keep(sink->output, sink->stream, bytes, n_bytes, sink->at_ms);
}

static PawlRedaction *redaction_of(PawlOutput *output, PawlStream stream) { return &output->redaction[stream == PAWL_STREAM_STDERR]; }

void pawl_output_add(PawlOutput *output, PawlStream stream, const void *bytes, gsize n_bytes, gint64 at_ms, gint64 now_ms) {
  output->total_bytes += (gint64)n_bytes;
  output->last_add_ms = now_ms;
  output->last_at_ms = at_ms;
  Sink sink = {output, stream, at_ms};
  if (output->secrets)
    pawl_redact(output->secrets, redaction_of(output, stream), bytes, n_bytes, keep_redacted, &sink);
  else
    keep(output, stream, bytes, n_bytes, at_ms);
  if (output->pending_since_ms == 0 && output->pending.length > 0) output->pending_since_ms = now_ms;
}

gint64 pawl_output_due_ms(const PawlOutput *output) {
  gint64 due_ms = 0;
  if (output->pending.length > 0) {
    due_ms = output->pending_since_ms + COALESCE_MS;
    if (output->turning_over)
      due_ms = MAX(due_ms, output->last_take_ms + COALESCE_BUSY_MS);
    else if (output->pending.length > PENDING_MAX_CHUNKS)
      due_ms = output->pending_since_ms;
  }
  if (pawl_redact_waits(&output->redaction[0]) || pawl_redact_waits(&output->redaction[1])) {
    gint64 idle_ms = output->last_add_ms + IDLE_MS;
    due_ms = due_ms ? MIN(due_ms, idle_ms) : idle_ms;
  }
  return due_ms;
}

static void end_idle(PawlOutput *output, gint64 now_ms) {
  if (now_ms < output->last_add_ms + IDLE_MS) return;
  for (int i = 0; i < 2; i++) {
    Sink sink = {output, i == 0 ? PAWL_STREAM_STDOUT : PAWL_STREAM_STDERR, output->last_at_ms};
    pawl_redact_idle(&output->redaction[i], keep_redacted, &sink);
  }
}

void pawl_output_finish(PawlOutput *output, gint64 at_ms) {
  for (int i = 0; i < 2 && output->secrets; i++) {
    Sink sink = {output, i == 0 ? PAWL_STREAM_STDOUT : PAWL_STREAM_STDERR, at_ms};
    pawl_redact_end(output->secrets, &output->redaction[i], keep_redacted, &sink);
  }
  if (output->omitted_bytes == 0 || output->note_seq == 0) return;
  Pending *note = g_new(Pending, 1);
  *note = (Pending){.seq = output->note_seq, .at_ms = at_ms, .stream = PAWL_STREAM_NOTE, .bytes = g_byte_array_new()};
  g_autofree char *text = g_strdup_printf("[%" G_GINT64_FORMAT " bytes left out]", output->omitted_bytes);
  g_byte_array_append(note->bytes, (const guint8 *)text, (guint)strlen(text));
  GList *behind = output->pending.head; /* what stands behind the note in the output */
  while (behind && ((Pending *)behind->data)->seq < note->seq) behind = behind->next;
  g_queue_insert_before(&output->pending, behind, note);
  output->pending_bytes += note->bytes->len;
}

gboolean pawl_output_take(PawlOutput *output, gint64 now_ms, PawlOutputBatch *ret_batch) {
  end_idle(output, now_ms);
  if (output->pending.length == 0 && output->drop_before_seq == output->told_before_seq) return FALSE;
  PawlOutputBatch batch = {.bytes = output->pending_bytes};
  if (output->drop_before_seq != output->told_before_seq) {
    batch.drop_from_seq = output->note_seq + 1;
    batch.drop_before_seq = output->told_before_seq = output->drop_before_seq;
  }
  if (output->pending.length > 0) batch.chunks = g_ptr_array_new_full(output->pending.length, (GDestroyNotify)pawl_output_chunk_free);
  for (Pending *pending; (pending = g_queue_pop_head(&output->pending));) {
    PawlOutputChunk *chunk = g_new(PawlOutputChunk, 1);
    *chunk = (PawlOutputChunk){.seq = pending->seq, .at_ms = pending->at_ms, .stream = pending->stream};
    chunk->bytes = g_byte_array_free_to_bytes(g_steal_pointer(&pending->bytes));
    g_ptr_array_add(batch.chunks, chunk);
    g_free(pending);
  }
  output->pending_bytes = 0;
  output->taken_before_seq = output->next_seq;
  output->turning_over = FALSE;
  output->pending_since_ms = 0;
  output->last_take_ms = now_ms;
  *ret_batch = batch;
  return TRUE;
}

gboolean pawl_output_in_tail(const PawlOutput *output) { return output->note_seq != 0; }
gint64 pawl_output_bytes(const PawlOutput *output) { return output->total_bytes; }
gint64 pawl_output_omitted_bytes(const PawlOutput *output) { return output->omitted_bytes; }
