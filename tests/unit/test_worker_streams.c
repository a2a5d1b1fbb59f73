/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor with real processes: what the work writes. */
#include "test_worker_harness.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The order of arrival over both streams, and its times: each line is written when the one before was seen. */
static void test_output_order(void) {
  Host *host = host_new();
  g_autofree char *folder = g_dir_make_tmp("pawl-worker-XXXXXX", NULL);
  static const char *const lines[] = {"one", "two", "three", "four"};
  gint64 from_ms = pawl_clock_wall_ms();
  PawlWork *work = work_sh("echo one; until [ -e 1 ]; do sleep 0.01; done; echo two >&2; until [ -e 2 ]; do sleep 0.01; done; echo three;"
                           " until [ -e 3 ]; do sleep 0.01; done; echo four >&2; until [ -e 4 ]; do sleep 0.01; done");
  g_free(work->cwd);
  work->cwd = g_strdup(folder);
  PawlFence fence = host_submit(host, work);
  for (int i = 0; i < 4; i++) {
    for (;;) { /* live: while the work runs */
      GString *text = host_output(host, &fence, 0);
      gboolean seen = strstr(text->str, lines[i]) != NULL;
      g_string_free(text, TRUE);
      if (seen) break;
      g_usleep(2000);
    }
    g_autofree char *name = g_strdup_printf("%s/%d", folder, i + 1);
    g_assert_true(g_file_set_contents(name, "", 0, NULL));
  }
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  assert_exited(ended, 0);
  g_autoptr(GPtrArray) chunks = host_chunks(host, &fence);
  g_assert_cmpuint(chunks->len, ==, 4);
  gint64 before_ms = from_ms;
  for (guint i = 0; i < 4; i++) {
    const PawlOutputChunk *chunk = g_ptr_array_index(chunks, i);
    g_assert_cmpint(chunk->seq, ==, i + 1);
    g_assert_cmpint(chunk->stream, ==, i % 2 ? PAWL_STREAM_STDERR : PAWL_STREAM_STDOUT);
    g_assert_cmpint(chunk->at_ms, >=, before_ms);
    before_ms = chunk->at_ms;
    g_autofree char *name = g_strdup_printf("%s/%u", folder, i + 1);
    unlink(name);
  }
  g_assert_cmpint(ended->at_ms, >=, before_ms);
  rmdir(folder);
  host_free(host);
}

static gsize own_rss_kib(void) {
  g_autofree char *text = NULL;
  g_file_get_contents("/proc/self/status", &text, NULL, NULL);
  return (gsize)g_ascii_strtoull(strstr(text, "VmRSS:") + 6, NULL, 10);
}

static void test_much_output(void) {
  Host *host = host_new();
  assert_exited(host_run(host, work_sh("exit 0")), 0);
  gsize before_kib = own_rss_kib();
  PawlWork *work = work_sh("echo first; yes 0123456789abcde | head -c 104857600; echo last");
  const PawlReport *ended = host_run(host, work);
  assert_exited(ended, 0);
  g_assert_cmpint(ended->output_bytes, ==, 104857600 + 11);
  GString *text = host_output(host, &ended->fence, PAWL_STREAM_STDOUT), *note = host_output(host, &ended->fence, PAWL_STREAM_NOTE);
  g_assert_cmpuint(text->len, <=, 65536);
  g_assert_cmpuint(text->len, >=, 60000);
  g_assert_cmpint((gint64)text->len + ended->omitted_bytes, ==, ended->output_bytes);
  g_assert_true(g_str_has_prefix(text->str, "first\n0123456789abcde\n"));
  g_assert_true(g_str_has_suffix(text->str, "0123456789abcde\nlast\n"));
  g_autofree char *expected = g_strdup_printf("[%" G_GINT64_FORMAT " bytes left out]", ended->omitted_bytes);
  g_assert_cmpstr(note->str, ==, expected);
  g_assert_cmpuint(host_most_stored_bytes(host, &ended->fence), <=, 65536 + 64);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  g_assert_cmpuint(own_rss_kib(), <, before_kib + 4096);
#else
  (void)before_kib;
#endif
  g_string_free(text, TRUE);
  g_string_free(note, TRUE);
  host_free(host);
}

static void test_binary_output(void) {
  Host *host = host_new();
  const PawlReport *ended = host_run(host, work_sh("printf 'a\\000b\\377\\n\\r'"));
  GString *text = host_output(host, &ended->fence, PAWL_STREAM_STDOUT);
  g_assert_cmpmem(text->str, (int)text->len, "a\0b\377\n\r", 6);
  g_string_free(text, TRUE);
  host_free(host);
}

static void test_secrets(void) {
  Host *host = host_new();
  PawlWork *work = work_sh("printf 'user:hunt'; sleep 0.2; printf 'er22@db hunter22 %s' \"$PW\" >&2; printf 'er22@db'");
  work_setenv(work, "PW=hunter22");
  work_secret(work, "hunter22");
  const PawlReport *ended = host_run(host, work);
  assert_output(host, ended, PAWL_STREAM_STDOUT, "user:***@db");
  assert_output(host, ended, PAWL_STREAM_STDERR, "er22@db *** ***");
  work = work_sh("head -c 200000 /dev/zero | tr '\\0' x; printf hunter22; head -c 200000 /dev/zero | tr '\\0' y");
  work_secret(work, "hunter22");
  work->output_cap_bytes = 1000000;
  ended = host_run(host, work);
  GString *text = host_output(host, &ended->fence, PAWL_STREAM_STDOUT);
  g_assert_cmpuint(text->len, ==, 400003);
  g_assert_nonnull(strstr(text->str, "x***y"));
  g_string_free(text, TRUE);
  host_free(host);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/streams/output-order", test_output_order);
  g_test_add_func("/streams/much-output", test_much_output);
  g_test_add_func("/streams/binary-output", test_binary_output);
  g_test_add_func("/streams/secrets", test_secrets);
  return g_test_run();
}
