/* SPDX-License-Identifier: Apache-2.0 */
#include "test_worker_harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct Host {
  PawlSupervisor *supervisor;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  GPtrArray *reports; /* PawlReport * */
  gboolean hold;
};

static void take_report(PawlReport *report, gpointer data) {
  Host *host = data;
  pthread_mutex_lock(&host->lock);
  gboolean go = report->kind == PAWL_REPORT_READY && !host->hold;
  PawlFence fence = report->fence;
  g_ptr_array_add(host->reports, report);
  PawlSupervisor *supervisor = host->supervisor;
  pthread_cond_broadcast(&host->changed);
  pthread_mutex_unlock(&host->lock);
  if (go) pawl_supervisor_go(supervisor, &fence);
}

const char *runner_path(void) {
  const char *path = g_getenv("PAWL_RUNNER");
  if (!path) g_error("PAWL_RUNNER is not set: run this by `meson test`");
  return path;
}

static Host *new_host(const char *path, gboolean as_init) {
  Host *host = g_new0(Host, 1);
  g_autoptr(GError) error = NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&host->lock, NULL);
  pthread_cond_init(&host->changed, &attributes);
  host->reports = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_report_free);
  PawlSupervisorOptions options = {.runner_path = path, .report = take_report, .data = host, .reap_orphans = as_init};
  pthread_mutex_lock(&host->lock);
  host->supervisor = pawl_supervisor_new(&options, &error);
  pthread_mutex_unlock(&host->lock);
  g_assert_no_error(error);
  return host;
}

Host *host_new(void) { return new_host(runner_path(), FALSE); }
Host *host_new_with(const char *path) { return new_host(path, FALSE); }
Host *host_new_as_init(void) { return new_host(runner_path(), TRUE); }

void host_hold(Host *host) {
  pthread_mutex_lock(&host->lock);
  host->hold = TRUE;
  pthread_mutex_unlock(&host->lock);
}

PawlSupervisor *host_supervisor(Host *host) { return host->supervisor; }

void host_free(Host *host) {
  pawl_supervisor_free(host->supervisor);
  g_assert_cmpuint(own_children(), ==, 0);
  g_ptr_array_unref(host->reports);
  pthread_cond_destroy(&host->changed);
  pthread_mutex_destroy(&host->lock);
  g_free(host);
}

PawlWork *work_new(char *const *argv) {
  char run[PAWL_ID_TEXT];
  PawlWork *work = g_new0(PawlWork, 1);
  work->fence = (PawlFence){.run = pawl_id_new(pawl_clock_wall_ms()), .attempt = 1, .lease_version = 1, .token = pawl_id_random()};
  work->argv = g_strdupv((char **)argv);
  work->envp = g_new0(char *, 1);
  work_setenv(work, "PATH=/usr/local/bin:/usr/bin:/bin");
  work_setenv(work, "PAWL_ATTEMPT=1");
  g_autofree char *mark = g_strconcat("PAWL_RUN_ID=", pawl_id_text(&work->fence.run, run), NULL);
  work_setenv(work, mark);
  work->cwd = g_strdup("/");
  work->umask = -1;
  work->kill_after_ms = 10000;
  work->drain_output_ms = 2000;
  work->output_cap_bytes = 64 * 1024;
  return work;
}

PawlWork *work_sh(const char *script) {
  char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
  return work_new(argv);
}

void work_setenv(PawlWork *work, const char *entry) {
  guint n = g_strv_length(work->envp);
  work->envp = g_renew(char *, work->envp, n + 2);
  work->envp[n] = g_strdup(entry);
  work->envp[n + 1] = NULL;
}

void work_secret(PawlWork *work, const char *secret) {
  if (!work->secrets) work->secrets = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(work->secrets, g_strdup(secret));
}

PawlFence host_submit(Host *host, PawlWork *work) {
  PawlFence fence = work->fence;
  pawl_supervisor_submit(host->supervisor, work);
  return fence;
}

static const PawlReport *find(Host *host, const PawlFence *fence, PawlReportKind kind) {
  for (guint i = 0; i < host->reports->len; i++) {
    const PawlReport *report = g_ptr_array_index(host->reports, i);
    if (report->kind == kind && pawl_fence_equal(&report->fence, fence)) return report;
  }
  return NULL;
}

const PawlReport *host_peek(Host *host, const PawlFence *fence, PawlReportKind kind) {
  pthread_mutex_lock(&host->lock);
  const PawlReport *report = find(host, fence, kind);
  pthread_mutex_unlock(&host->lock);
  return report;
}

guint host_count(Host *host, const PawlFence *fence, PawlReportKind kind) {
  guint n = 0;
  pthread_mutex_lock(&host->lock);
  for (guint i = 0; i < host->reports->len; i++) {
    const PawlReport *report = g_ptr_array_index(host->reports, i);
    n += report->kind == kind && pawl_fence_equal(&report->fence, fence);
  }
  pthread_mutex_unlock(&host->lock);
  return n;
}

const PawlReport *host_wait(Host *host, const PawlFence *fence, PawlReportKind kind) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 3 * DEADLINE_MS / 1000;
  pthread_mutex_lock(&host->lock);
  const PawlReport *report;
  int failed = 0;
  while (!(report = find(host, fence, kind)) && !failed) failed = pthread_cond_timedwait(&host->changed, &host->lock, &until);
  pthread_mutex_unlock(&host->lock);
  if (!report) g_error("no report of kind %d came", kind);
  return report;
}

const PawlReport *host_run(Host *host, PawlWork *work) {
  PawlFence fence = host_submit(host, work);
  return host_wait(host, &fence, PAWL_REPORT_ENDED);
}

static gint by_seq(gconstpointer a, gconstpointer b) {
  const PawlOutputChunk *x = *(PawlOutputChunk *const *)a, *y = *(PawlOutputChunk *const *)b;
  return (x->seq > y->seq) - (x->seq < y->seq);
}

static void store(GPtrArray *stored, const PawlReport *report) {
  for (guint i = 0; i < stored->len;) {
    const PawlOutputChunk *chunk = g_ptr_array_index(stored, i);
    if (chunk->seq >= report->drop_from_seq && chunk->seq < report->drop_before_seq)
      g_ptr_array_remove_index(stored, i);
    else
      i++;
  }
  for (guint i = 0; i < report->chunks->len; i++) g_ptr_array_add(stored, g_ptr_array_index(report->chunks, i));
}

static gsize stored_bytes(const GPtrArray *stored) {
  gsize n = 0;
  for (guint i = 0; i < stored->len; i++) n += g_bytes_get_size(((PawlOutputChunk *)g_ptr_array_index(stored, i))->bytes);
  return n;
}

static GPtrArray *replay(Host *host, const PawlFence *fence, gsize *ret_most_bytes) {
  GPtrArray *stored = g_ptr_array_new();
  pthread_mutex_lock(&host->lock);
  for (guint i = 0; i < host->reports->len; i++) {
    const PawlReport *report = g_ptr_array_index(host->reports, i);
    if (report->kind != PAWL_REPORT_OUTPUT || !pawl_fence_equal(&report->fence, fence)) continue;
    store(stored, report);
    *ret_most_bytes = MAX(*ret_most_bytes, stored_bytes(stored));
  }
  pthread_mutex_unlock(&host->lock);
  g_ptr_array_sort(stored, by_seq);
  return stored;
}

GPtrArray *host_chunks(Host *host, const PawlFence *fence) {
  gsize most = 0;
  return replay(host, fence, &most);
}

gsize host_most_stored_bytes(Host *host, const PawlFence *fence) {
  gsize most = 0;
  g_ptr_array_unref(replay(host, fence, &most));
  return most;
}

GString *host_output(Host *host, const PawlFence *fence, PawlStream stream) {
  g_autoptr(GPtrArray) stored = host_chunks(host, fence);
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < stored->len; i++) {
    const PawlOutputChunk *chunk = g_ptr_array_index(stored, i);
    gsize n;
    const char *bytes = g_bytes_get_data(chunk->bytes, &n);
    if (stream == 0 || chunk->stream == stream) g_string_append_len(text, bytes, (gssize)n);
  }
  return text;
}

static gboolean output_contains(Host *host, const PawlFence *fence, const char *text) {
  GString *output = host_output(host, fence, PAWL_STREAM_STDOUT);
  gboolean found = strstr(output->str, text) != NULL;
  g_string_free(output, TRUE);
  return found;
}

void host_wait_output(Host *host, const PawlFence *fence, const char *text) {
  gint64 until_ms = pawl_clock_mono_ms() + DEADLINE_MS;
  while (!output_contains(host, fence, text)) {
    if (pawl_clock_mono_ms() > until_ms) g_error("the output never contained \"%s\"", text);
    g_usleep(2000);
  }
}

typedef gboolean (*Matches)(const char *folder, gconstpointer data);

static guint count_processes(Matches matches, gconstpointer data) {
  guint n = 0;
  g_autoptr(GDir) dir = g_dir_open("/proc", 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir));) {
    g_autofree char *folder = g_build_filename("/proc", name, NULL);
    if (g_ascii_isdigit(*name) && matches(folder, data)) n++;
  }
  return n;
}

/* The letter of its state and its parent; FALSE: no such process. */
static gboolean stat_of(const char *folder, char *ret_state, int *ret_parent) {
  g_autofree char *path = g_build_filename(folder, "stat", NULL), *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return FALSE;
  const char *at = strrchr(text, ')');
  if (!at) return FALSE;
  *ret_state = at[2];
  *ret_parent = atoi(at + 4);
  return TRUE;
}

static gboolean file_has(const char *folder, const char *file, const char *what) {
  char state;
  int parent;
  g_autofree char *path = g_build_filename(folder, file, NULL), *text = NULL;
  gsize n;
  if (!stat_of(folder, &state, &parent) || state == 'Z' || state == 'X') return FALSE;
  return g_file_get_contents(path, &text, &n, NULL) && memmem(text, n, what, strlen(what)) != NULL;
}

static gboolean has_environment(const char *folder, gconstpointer what) { return file_has(folder, "environ", what); }
static gboolean has_command(const char *folder, gconstpointer what) { return file_has(folder, "cmdline", what); }

static gboolean is_own_zombie(const char *folder, gconstpointer unused) {
  char state;
  int parent;
  return stat_of(folder, &state, &parent) && parent == getpid() && state == 'Z';
}

static gboolean is_own_child(const char *folder, gconstpointer unused) {
  char state;
  int parent;
  return stat_of(folder, &state, &parent) && parent == getpid();
}

guint marked_processes(const PawlFence *fence) {
  char run[PAWL_ID_TEXT];
  g_autofree char *mark = g_strconcat("PAWL_RUN_ID=", pawl_id_text(&fence->run, run), NULL);
  return count_processes(has_environment, mark);
}

guint named_processes(const char *text) { return count_processes(has_command, text); }
guint own_zombies(void) { return count_processes(is_own_zombie, NULL); }
guint own_children(void) { return count_processes(is_own_child, NULL); }

char *unique_name(const char *prefix) {
  char text[PAWL_ID_TEXT];
  PawlId id = pawl_id_random();
  return g_strconcat(prefix, pawl_id_text(&id, text), NULL);
}

void assert_exited(const PawlReport *ended, gint code) {
  if (ended->end != PAWL_END_EXITED || ended->code != code)
    g_error(
      "end %d code %d signal %d stop %d: %s", ended->end, ended->code, ended->signal, ended->stop, ended->detail ? ended->detail : "");
}

void assert_signalled(const PawlReport *ended, gint signal) {
  if (ended->end != PAWL_END_SIGNALLED || ended->signal != signal)
    g_error(
      "end %d code %d signal %d stop %d: %s", ended->end, ended->code, ended->signal, ended->stop, ended->detail ? ended->detail : "");
}

void assert_output(Host *host, const PawlReport *ended, PawlStream stream, const char *expected) {
  GString *text = host_output(host, &ended->fence, stream);
  g_assert_cmpstr(text->str, ==, expected);
  g_string_free(text, TRUE);
}
