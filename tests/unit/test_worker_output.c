/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper of output and the redaction of secrets, without processes. */
#include "worker/output.h"
#include "worker/output_redact.h"

#include <glib.h>
#include <string.h>

/* What a store would hold. */
typedef struct {
  GPtrArray *chunks;
  gsize most_bytes, most_rows;
} Store;

static void store_batch(Store *store, PawlOutputBatch *batch) {
  gsize bytes = 0;
  for (guint i = 0; i < store->chunks->len;) {
    const PawlOutputChunk *chunk = g_ptr_array_index(store->chunks, i);
    if (chunk->seq >= batch->drop_from_seq && chunk->seq < batch->drop_before_seq)
      g_ptr_array_remove_index(store->chunks, i);
    else
      i++;
  }
  for (guint i = 0; batch->chunks && i < batch->chunks->len; i++) {
    const PawlOutputChunk *chunk = g_ptr_array_index(batch->chunks, i);
    PawlOutputChunk *copy = g_new(PawlOutputChunk, 1);
    *copy = *chunk;
    g_bytes_ref(copy->bytes);
    g_assert_cmpuint(g_bytes_get_size(chunk->bytes), >, 0);
    g_assert_cmpuint(g_bytes_get_size(chunk->bytes), <=, PAWL_OUTPUT_CHUNK_MAX_BYTES);
    guint at = store->chunks->len;
    while (at > 0 && ((PawlOutputChunk *)g_ptr_array_index(store->chunks, at - 1))->seq > chunk->seq) at--;
    if (at > 0) g_assert_cmpint(((PawlOutputChunk *)g_ptr_array_index(store->chunks, at - 1))->seq, !=, chunk->seq);
    g_ptr_array_insert(store->chunks, (gint)at, copy);
  }
  for (guint i = 0; i < store->chunks->len; i++) bytes += g_bytes_get_size(((PawlOutputChunk *)g_ptr_array_index(store->chunks, i))->bytes);
  store->most_bytes = MAX(store->most_bytes, bytes);
  store->most_rows = MAX(store->most_rows, store->chunks->len);
  g_clear_pointer(&batch->chunks, g_ptr_array_unref);
}

static Store *store_new(void) {
  Store *store = g_new0(Store, 1);
  store->chunks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_output_chunk_free);
  return store;
}

static void store_free(Store *store) {
  g_ptr_array_unref(store->chunks);
  g_free(store);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Store, store_free)

static void take(Store *store, PawlOutput *output, gint64 now_ms) {
  PawlOutputBatch batch;
  if (pawl_output_take(output, now_ms, &batch)) store_batch(store, &batch);
}

static GString *text_of(const Store *store, PawlStream stream) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < store->chunks->len; i++) {
    const PawlOutputChunk *chunk = g_ptr_array_index(store->chunks, i);
    gsize n;
    const char *bytes = g_bytes_get_data(chunk->bytes, &n);
    if (stream == 0 || chunk->stream == stream) g_string_append_len(text, bytes, (gssize)n);
  }
  return text;
}

static void assert_text(const Store *store, PawlStream stream, const char *expected) {
  GString *text = text_of(store, stream);
  g_assert_cmpstr(text->str, ==, expected);
  g_string_free(text, TRUE);
}

static void add(PawlOutput *output, PawlStream stream, const char *text, gint64 now_ms) {
  pawl_output_add(output, stream, text, strlen(text), 1000000 + now_ms, now_ms);
}

static void test_below_the_cap(void) {
  g_autoptr(PawlOutput) output = pawl_output_new(100, NULL);
  g_autoptr(Store) store = store_new();
  g_assert_cmpint(pawl_output_due_ms(output), ==, 0);
  add(output, PAWL_STREAM_STDOUT, "one\n", 10);
  g_assert_cmpint(pawl_output_due_ms(output), >, 10);
  g_assert_cmpint(pawl_output_due_ms(output), <=, 110);
  add(output, PAWL_STREAM_STDERR, "two\n", 20);
  add(output, PAWL_STREAM_STDOUT, "three\n", 30);
  add(output, PAWL_STREAM_STDOUT, "four\n", 40);
  take(store, output, 60);
  g_assert_cmpint(pawl_output_due_ms(output), ==, 0);
  assert_text(store, 0, "one\ntwo\nthree\nfour\n");
  assert_text(store, PAWL_STREAM_STDERR, "two\n");
  g_assert_cmpuint(store->chunks->len, ==, 3); /* neighbours of one stream are one chunk */
  for (guint i = 0; i < 3; i++) {
    const PawlOutputChunk *chunk = g_ptr_array_index(store->chunks, i);
    g_assert_cmpint(chunk->seq, ==, i + 1);
    g_assert_cmpint(chunk->at_ms, ==, 1000010 + 10 * i); /* when its first byte came */
  }
  pawl_output_finish(output, 1000100);
  take(store, output, 100);
  g_assert_cmpint(pawl_output_bytes(output), ==, 19);
  g_assert_cmpint(pawl_output_omitted_bytes(output), ==, 0);
  assert_text(store, PAWL_STREAM_NOTE, "");
}

/* Around the cap: at it nothing is left out, one byte beyond it something is, and the note counts exactly. */
static void test_at_the_cap(void) {
  static const struct {
    gsize cap, n;
    gboolean noted;
  } rows[] = {{100, 99, FALSE}, {100, 100, FALSE}, {100, 101, TRUE}, {1, 1, FALSE}, {1, 2, TRUE}, {2, 2, FALSE}, {2, 3, TRUE},
    {65536, 65536, FALSE}, {65536, 65537, TRUE}, {262144, 262145, TRUE}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    for (gsize step = 1; step <= rows[i].n; step = step * 7 + 1) {
      if (rows[i].n / step > 20000) continue;
      g_autoptr(PawlOutput) output = pawl_output_new(rows[i].cap, NULL);
      g_autoptr(Store) store = store_new();
      g_autofree guint8 *bytes = g_malloc(rows[i].n);
      for (gsize k = 0; k < rows[i].n; k++) bytes[k] = (guint8)(k * 31 >> 3);
      for (gsize at = 0; at < rows[i].n; at += step) {
        pawl_output_add(output, PAWL_STREAM_STDOUT, bytes + at, MIN(step, rows[i].n - at), 1, (gint64)at);
        if (at / step % 3 == 0) take(store, output, (gint64)at);
      }
      pawl_output_finish(output, 2);
      take(store, output, G_MAXINT32);
      GString *text = text_of(store, PAWL_STREAM_STDOUT), *note = text_of(store, PAWL_STREAM_NOTE);
      gint64 omitted = pawl_output_omitted_bytes(output);
      g_assert_cmpint(omitted + (gint64)text->len, ==, (gint64)rows[i].n);
      g_assert_cmpint(omitted > 0, ==, rows[i].noted);
      g_assert_cmpuint(text->len, <=, rows[i].cap);
      g_assert_cmpuint(text->len, >=, rows[i].noted ? rows[i].cap - rows[i].cap / 8 - 1 : rows[i].n);
      gsize head = rows[i].noted ? rows[i].cap / 2 : text->len, tail = text->len - head;
      g_assert_cmpint(memcmp(text->str, bytes, head), ==, 0);
      g_assert_cmpint(memcmp(text->str + head, bytes + rows[i].n - tail, tail), ==, 0);
      g_autofree char *expected = rows[i].noted ? g_strdup_printf("[%" G_GINT64_FORMAT " bytes left out]", omitted) : g_strdup("");
      g_assert_cmpstr(note->str, ==, expected);
      g_string_free(text, TRUE);
      g_string_free(note, TRUE);
    }
  }
}

/* The note stands between head and tail, and what is stored never exceeds the cap by more than what one batch brings before the drop. */
static void test_long_output(void) {
  g_autoptr(PawlOutput) output = pawl_output_new(64 * 1024, NULL);
  g_autoptr(Store) store = store_new();
  char line[64];
  gint64 total = 0;
  for (gint i = 0; i < 300000; i++) {
    g_snprintf(line, sizeof line, "line %d\n", i);
    add(output, i % 5 == 0 ? PAWL_STREAM_STDERR : PAWL_STREAM_STDOUT, line, i / 100);
    total += (gint64)strlen(line);
    gint64 due_ms = pawl_output_due_ms(output);
    if (due_ms && due_ms <= i / 100) take(store, output, i / 100);
  }
  pawl_output_finish(output, 1);
  take(store, output, G_MAXINT32);
  GString *text = text_of(store, 0);
  g_assert_true(g_str_has_prefix(text->str, "line 0\nline 1\n"));
  g_assert_true(g_str_has_suffix(text->str, "line 299998\nline 299999\n"));
  const char *note = strstr(text->str, "[");
  g_assert_nonnull(note);
  g_assert_cmpint(note - text->str, ==, 32 * 1024);
  g_assert_cmpint(pawl_output_bytes(output), ==, total);
  g_assert_cmpint(g_ascii_strtoll(note + 1, NULL, 10), ==, pawl_output_omitted_bytes(output));
  g_assert_cmpuint(store->most_bytes, <=, 64 * 1024 + 64);
  g_string_free(text, TRUE);
}

/* While the output turns over, it is not handed out ten times a second to be deleted again. */
static void test_turning_over_slows_down(void) {
  g_autoptr(PawlOutput) output = pawl_output_new(64 * 1024, NULL);
  g_autoptr(Store) store = store_new();
  g_autofree guint8 *bytes = g_malloc0(64 * 1024);
  guint batches = 0;
  for (gint64 now_ms = 1; now_ms <= 5000; now_ms++) {
    pawl_output_add(output, PAWL_STREAM_STDOUT, bytes, 64 * 1024, now_ms, now_ms);
    gint64 due_ms = pawl_output_due_ms(output);
    if (!due_ms || due_ms > now_ms) continue;
    take(store, output, now_ms);
    batches++;
  }
  g_assert_cmpuint(batches, >=, 4);
  g_assert_cmpuint(batches, <=, 8);
}

static void test_binary(void) {
  g_autoptr(PawlOutput) output = pawl_output_new(1024, NULL);
  g_autoptr(Store) store = store_new();
  guint8 bytes[256];
  for (guint i = 0; i < 256; i++) bytes[i] = (guint8)i;
  pawl_output_add(output, PAWL_STREAM_STDOUT, bytes, sizeof bytes, 1, 1);
  take(store, output, 2);
  GString *text = text_of(store, PAWL_STREAM_STDOUT);
  g_assert_cmpmem(text->str, (int)text->len, bytes, sizeof bytes);
  g_string_free(text, TRUE);
}

static void test_nothing_kept(void) {
  g_autoptr(PawlOutput) output = pawl_output_new(0, NULL);
  PawlOutputBatch batch;
  add(output, PAWL_STREAM_STDOUT, "some", 1);
  pawl_output_finish(output, 2);
  g_assert_false(pawl_output_take(output, 3, &batch));
  g_assert_cmpint(pawl_output_bytes(output), ==, 4);
  g_assert_cmpint(pawl_output_omitted_bytes(output), ==, 4);
}

static GPtrArray *secrets_of(const char *const *texts) {
  GPtrArray *secrets = g_ptr_array_new_with_free_func(g_free);
  for (; *texts; texts++) g_ptr_array_add(secrets, g_strdup(*texts));
  return secrets;
}

static void test_redaction(void) {
  static const struct {
    int line;
    const char *secrets[4], *text, *expected;
  } rows[] = {
    {__LINE__, {"hunter22"}, "pw=hunter22;", "pw=***;"},
    {__LINE__, {"hunter22"}, "hunter2", "hunter2"},
    {__LINE__, {"hunter22"}, "hunter2hunter22", "hunter2***"},
    {__LINE__, {"hunter22"}, "hunter22hunter22", "******"},
    {__LINE__, {"aab"}, "aab", "aab"}, /* too short to look for */
    {__LINE__, {"aaab"}, "aaaaaab", "aaa***"},
    {__LINE__, {"abcd", "abcdef"}, "abcdef abcd abcde", "*** *** ***e"},
    {__LINE__, {"abcd", "cdef"}, "xabcdefx", "x***x"}, /* they overlap: no half of one is left */
    {__LINE__, {"abcdef", "cdxy"}, "abcdxy abcdef", "ab*** ***"},
    {__LINE__, {"from-a-file\n"}, "from-a-file and more", "*** and more"},
    {__LINE__, {"", "\n", "long enough"}, "a long enough\n", "a ***\n"},
    {__LINE__, {"abab"}, "abababab", "***"},
    {__LINE__, {"two\nlines"}, "two\nlines", "***"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    gsize n = strlen(rows[i].text);
    for (gsize cut = 0; cut <= n; cut++) { /* wherever the pieces are cut, and byte by byte (cut 0) */
      g_autoptr(GPtrArray) secrets = secrets_of(rows[i].secrets);
      g_autoptr(PawlOutput) output = pawl_output_new(1000, secrets);
      g_autoptr(Store) store = store_new();
      for (gsize at = 0; at < n;) {
        gsize piece = cut == 0 ? 1 : at == 0 ? cut : n - at;
        pawl_output_add(output, PAWL_STREAM_STDOUT, rows[i].text + at, piece, 1, (gint64)at);
        at += piece;
        take(store, output, (gint64)at);
      }
      pawl_output_finish(output, 1);
      take(store, output, 5000);
      GString *text = text_of(store, PAWL_STREAM_STDOUT);
      if (strcmp(text->str, rows[i].expected) != 0)
        g_error("line %d, cut %" G_GSIZE_FORMAT ": \"%s\" instead of \"%s\"", rows[i].line, cut, text->str, rows[i].expected);
      g_string_free(text, TRUE);
    }
  }
}

/* The streams are apart: a secret is not put together from both. */
static void test_redaction_by_stream(void) {
  static const char *const texts[] = {"topsecret", NULL};
  g_autoptr(GPtrArray) secrets = secrets_of(texts);
  g_autoptr(PawlOutput) output = pawl_output_new(1000, secrets);
  g_autoptr(Store) store = store_new();
  add(output, PAWL_STREAM_STDOUT, "=tops", 1);
  add(output, PAWL_STREAM_STDERR, "ecret", 2);
  add(output, PAWL_STREAM_STDERR, " topsec", 3);
  add(output, PAWL_STREAM_STDOUT, "ecret!", 4);
  add(output, PAWL_STREAM_STDERR, "ret", 5);
  pawl_output_finish(output, 6);
  take(store, output, 5000);
  assert_text(store, PAWL_STREAM_STDOUT, "=***!");
  assert_text(store, PAWL_STREAM_STDERR, "ecret ***");
}

/* A prompt is shown although it could begin a secret; what follows it is recognised all the same. */
static void test_redaction_idle(void) {
  static const char *const texts[] = {"password1", NULL};
  g_autoptr(GPtrArray) secrets = secrets_of(texts);
  g_autoptr(PawlOutput) output = pawl_output_new(1000, secrets);
  g_autoptr(Store) store = store_new();
  add(output, PAWL_STREAM_STDOUT, ": pa", 1000);
  take(store, output, 1050);
  assert_text(store, PAWL_STREAM_STDOUT, ": ");
  g_assert_cmpint(pawl_output_due_ms(output), ==, 1100);
  take(store, output, 1100);
  assert_text(store, PAWL_STREAM_STDOUT, ": pa");
  g_assert_cmpint(pawl_output_due_ms(output), ==, 0);
  add(output, PAWL_STREAM_STDOUT, "ssw", 2000); /* by now it is probably the secret: it waits */
  take(store, output, 3000);
  assert_text(store, PAWL_STREAM_STDOUT, ": pa");
  g_assert_cmpint(pawl_output_due_ms(output), ==, 0);
  add(output, PAWL_STREAM_STDOUT, "ord1.", 4000);
  take(store, output, 4050);
  assert_text(store, PAWL_STREAM_STDOUT, ": pa***.");
  add(output, PAWL_STREAM_STDOUT, "passwo", 5000);
  pawl_output_finish(output, 1);
  take(store, output, 6000);
  assert_text(store, PAWL_STREAM_STDOUT, ": pa***.passwo");
}

/* Tiny chunks that nobody takes don't pile up. */
static void test_tiny_chunks(void) {
  g_autoptr(PawlOutput) output = pawl_output_new(1024 * 1024, NULL);
  PawlOutputBatch batch;
  g_autofree guint8 *bytes = g_malloc0(512 * 1024);
  pawl_output_add(output, PAWL_STREAM_STDOUT, bytes, 512 * 1024, 1, 1);
  for (gint i = 0; i < 100000; i++) add(output, i % 2 ? PAWL_STREAM_STDOUT : PAWL_STREAM_STDERR, "x", 2);
  g_assert_true(pawl_output_take(output, 3, &batch));
  g_assert_cmpuint(batch.chunks->len, <, 5000);
  g_assert_cmpint(pawl_output_omitted_bytes(output), >, 90000);
  g_ptr_array_unref(batch.chunks);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/output/below-the-cap", test_below_the_cap);
  g_test_add_func("/output/at-the-cap", test_at_the_cap);
  g_test_add_func("/output/long", test_long_output);
  g_test_add_func("/output/turning-over", test_turning_over_slows_down);
  g_test_add_func("/output/binary", test_binary);
  g_test_add_func("/output/nothing-kept", test_nothing_kept);
  g_test_add_func("/output/tiny-chunks", test_tiny_chunks);
  g_test_add_func("/redact/table", test_redaction);
  g_test_add_func("/redact/by-stream", test_redaction_by_stream);
  g_test_add_func("/redact/idle", test_redaction_idle);
  return g_test_run();
}
