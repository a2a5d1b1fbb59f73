/* SPDX-License-Identifier: Apache-2.0 */
/* What the link writes, in batches: starts, output, ends. A batch that fails stays as it was and is written again later. */
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

gboolean pawl_link_record_starts(PawlWorker *worker, GError **error) {
  g_autoptr(GArray) starts = collect_starts(worker);
  if (starts->len == 0) return TRUE;
  if (!pawl_store_start(worker->store, (PawlStart *)starts->data, starts->len, error)) return FALSE;
  for (guint i = 0; i < starts->len; i++) {
    const PawlStart *start = &g_array_index(starts, PawlStart, i);
    PawlJob *job = job_of(worker, &start->run);
    PAWL_FAULT("start.before_go");
    job->ready = FALSE;
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

gboolean pawl_link_record_output(PawlWorker *worker, GError **error) {
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(PawlOutputRow));
  g_autoptr(GArray) drops = g_array_new(FALSE, FALSE, sizeof(PawlOutputDrop));
  GHashTableIter iter;
  g_hash_table_iter_init(&iter, worker->jobs);
  for (PawlJob *job = next_job(&iter); job != NULL; job = next_job(&iter)) collect_output(job, rows, drops);
  if (rows->len == 0 && drops->len == 0) return TRUE;
  if (!pawl_store_output_append(worker->store, (PawlOutputRow *)rows->data, rows->len, (PawlOutputDrop *)drops->data, drops->len, error))
    return FALSE;
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
  if (!pawl_store_finish(worker->store, (PawlFinish *)finishes->data, finishes->len, error)) return FALSE;
  for (guint i = 0; i < finishes->len; i++) {
    const PawlFinish *finish = &g_array_index(finishes, PawlFinish, i);
    PawlJob *job = job_of(worker, &finish->run);
    job->finish = *finish;
    after_end(worker, job);
  }
  atomic_store(&worker->work_waits, TRUE); /* room came free */
  return TRUE;
}
