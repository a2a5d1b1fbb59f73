/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of an attempt's output: the first half of the cap from its beginning (the head), the rest from its end (the tail), and a
 * note of how much was left out between them.
 *
 *   bytes as they arrive --redact--> head chunks, then tail chunks --take, every 50 ms--> the store
 *
 * Tail chunks are handed out live too. When newer output pushes out a chunk that was handed out before, the next batch says so by a range
 * of sequence numbers to delete; one that was not handed out yet is dropped here. The number between head and tail is kept free for the
 * note.
 *
 * Memory is bounded by the cap, whatever is written, and nothing is allocated before something is. Not thread-safe. Times are
 * milliseconds of one clock that only rises (`now_ms`), and of the wall clock (`at_ms`). */
#pragma once
#include "worker/supervisor.h"

#define PAWL_OUTPUT_CHUNK_MAX_BYTES (16 * 1024)

typedef struct PawlOutput PawlOutput;

/* `cap_bytes` 0: nothing is kept, only counted. `secrets`: char *, may be NULL; not referenced after the call. */
PawlOutput *pawl_output_new(gsize cap_bytes, GPtrArray *secrets);
void pawl_output_free(PawlOutput *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlOutput, pawl_output_free)

/* Adds what `stream` (stdout or stderr) has written. */
void pawl_output_add(PawlOutput *output, PawlStream stream, const void *bytes, gsize n_bytes, gint64 at_ms, gint64 now_ms);
/* When pawl_output_take() is worth calling; 0: not before more is added. */
gint64 pawl_output_due_ms(const PawlOutput *output);
/* No more comes: what was held back for redaction is let go, and the note is written. */
void pawl_output_finish(PawlOutput *output, gint64 at_ms);

typedef struct {
  GPtrArray *chunks; /* PawlOutputChunk *, owned by the caller; NULL when there are none */
  gint64 drop_from_seq, drop_before_seq;
  gsize bytes;
} PawlOutputBatch;
/* Takes what is pending. FALSE when there is nothing to say. */
gboolean pawl_output_take(PawlOutput *output, gint64 now_ms, PawlOutputBatch *ret_batch);

gboolean pawl_output_in_tail(const PawlOutput *output);     /* the head is full: taking later loses nothing that would stay */
gint64 pawl_output_bytes(const PawlOutput *output);         /* all that was added */
gint64 pawl_output_omitted_bytes(const PawlOutput *output); /* of which so many were not kept */
void pawl_output_chunk_free(PawlOutputChunk *chunk);
