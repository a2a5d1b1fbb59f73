/* SPDX-License-Identifier: Apache-2.0 */
/* Mail about runs, handed to sendmail as cron does: only when a run has ended for good, and there is output or a failure. */
#include "base/log.h"
#include "store/runs.h"
#include "worker/link_private.h"

#include <string.h>
#include <unistd.h>

#define SENDMAIL "/usr/sbin/sendmail"
#define SEND_TIMEOUT_MS 60000

static gboolean is_due(const PawlJob *job) {
  gboolean failed = job->finish.event != PAWL_EVENT_SUCCEED;
  if (job->kind != PAWL_JOB_ATTEMPT || job->mail_to == NULL || !pawl_run_state_is_end(job->finish.run_state)) return FALSE;
  switch (job->mail_when) {
  case PAWL_MAIL_NEVER: return FALSE;
  case PAWL_MAIL_OUTPUT: return failed || job->finish.output_bytes > 0;
  case PAWL_MAIL_FAILURE: return failed;
  case PAWL_MAIL_ALWAYS: return TRUE;
  }
  return FALSE;
}

/* A header's value is one line. */
static void append_header(GString *mail, const char *name, const char *value) {
  g_autofree char *line = g_strdelimit(g_strdup(value), "\r\n", ' ');
  g_string_append_printf(mail, "%s: %s\n", name, line);
}

static void append_output(PawlWorker *worker, const PawlJob *job, GString *mail) {
  g_autoptr(GError) failed = NULL;
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_output_part_free);
  if (!pawl_store_output(worker->store, &job->fence.run, job->fence.attempt - 1, G_MAXINT64, parts, &failed)) {
    pawl_log(PAWL_LOG_WARNING, "mail.failed", "the output for a mail could not be read", "reason", failed->message, NULL);
    return;
  }
  for (guint i = 0; i < parts->len; i++) {
    const PawlOutputPart *part = g_ptr_array_index(parts, i);
    if (part->attempt != job->fence.attempt) continue;
    gsize bytes;
    const char *data = g_bytes_get_data(part->bytes, &bytes);
    g_string_append_len(mail, data, (gssize)bytes);
  }
}

static GBytes *message(PawlWorker *worker, const PawlJob *job) {
  char host[256] = "localhost", id[PAWL_ID_TEXT];
  GString *mail = g_string_new(NULL);
  gethostname(host, sizeof host - 1);
  g_autofree char *subject = g_strdup_printf("pawl on %s: %s %s", host, job->label, pawl_run_state_name(job->finish.run_state));
  append_header(mail, "To", job->mail_to);
  append_header(mail, "Subject", subject);
  append_header(mail, "Auto-Submitted", "auto-generated");
  append_header(mail, "X-Pawl-Run", pawl_id_text(&job->fence.run, id));
  append_header(mail, "Content-Type", "text/plain; charset=UTF-8");
  append_header(mail, "Content-Transfer-Encoding", "8bit");
  g_string_append_c(mail, '\n');
  if (job->reason != NULL) g_string_append_printf(mail, "%s: %s\n\n", pawl_run_state_name(job->finish.run_state), job->reason);
  append_output(worker, job, mail);
  return g_string_free_to_bytes(mail);
}

PawlWork *pawl_link_mail(PawlWorker *worker, const PawlJob *job) {
  if (!is_due(job)) return NULL;
  const char *sendmail = g_getenv("PAWL_SENDMAIL");
  const char *argv[] = {sendmail != NULL ? sendmail : SENDMAIL, "-i", "-t", NULL};
  PawlWork *work = g_new0(PawlWork, 1);
  work->fence = (PawlFence){.run = pawl_id_random(), .attempt = 1, .lease_version = 1, .token = pawl_id_random()};
  work->label = g_strconcat("mail about ", job->label, NULL);
  work->argv = g_strdupv((char **)argv);
  work->envp = g_environ_setenv(NULL, "PATH", "/usr/sbin:/usr/bin:/sbin:/bin", TRUE);
  work->cwd = g_strdup("/");
  work->umask = -1;
  work->input = message(worker, job);
  work->timeout_ms = SEND_TIMEOUT_MS;
  work->kill_after_ms = 5000;
  work->secrets = g_ptr_array_new_with_free_func(g_free);
  return work;
}
