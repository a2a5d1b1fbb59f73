/* SPDX-License-Identifier: Apache-2.0 */
/* What the link writes, in batches: starts, output, ends. A batch that fails stays as it was and is written again later. */
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/log.h"
#include "worker/link_private.h"

static PawlJob *next_job(GHashTableIter *iter) {
  gpointer job;
  return g_hash_table_iter_next(iter, NULL, &job) ? job : NULL;
}

static PawlJob *job_of(PawlWorker *worker, const PawlId *run) { return g_hash_table_lookup(worker->jobs, run); }

/* ---- starts ---- */

static GArray *collect_starts(PawlWorker *worker) {
  GArray *starts = g_array_new(FALSE, TRUE, sizeof(PawlStart));
  GHashTableIter iter;
  g_hash_table_iter_init(&iter, worker->jobs);
  for (PawlJob *job = next_job(&iter); job != NULL; job = next_job(&iter)) {
    if (!job->ready || job->done) continue;
    if (pawl_clock_boot_ms() >= job->lease_end_boot_ms) { /* pawl was frozen: nothing of it has run, and it waits again */
      job->begins = job->ready = FALSE;
      pawl_supervisor_stop(worker->supervisor, &job->fence, PAWL_STOP_LEASE);
      continue;
    }
    PawlStart start = {.run = job->fence.run,
      .token = job->fence.token,
      .attempt = job->fence.attempt,
      .lease_version = job->fence.lease_version,
      .pid = job->runner.pid,
      .start_ticks = (gint64)job->runner.start_ticks};
    g_strlcpy(start.boot_id, job->runner.boot_id, sizeof start.boot_id);
    g_array_append_val(starts, start);
  }
  return starts;
}

/* A start that is refused was cancelled in time, or its fence fell. */
static gboolean refuse(PawlWorker *worker, const PawlJob *job, GError **error) {
  gboolean asked = FALSE;
  g_autoptr(GArray) cancelled = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_cancelled_leases(worker->store, &worker->session, cancelled, error)) return FALSE;
  for (guint i = 0; i < cancelled->len; i++) asked |= pawl_id_equal(&g_array_index(cancelled, PawlId, i), &job->fence.run);
  pawl_supervisor_stop(worker->supervisor, &job->fence, asked ? PAWL_STOP_CANCEL : PAWL_STOP_LEASE);
  return TRUE;
}

/* Whether the store as a whole, and not what was asked of it, is what failed: then all of it is asked again later. */
static gboolean store_failed(const GError *error) { return pawl_error_info_of(error)->retry; }

/* What cannot be recorded is not started; a failure is halved until it stands alone. */
static gboolean start_some(PawlWorker *worker, PawlStart *starts, guint n, GError **error) {
  GError *failed = NULL;
  if (pawl_store_start(worker->store, starts, n, &failed)) return TRUE;
  if (store_failed(failed)) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  if (n > 1) {
    g_error_free(failed);
    return start_some(worker, starts, n / 2, error) && start_some(worker, starts + n / 2, n - n / 2, error);
  }
  pawl_log(
    PAWL_LOG_ERROR, "start.failed", "the start of an attempt could not be recorded; it is not started", "reason", failed->message, NULL);
  g_error_free(failed);
  return TRUE;
}

gboolean pawl_link_record_starts(PawlWorker *worker, GError **error) {
  g_autoptr(GArray) starts = collect_starts(worker);
  if (starts->len == 0) return TRUE;
  if (!start_some(worker, (PawlStart *)starts->data, starts->len, error)) return FALSE;
  for (guint i = 0; i < starts->len; i++) {
    const PawlStart *start = &g_array_index(starts, PawlStart, i);
    PawlJob *job = job_of(worker, &start->run);
    PAWL_FAULT("start.before_go");
    job->begins = job->ready = FALSE;
    if (start->accepted)
      pawl_supervisor_go(worker->supervisor, &job->fence);
    else if (!refuse(worker, job, error)) {
      pawl_supervisor_stop(worker->supervisor, &job->fence, PAWL_STOP_LEASE);
      return FALSE;
    }
  }
  return TRUE;
}

/* ---- output ---- */

static void collect_output(PawlJob *job, GArray *rows, GArray *drops) {
  if (job->kind != PAWL_JOB_ATTEMPT) return;
  if (job->drop_before != 0) {
    PawlOutputDrop drop = {job->fence.run, job->fence.attempt, job->fence.lease_version, job->drop_from, job->drop_before};
    g_array_append_val(drops, drop);
  }
  for (guint i = 0; i < job->chunks->len; i++) {
    const PawlOutputChunk *chunk = g_ptr_array_index(job->chunks, i);
    PawlOutputRow row = {.run = job->fence.run,
      .attempt = job->fence.attempt,
      .lease_version = job->fence.lease_version,
      .seq = chunk->seq,
      .at_ms = chunk->at_ms,
      .stream = (gint)chunk->stream};
    row.bytes = g_bytes_get_data(chunk->bytes, &row.n_bytes);
    g_array_append_val(rows, row);
  }
}

static gboolean append(PawlWorker *worker, const GArray *rows, const GArray *drops, GError **error) {
  GError *failed = NULL;
  if (pawl_store_output_append(worker->store, (PawlOutputRow *)rows->data, rows->len, (PawlOutputDrop *)drops->data, drops->len, &failed))
    return TRUE;
  if (store_failed(failed)) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  pawl_log(PAWL_LOG_ERROR, "output.failed", "some output could not be stored and is lost", "reason", failed->message, NULL);
  g_error_free(failed);
  return TRUE;
}

gboolean pawl_link_record_output(PawlWorker *worker, GError **error) {
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(PawlOutputRow));
  g_autoptr(GArray) drops = g_array_new(FALSE, FALSE, sizeof(PawlOutputDrop));
  GHashTableIter iter;
  g_hash_table_iter_init(&iter, worker->jobs);
  for (PawlJob *job = next_job(&iter); job != NULL; job = next_job(&iter)) collect_output(job, rows, drops);
  if (rows->len == 0 && drops->len == 0) return TRUE;
  if (!append(worker, rows, drops, error)) return FALSE;
  g_hash_table_iter_init(&iter, worker->jobs);
  for (PawlJob *job = next_job(&iter); job != NULL; job = next_job(&iter)) {
    if (job->chunks != NULL) g_ptr_array_set_size(job->chunks, 0);
    job->drop_from = job->drop_before = 0;
  }
  return TRUE;
}

/* ---- ends ---- */

static void after_end(PawlWorker *worker, PawlJob *job) {
  pawl_link_log_end(job);
  PawlWork *mail = job->finish.accepted ? pawl_link_mail(worker, job) : NULL;
  pawl_renewer_remove(worker->renewer, &job->fence);
  g_hash_table_remove(worker->jobs, &job->fence.run);
  if (mail == NULL) return;
  PawlJob *sender = g_new0(PawlJob, 1);
  sender->kind = PAWL_JOB_MAIL;
  sender->fence = mail->fence;
  sender->label = g_strdup(mail->label);
  sender->chunks = g_ptr_array_new();
  g_hash_table_insert(worker->jobs, &sender->fence.run, sender);
  pawl_supervisor_submit(worker->supervisor, mail);
}

static void mail_ended(PawlWorker *worker, PawlJob *job) {
  if (job->ended->end != PAWL_END_EXITED || job->ended->code != 0)
    pawl_log(PAWL_LOG_WARNING, "mail.failed", "a mail could not be sent", "mail", job->label, "reason", job->ended->detail, NULL);
  g_hash_table_remove(worker->jobs, &job->fence.run);
}

/* A failure is halved until the bad end stands alone; that one is left to the search for drift, which puts it aside for a person. */
static gboolean finish_some(PawlWorker *worker, PawlFinish *finishes, guint n, GError **error) {
  GError *failed = NULL;
  if (pawl_store_finish(worker->store, finishes, n, &failed)) {
    for (guint i = 0; i < n; i++) {
      PawlJob *job = job_of(worker, &finishes[i].run);
      job->finish = finishes[i];
      after_end(worker, job);
    }
    return TRUE;
  }
  if (store_failed(failed)) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  if (n > 1) {
    g_error_free(failed);
    return finish_some(worker, finishes, n / 2, error) && finish_some(worker, finishes + n / 2, n - n / 2, error);
  }
  PawlJob *job = job_of(worker, &finishes->run);
  pawl_log(
    PAWL_LOG_ERROR, "finish.failed", "the end of an attempt could not be recorded", "job", job->label, "reason", failed->message, NULL);
  g_error_free(failed);
  pawl_renewer_remove(worker->renewer, &job->fence);
  g_hash_table_remove(worker->jobs, &job->fence.run);
  guint found;
  return pawl_store_drift(worker->store, &found, error);
}

gboolean pawl_link_record_ends(PawlWorker *worker, GError **error) {
  g_autoptr(GArray) finishes = g_array_new(FALSE, FALSE, sizeof(PawlFinish));
  g_autoptr(GPtrArray) mails = g_ptr_array_new();
  GHashTableIter iter;
  g_hash_table_iter_init(&iter, worker->jobs);
  for (PawlJob *job = next_job(&iter); job != NULL; job = next_job(&iter)) {
    if (job->done && job->kind == PAWL_JOB_MAIL)
      g_ptr_array_add(mails, job);
    else if (job->done)
      g_array_append_val(finishes, job->finish);
  }
  for (guint i = 0; i < mails->len; i++) mail_ended(worker, g_ptr_array_index(mails, i));
  if (finishes->len == 0) return TRUE;
  if (!finish_some(worker, (PawlFinish *)finishes->data, finishes->len, error)) return FALSE;
  atomic_store(&worker->work_waits, TRUE); /* room came free */
  return TRUE;
}
