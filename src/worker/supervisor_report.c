/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/supervisor_private.h"

gboolean pawl_fence_equal(const PawlFence *a, const PawlFence *b) {
  return a->attempt == b->attempt && a->lease_version == b->lease_version && pawl_id_equal(&a->run, &b->run) &&
         pawl_id_equal(&a->token, &b->token);
}

void pawl_work_free(PawlWork *work) {
  if (!work) return;
  g_free(work->label);
  g_strfreev(work->argv);
  g_strfreev(work->envp);
  g_free(work->cwd);
  g_clear_pointer(&work->input, g_bytes_unref);
  g_free(work->groups);
  g_clear_pointer(&work->secrets, g_ptr_array_unref);
  g_free(work);
}

/* What a report costs beside its bytes. */
#define CHUNK_COST_BYTES 128

typedef struct {
  PawlReport report; /* the receiver's part */
  Unread *unread;    /* NULL: not an output report */
  gsize cost_bytes;
} Box;

PawlReport *pawl_report_new(PawlReportKind kind, const PawlFence *fence, gint64 at_ms) {
  Box *box = g_new0(Box, 1);
  box->report.kind = kind;
  box->report.fence = *fence;
  box->report.at_ms = at_ms;
  return &box->report;
}

PawlReport *pawl_report_new_output(const PawlFence *fence, const PawlOutputBatch *batch, Unread *unread) {
  PawlReport *report = pawl_report_new(PAWL_REPORT_OUTPUT, fence, 0);
  report->chunks = batch->chunks ? batch->chunks : g_ptr_array_new_with_free_func((GDestroyNotify)pawl_output_chunk_free);
  report->drop_from_seq = batch->drop_from_seq;
  report->drop_before_seq = batch->drop_before_seq;
  Box *box = (Box *)report;
  box->unread = pawl_unread_ref(unread);
  box->cost_bytes = batch->bytes + report->chunks->len * CHUNK_COST_BYTES;
  atomic_fetch_add(&unread->bytes, box->cost_bytes);
  return report;
}

void pawl_report_free(PawlReport *report) {
  if (!report) return;
  Box *box = (Box *)report;
  g_clear_pointer(&report->chunks, g_ptr_array_unref);
  g_free(report->detail);
  if (box->unread) {
    atomic_fetch_sub(&box->unread->bytes, box->cost_bytes);
    pawl_unread_unref(box->unread);
  }
  g_free(box);
}

Unread *pawl_unread_ref(Unread *unread) {
  if (!unread) unread = g_new0(Unread, 1);
  atomic_fetch_add(&unread->refs, 1);
  return unread;
}

void pawl_unread_unref(Unread *unread) {
  if (unread && atomic_fetch_sub(&unread->refs, 1) == 1) g_free(unread);
}
