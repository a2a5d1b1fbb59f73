/* SPDX-License-Identifier: Apache-2.0 */
/* The link's thread: reports in, batches out to the store, attempts pulled into the room that is free. */
#include "worker/worker.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/log.h"
#include "domain/metrics.h"
#include "store/measure.h"
#include "worker/link_private.h"
#include "worker/output.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RETRY_MIN_MS 100
#define RETRY_MAX_MS 5000
#define FAKE_CLOCK_LOOK_MS 100
#define STOP_WAIT_MS 5000
#define SHORT_OF_MEANS_MS 1000
#define PUT_OFF_MS 50    /* so long, at most, ends and output wait for starts */
#define SKIPPED_MIN_MS 1 /* another replica was inside: it is asked again this soon, then twice as late each time */
#define SKIPPED_MAX_MS 50
#define COMPARE_MS 30000 /* how often, at most, the leases held are compared with the jobs known */

void pawl_job_free(PawlJob *job) {
  if (job == NULL) return;
  pawl_grant_free(job->grant);
  g_clear_pointer(&job->chunks, g_ptr_array_unref);
  g_clear_pointer(&job->ended, pawl_report_free);
  g_free(job->label);
  g_free(job->reason);
  g_free(job->mail_to);
  g_free(job);
}

static void ring(int fd) {
  guint64 one = 1;
  gssize ignored = write(fd, &one, sizeof one);
  (void)ignored;
}

static void unring(int fd) {
  guint64 count;
  gssize ignored = read(fd, &count, sizeof count);
  (void)ignored;
}

/* ---- reports ---- */

/* On the supervisor's thread. */
static void on_report(PawlReport *report, gpointer data) {
  PawlWorker *worker = data;
  pthread_mutex_lock(&worker->lock);
  gboolean was_empty = g_queue_is_empty(&worker->inbox);
  g_queue_push_tail(&worker->inbox, report);
  pthread_mutex_unlock(&worker->lock);
  if (was_empty) ring(worker->wake_fd); /* it is read before the inbox is emptied */
}

static void forget_chunks(PawlJob *job, gint64 from_seq, gint64 before_seq) {
  for (guint i = 0; i < job->chunks->len;) {
    const PawlOutputChunk *chunk = g_ptr_array_index(job->chunks, i);
    if (chunk->seq >= from_seq && chunk->seq < before_seq)
      g_ptr_array_remove_index(job->chunks, i);
    else
      i++;
  }
  job->drop_from = job->drop_before == 0 ? from_seq : MIN(job->drop_from, from_seq);
  job->drop_before = MAX(job->drop_before, before_seq);
}

static void take_output(PawlJob *job, PawlReport *report) {
  if (report->drop_before_seq != 0) forget_chunks(job, report->drop_from_seq, report->drop_before_seq);
  while (report->chunks != NULL && report->chunks->len > 0) g_ptr_array_add(job->chunks, g_ptr_array_steal_index(report->chunks, 0));
}

static void log_start(const PawlJob *job) {
  char id[PAWL_ID_TEXT];
  g_autofree char *message = g_strdup_printf("%s %s started", job->label, pawl_id_short(&job->fence.run, id));
  g_autofree char *attempt = job->fence.attempt > 1 ? g_strdup_printf("%d", job->fence.attempt) : NULL;
  if (job->kind == PAWL_JOB_ATTEMPT) pawl_log(PAWL_LOG_INFO, "run.started", message, "attempt", attempt, NULL);
}

/* By the database's clock: its instant of the grant, and what has passed since by ours. `started_at_ms` is this machine's. */
static void count_start(const PawlWorker *worker, const PawlJob *job) {
  gint64 lease_ms = worker->options.lease_ms, now_boot_ms = pawl_clock_boot_ms();
  if (job->kind == PAWL_JOB_MAIL || job->grant->nominal_at_ms == 0 || job->fence.attempt > 1) return;
  gint64 granted_boot_ms = job->kind == PAWL_JOB_NOOP ? now_boot_ms : job->lease_end_boot_ms - lease_ms + pawl_lease_margin_ms(lease_ms);
  gint64 started_boot_ms = now_boot_ms - (pawl_clock_wall_ms() - job->started_at_ms);
  pawl_metric_observe_ms(
    PAWL_METRIC_START_DELAY, job->grant->acquired_at_ms + started_boot_ms - granted_boot_ms - job->grant->nominal_at_ms);
}

/* Descriptors, processes or memory are short: what was given back is not pulled again at once. */
static void wait_with_pulling(PawlWorker *worker) {
  worker->pull_mono_ms = pawl_clock_mono_ms() + SHORT_OF_MEANS_MS;
  pawl_log(PAWL_LOG_WARNING, "worker.short", "descriptors, processes or memory are short; what could not be started waits a second", NULL);
}

static void take_report(PawlWorker *worker, PawlReport *report) {
  PawlJob *job = g_hash_table_lookup(worker->jobs, &report->fence.run);
  if (job == NULL || !pawl_fence_equal(&job->fence, &report->fence)) {
    pawl_report_free(report);
    return;
  }
  switch (report->kind) {
  case PAWL_REPORT_READY:
    job->runner = report->runner;
    if (job->kind == PAWL_JOB_MAIL)
      pawl_supervisor_go(worker->supervisor, &job->fence);
    else
      job->ready = TRUE;
    break;
  case PAWL_REPORT_STARTED:
    job->started_at_ms = report->at_ms;
    log_start(job);
    count_start(worker, job);
    break;
  case PAWL_REPORT_OUTPUT: take_output(job, report); break;
  case PAWL_REPORT_ENDED:
    job->ended = report;
    job->done = TRUE;
    if (job->kind == PAWL_JOB_ATTEMPT) pawl_link_judge(job);
    if (report->try_again) wait_with_pulling(worker);
    return;
  }
  pawl_report_free(report);
}

static void take_inbox(PawlWorker *worker) {
  GQueue reports = G_QUEUE_INIT;
  pthread_mutex_lock(&worker->lock);
  reports = worker->inbox;
  g_queue_init(&worker->inbox);
  pthread_mutex_unlock(&worker->lock);
  for (PawlReport *report = g_queue_pop_head(&reports); report != NULL; report = g_queue_pop_head(&reports)) take_report(worker, report);
}

/* ---- pulling ---- */

static void fail_at_once(PawlJob *job, const char *reason) {
  job->reason = g_strdup(reason);
  job->finish = (PawlFinish){.run = job->fence.run,
    .token = job->fence.token,
    .attempt = job->fence.attempt,
    .lease_version = job->fence.lease_version,
    .event = PAWL_EVENT_FAIL,
    .reason = job->reason,
    .exit_code = -1};
  job->done = TRUE;
}

static void take_noop(const PawlWorker *worker, PawlJob *job) {
  job->kind = PAWL_JOB_NOOP;
  job->started_at_ms = pawl_clock_wall_ms();
  job->finish = (PawlFinish){.run = job->fence.run,
    .token = job->fence.token,
    .attempt = job->fence.attempt,
    .lease_version = job->fence.lease_version,
    .event = PAWL_EVENT_SUCCEED,
    .exit_code = 0,
    .started_at_ms = job->started_at_ms};
  job->done = TRUE;
  count_start(worker, job);
}

/* `lease_end_boot_ms`: counted from before the pull was sent. */
static void take_grant(PawlWorker *worker, PawlGrant *grant, gint64 lease_end_boot_ms) {
  g_autoptr(GError) failed = NULL;
  PawlJob *job = g_new0(PawlJob, 1);
  job->fence = (PawlFence){grant->run, grant->attempt, grant->lease_version, grant->token};
  job->grant = grant;
  job->label = grant->trigger_name != NULL ? g_strconcat(grant->task_name, "/", grant->trigger_name, NULL) : g_strdup(grant->task_name);
  job->chunks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_output_chunk_free);
  g_hash_table_insert(worker->jobs, &job->fence.run, job);
  const PawlTaskSpec *spec = pawl_store_task_spec(worker->store, &grant->task, grant->task_revision, &failed);
  if (spec == NULL) {
    fail_at_once(job, failed->message);
    return;
  }
  job->retry_later = spec->retry_later;
  job->mail_to = g_strdup(spec->mail_to);
  job->mail_when = spec->mail_when;
  if (spec->kind == PAWL_WORK_NOOP) {
    take_noop(worker, job);
    return;
  }
  PawlWork *work = pawl_link_work(&worker->options, grant, spec, &failed);
  if (work == NULL) {
    fail_at_once(job, failed->message);
    return;
  }
  work->lease_end_boot_ms = job->lease_end_boot_ms = lease_end_boot_ms;
  job->begins = TRUE;
  g_array_append_val(worker->fresh, job->fence);
  pawl_supervisor_submit(worker->supervisor, work);
}

/* A pass that fails for something else than the store as a whole has met a damaged row: those are put aside, and it is made once more. */
static gboolean pull_some(PawlWorker *worker, guint room, GPtrArray *grants, PawlPassResult *result, GError **error) {
  g_autoptr(GError) failed = NULL;
  guint found = 0;
  gint64 lease_ms = worker->options.lease_ms;
  if (pawl_store_pull(worker->store, &worker->session, room, lease_ms, grants, result, &failed)) return TRUE;
  if (pawl_error_info_of(failed)->retry) {
    g_propagate_error(error, g_steal_pointer(&failed));
    return FALSE;
  }
  if (!pawl_store_drift(worker->store, &found, error)) return FALSE;
  pawl_metric_add(PAWL_METRIC_DRIFT, 0, found);
  g_autofree char *count = g_strdup_printf("%u", found);
  pawl_log(PAWL_LOG_ERROR, "recovery.drift", "runs were put aside as manual; `pawl explain RUN` says why", "runs", count, "reason",
    failed->message, NULL);
  return pawl_store_pull(worker->store, &worker->session, room, lease_ms, grants, result, error);
}

static gboolean pull(PawlWorker *worker, GError **error) {
  PawlPassResult result;
  g_autoptr(GPtrArray) grants = g_ptr_array_new();
  guint busy = g_hash_table_size(worker->jobs);
  gboolean closed = atomic_load(&worker->draining) || pawl_clock_mono_ms() < worker->pull_mono_ms;
  guint room = busy < (guint)worker->options.slots && !closed ? (guint)worker->options.slots - busy : 0;
  gint64 lease_ms = worker->options.lease_ms;
  gint64 lease_end_boot_ms = pawl_clock_boot_ms() + lease_ms - pawl_lease_margin_ms(lease_ms);
  if (!pull_some(worker, room, grants, &result, error)) {
    atomic_store(&worker->work_waits, TRUE);
    return FALSE;
  }
  for (guint i = 0; i < grants->len; i++) take_grant(worker, g_ptr_array_index(grants, i), lease_end_boot_ms);
  worker->pulled = TRUE;
  if (result.more) atomic_store(&worker->work_waits, TRUE);
  worker->skipped_ms = result.skipped ? CLAMP(worker->skipped_ms * 2, SKIPPED_MIN_MS, SKIPPED_MAX_MS) : 0;
  if (worker->skipped_ms != 0) worker->pull_mono_ms = MAX(worker->pull_mono_ms, pawl_clock_mono_ms() + worker->skipped_ms);
  return TRUE;
}

/* What a pull leaves for when its starts are under way. */
static void tidy_pull(PawlWorker *worker) {
  gint64 ready;
  for (guint i = 0; i < worker->fresh->len; i++) pawl_renewer_add(worker->renewer, &g_array_index(worker->fresh, PawlFence, i));
  g_array_set_size(worker->fresh, 0);
  /* A shared store is looked at by the engine, in its rhythm and by the server's clock. */
  if (worker->pulled && !pawl_store_shared(worker->store) && !pawl_store_waiting(worker->store, &ready, &worker->wake_at_ms, NULL))
    atomic_store(&worker->work_waits, TRUE);
  worker->pulled = FALSE;
}

static gboolean stop_cancelled(PawlWorker *worker, GError **error) {
  g_autoptr(GArray) cancelled = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (g_hash_table_size(worker->jobs) == 0) return TRUE;
  if (!pawl_store_cancelled_leases(worker->store, &worker->session, cancelled, error)) return FALSE;
  for (guint i = 0; i < cancelled->len; i++) {
    const PawlJob *job = g_hash_table_lookup(worker->jobs, &g_array_index(cancelled, PawlId, i));
    if (job != NULL) pawl_supervisor_stop(worker->supervisor, &job->fence, PAWL_STOP_CANCEL);
  }
  return TRUE;
}

/* A grant whose COMMIT was answered by an error, and yet happened, is a lease that this worker holds without knowing of it: nothing of it
 * runs. */
static gboolean settle_unknown(PawlWorker *worker, GError **error) {
  g_autoptr(GArray) held = g_array_new(FALSE, FALSE, sizeof(PawlOrphan));
  if (pawl_clock_mono_ms() < worker->compare_mono_ms) return TRUE;
  if (!pawl_store_held(worker->store, &worker->session, held, error)) return FALSE;
  for (guint i = 0; i < held->len; i++) {
    const PawlOrphan *lease = &g_array_index(held, PawlOrphan, i);
    if (g_hash_table_contains(worker->jobs, &lease->run)) continue;
    g_autoptr(GError) failed = NULL;
    gboolean took = FALSE;
    if (pawl_store_orphan_settle(worker->store, lease, "its worker never heard of it", &took, &failed)) {
      if (took) pawl_log(PAWL_LOG_WARNING, "attempt.unknown", "a lease was held that nobody knew of; it is settled", NULL);
    } else
      pawl_log(PAWL_LOG_ERROR, "attempt.unknown", "a lease that nobody knows of cannot be settled", "reason", failed->message, NULL);
  }
  worker->compare_mono_ms = pawl_clock_mono_ms() + COMPARE_MS;
  return TRUE;
}

/* ---- the loop ---- */

static gboolean is_due(const PawlWorker *worker) { return worker->wake_at_ms != 0 && worker->wake_at_ms <= pawl_clock_wall_ms(); }

static gboolean pull_what_waits(PawlWorker *worker, GError **error) {
  if (!atomic_exchange(&worker->work_waits, FALSE) && !is_due(worker)) return TRUE;
  return stop_cancelled(worker, error) && settle_unknown(worker, error) && pull(worker, error);
}

/* Starts come first: while some of what was handed out has not begun, what others wrote and how they ended is put off, a little. A start
 * uses up what is handed out, and more is handed out only for room that recorded ends have made, so this ends by itself. */
static gboolean may_put_off(PawlWorker *worker) {
  GHashTableIter iter;
  gpointer value;
  gboolean some_begin = FALSE;
  g_hash_table_iter_init(&iter, worker->jobs);
  while (!some_begin && g_hash_table_iter_next(&iter, NULL, &value)) {
    const PawlJob *job = value;
    some_begin = job->begins && !job->done;
  }
  if (!some_begin)
    worker->put_off_until_mono_ms = 0;
  else if (worker->put_off_until_mono_ms == 0)
    worker->put_off_until_mono_ms = pawl_clock_mono_ms() + PUT_OFF_MS;
  return some_begin && pawl_clock_mono_ms() < worker->put_off_until_mono_ms;
}

static gboolean work_once(PawlWorker *worker, GError **error) {
  take_inbox(worker);
  if (!pawl_link_record_starts(worker, error)) return FALSE;
  gboolean pulled = pull_what_waits(worker, error);
  if (may_put_off(worker)) return pulled;
  worker->put_off_until_mono_ms = 0;
  tidy_pull(worker);
  GError **later = pulled ? error : NULL; /* what cannot be pulled keeps no end from being recorded */
  return pawl_link_record_output(worker, later) && pawl_link_record_ends(worker, later) && pulled;
}

/* Milliseconds until something is to be done without anybody ringing; -1: nothing is. */
static int wait_ms(PawlWorker *worker) {
  gint64 ms = -1;
  if (worker->retry_ms != 0) return (int)worker->retry_ms;
  if (atomic_load(&worker->work_waits)) return 0;
  if (worker->put_off_until_mono_ms != 0) return (int)CLAMP(worker->put_off_until_mono_ms - pawl_clock_mono_ms(), 0, PUT_OFF_MS);
  if (worker->pull_mono_ms != 0) {
    ms = MAX(worker->pull_mono_ms - pawl_clock_mono_ms(), 0);
    if (ms == 0) {
      worker->pull_mono_ms = 0;
      atomic_store(&worker->work_waits, TRUE);
    }
    return (int)ms;
  }
  if (worker->wake_at_ms != 0) ms = CLAMP(worker->wake_at_ms - pawl_clock_wall_ms(), 0, 60000);
  if (getenv("PAWL_FAULT_CLOCK") != NULL && (ms < 0 || ms > FAKE_CLOCK_LOOK_MS)) ms = FAKE_CLOCK_LOOK_MS;
  return (int)ms;
}

static void note_failure(PawlWorker *worker, const GError *error) {
  pawl_count_store_error(error);
  gboolean first = worker->retry_ms == 0;
  worker->retry_ms = first ? RETRY_MIN_MS : MIN(worker->retry_ms * 2, RETRY_MAX_MS);
  if (first || worker->retry_ms == RETRY_MAX_MS)
    pawl_log(
      PAWL_LOG_ERROR, "store.failed", "the store cannot be used; what ended is kept and recorded later", "reason", error->message, NULL);
}

/* `drain_seen`: this round knew that nothing is to be pulled any more, so the count can only fall. */
static void publish_count(PawlWorker *worker, gboolean drain_seen) {
  guint jobs = g_hash_table_size(worker->jobs), slots = (guint)worker->options.slots;
  GHashTableIter iter;
  gpointer job;
  guint running = 0;
  g_hash_table_iter_init(&iter, worker->jobs);
  while (g_hash_table_iter_next(&iter, NULL, &job)) running += !((PawlJob *)job)->done;
  atomic_store(&worker->active, jobs);
  pawl_metric_set(PAWL_METRIC_SLOTS, 0, slots);
  pawl_metric_set(PAWL_METRIC_SLOTS_FREE, 0, slots > jobs ? slots - jobs : 0);
  atomic_store(&worker->running, running);
  if (drain_seen) atomic_store(&worker->drain_seen, TRUE);
  if (drain_seen && jobs == 0) ring(worker->idle_fd);
}

static gboolean may_end(PawlWorker *worker) {
  if (!atomic_load(&worker->stopping)) return FALSE;
  if (worker->stop_by_mono_ms == 0) worker->stop_by_mono_ms = pawl_clock_mono_ms() + STOP_WAIT_MS;
  return g_hash_table_size(worker->jobs) == 0 || pawl_clock_mono_ms() > worker->stop_by_mono_ms;
}

static void *run(void *data) {
  PawlWorker *worker = data;
  while (!may_end(worker)) {
    g_autoptr(GError) failed = NULL;
    pawl_pulse_busy(&worker->pulse);
    gboolean drain_seen = atomic_load(&worker->draining);
    if (work_once(worker, &failed))
      worker->retry_ms = 0;
    else
      note_failure(worker, failed);
    publish_count(worker, drain_seen);
    pawl_store_count_reconnects(worker->store, &worker->connection);
    struct pollfd fd = {.fd = worker->wake_fd, .events = POLLIN};
    int ms = atomic_load(&worker->stopping) ? 100 : wait_ms(worker);
    if (ms != 0) {
      pawl_pulse_sleep(&worker->pulse, ms);
      poll(&fd, 1, ms);
      unring(worker->wake_fd);
    }
  }
  pawl_pulse_end(&worker->pulse);
  return NULL;
}

/* ---- outside ---- */

static PawlWorkerOptions copy_options(const PawlWorkerOptions *options) {
  PawlWorkerOptions copy = *options;
  copy.url = g_strdup(options->url);
  copy.actor = g_strdup(options->actor);
  copy.name = g_strdup(options->name);
  copy.runner_path = g_strdup(options->runner_path);
  copy.allow_users = g_strdupv(options->allow_users);
  return copy;
}

static void free_options(PawlWorkerOptions *options) {
  g_free((char *)options->url);
  g_free((char *)options->actor);
  g_free((char *)options->name);
  g_free((char *)options->runner_path);
  g_strfreev(options->allow_users);
}

static gboolean open_session(PawlWorker *worker, GError **error) {
  gint64 generation;
  PawlSession session = {.id = worker->session,
    .name = (char *)worker->options.name,
    .capacity = worker->options.slots,
    .boot_id = (char *)pawl_boot_id(),
    .pid = getpid()};
  return pawl_store_session_open(worker->store, &session, &generation, error);
}

PawlWorker *pawl_worker_new(const PawlWorkerOptions *options, GError **error) {
  PawlWorker *worker = g_new0(PawlWorker, 1);
  PawlStoreOptions how = {.url = options->url, .mode = PAWL_DB_READ_WRITE, .actor = options->actor};
  PawlSupervisorOptions watch = {.runner_path = options->runner_path, .report = on_report, .data = worker, .reap_orphans = getpid() == 1};
  worker->options = copy_options(options);
  worker->session = pawl_id_new(pawl_clock_wall_ms());
  worker->fresh = g_array_new(FALSE, FALSE, sizeof(PawlFence));
  worker->jobs = g_hash_table_new_full(pawl_id_hash, pawl_id_equal_p, NULL, (GDestroyNotify)pawl_job_free);
  worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  worker->idle_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  pthread_mutex_init(&worker->lock, NULL);
  g_queue_init(&worker->inbox);
  atomic_store(&worker->work_waits, TRUE);
  worker->store = pawl_store_open(&how, error);
  if (worker->store == NULL || !open_session(worker, error) || (worker->supervisor = pawl_supervisor_new(&watch, error)) == NULL ||
      (worker->renewer = pawl_renewer_new(worker, error)) == NULL) {
    pawl_worker_free(worker);
    return NULL;
  }
  return worker;
}

const PawlId *pawl_worker_session(const PawlWorker *worker) { return &worker->session; }

void pawl_worker_start(PawlWorker *worker) {
  worker->started = pthread_create(&worker->thread, NULL, run, worker) == 0;
  g_assert(worker->started);
  pthread_setname_np(worker->thread, "pawl-link");
}

void pawl_worker_wake(PawlWorker *worker) {
  atomic_store(&worker->work_waits, TRUE);
  ring(worker->wake_fd);
}

void pawl_worker_drain(PawlWorker *worker) {
  atomic_store(&worker->draining, TRUE);
  pawl_worker_wake(worker);
}

guint pawl_worker_active(PawlWorker *worker) {
  gboolean pulling = atomic_load(&worker->draining) && !atomic_load(&worker->drain_seen);
  return atomic_load(&worker->active) + (pulling ? 1 : 0);
}

guint pawl_worker_running(PawlWorker *worker) { return atomic_load(&worker->running); }
gint64 pawl_worker_overdue_ms(const PawlWorker *worker, const char **ret_thread) {
  gint64 link_ms = pawl_pulse_overdue_ms(&worker->pulse), renewer_ms = pawl_renewer_overdue_ms(worker->renewer);
  gint64 supervisor_ms = pawl_supervisor_overdue_ms(worker->supervisor), most_ms = MAX(link_ms, MAX(renewer_ms, supervisor_ms));
  *ret_thread = most_ms == link_ms ? "link" : most_ms == renewer_ms ? "renewer" : "supervisor";
  return most_ms;
}

int pawl_worker_idle_fd(const PawlWorker *worker) { return worker->idle_fd; }
void pawl_worker_stop_all(PawlWorker *worker, gboolean at_once) { pawl_supervisor_stop_all(worker->supervisor, PAWL_STOP_DRAIN, at_once); }

void pawl_worker_free(PawlWorker *worker) {
  if (worker == NULL) return;
  g_autoptr(GError) failed = NULL;
  if (worker->started) {
    atomic_store(&worker->draining, TRUE);
    atomic_store(&worker->stopping, TRUE);
    pawl_worker_wake(worker);
    pthread_join(worker->thread, NULL);
  }
  pawl_renewer_free(worker->renewer);
  if (worker->supervisor != NULL) pawl_supervisor_free(worker->supervisor);
  take_inbox(worker);
  if (worker->store != NULL && worker->started && !pawl_store_session_close(worker->store, &worker->session, &failed))
    pawl_log(PAWL_LOG_WARNING, "session.close_failed", "the worker's session could not be closed", "reason", failed->message, NULL);
  g_hash_table_unref(worker->jobs);
  g_array_unref(worker->fresh);
  pawl_store_close(worker->store);
  close(worker->wake_fd);
  close(worker->idle_fd);
  pthread_mutex_destroy(&worker->lock);
  free_options(&worker->options);
  g_free(worker);
}
