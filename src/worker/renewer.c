/* SPDX-License-Identifier: Apache-2.0 */
/* Renews leases at a third of their length, on a thread and a connection of its own. Sleeps for ever while nothing runs. */
#include "base/clock.h"
#include "base/log.h"
#include "domain/metrics.h"
#include "store/measure.h"
#include "worker/link_private.h"

struct PawlRenewer {
  PawlWorker *worker;
  PawlStore *store;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  GArray *fences;    /* PawlFence; under `lock` */
  gboolean stopping; /* under `lock` */
  PawlPulse pulse;
  guint64 connection; /* generation of the last one counted */
};

gint64 pawl_lease_margin_ms(gint64 lease_ms) { return MIN(lease_ms / 10, 2000); }

/* The lease's end by this process's own clock counts from before the request was sent: never later than what the store says. */
static void tell(PawlWorker *worker, const PawlRenewal *renewal, gint64 end_boot_ms) {
  PawlFence fence = {renewal->run, renewal->attempt, renewal->lease_version, renewal->token};
  pawl_metric_add(PAWL_METRIC_LEASES_RENEWED, 0, renewal->renewed ? 1 : 0);
  if (renewal->cancel_asked) pawl_supervisor_stop(worker->supervisor, &fence, PAWL_STOP_CANCEL);
  if (renewal->renewed)
    pawl_supervisor_renew(worker->supervisor, &fence, end_boot_ms);
  else
    pawl_supervisor_stop(worker->supervisor, &fence, PAWL_STOP_LEASE);
}

/* FALSE: the store failed; the leases run on until their own end. */
static gboolean renew(PawlRenewer *renewer, const GArray *fences) {
  g_autoptr(GError) failed = NULL;
  PawlWorker *worker = renewer->worker;
  gint64 lease_ms = worker->options.lease_ms;
  gint64 end_boot_ms = pawl_clock_boot_ms() + lease_ms - pawl_lease_margin_ms(lease_ms);
  g_autofree PawlRenewal *renewals = g_new0(PawlRenewal, fences->len);
  for (guint i = 0; i < fences->len; i++) {
    const PawlFence *fence = &g_array_index(fences, PawlFence, i);
    renewals[i] = (PawlRenewal){.run = fence->run, .token = fence->token, .attempt = fence->attempt, .lease_version = fence->lease_version};
  }
  if (!pawl_store_renew(renewer->store, &worker->session, lease_ms, renewals, fences->len, &failed)) {
    pawl_count_store_error(failed);
    pawl_log(PAWL_LOG_WARNING, "lease.renewal_failed", "leases could not be renewed; what runs is stopped if this lasts", "reason",
      failed->message, NULL);
    return FALSE;
  }
  for (guint i = 0; i < fences->len; i++) tell(worker, &renewals[i], end_boot_ms);
  return TRUE;
}

/* With the lock held: until `ms` have passed or the renewer stops. */
static void wait_ms(PawlRenewer *renewer, gint64 ms) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += ms / 1000;
  until.tv_nsec += ms % 1000 * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  pawl_pulse_sleep(&renewer->pulse, ms);
  while (!renewer->stopping)
    if (pthread_cond_timedwait(&renewer->changed, &renewer->lock, &until) != 0) return;
}

static void *run(void *data) {
  PawlRenewer *renewer = data;
  gint64 third_ms = renewer->worker->options.lease_ms / 3;
  pthread_mutex_lock(&renewer->lock);
  while (!renewer->stopping) {
    if (renewer->fences->len == 0) {
      pawl_pulse_end(&renewer->pulse);
      pthread_cond_wait(&renewer->changed, &renewer->lock);
      continue;
    }
    wait_ms(renewer, third_ms);
    while (!renewer->stopping && renewer->fences->len > 0) {
      g_autoptr(GArray) copy = g_array_copy(renewer->fences);
      pthread_mutex_unlock(&renewer->lock);
      pawl_pulse_busy(&renewer->pulse);
      gboolean ok = renew(renewer, copy);
      pawl_store_count_reconnects(renewer->store, &renewer->connection);
      pthread_mutex_lock(&renewer->lock);
      if (ok) break;
      wait_ms(renewer, third_ms / 10);
    }
  }
  pthread_mutex_unlock(&renewer->lock);
  pawl_pulse_end(&renewer->pulse);
  return NULL;
}

PawlRenewer *pawl_renewer_new(PawlWorker *worker, GError **error) {
  PawlStoreOptions how = {.url = worker->options.url, .mode = PAWL_DB_READ_WRITE, .actor = worker->options.actor, .cache_kib = 64};
  PawlStore *store = pawl_store_open(&how, error);
  if (store == NULL) return NULL;
  PawlRenewer *renewer = g_new0(PawlRenewer, 1);
  pthread_condattr_t attr;
  renewer->worker = worker;
  renewer->store = store;
  renewer->fences = g_array_new(FALSE, FALSE, sizeof(PawlFence));
  pthread_mutex_init(&renewer->lock, NULL);
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&renewer->changed, &attr);
  pthread_condattr_destroy(&attr);
  int failed = pthread_create(&renewer->thread, NULL, run, renewer);
  g_assert(failed == 0);
  pthread_setname_np(renewer->thread, "pawl-renewer");
  return renewer;
}

void pawl_renewer_add(PawlRenewer *renewer, const PawlFence *fence) {
  pthread_mutex_lock(&renewer->lock);
  g_array_append_val(renewer->fences, *fence);
  if (renewer->fences->len == 1) pthread_cond_signal(&renewer->changed);
  pthread_mutex_unlock(&renewer->lock);
}

void pawl_renewer_remove(PawlRenewer *renewer, const PawlFence *fence) {
  pthread_mutex_lock(&renewer->lock);
  for (guint i = 0; i < renewer->fences->len; i++)
    if (pawl_fence_equal(&g_array_index(renewer->fences, PawlFence, i), fence)) {
      g_array_remove_index_fast(renewer->fences, i);
      break;
    }
  pthread_mutex_unlock(&renewer->lock);
}

gint64 pawl_renewer_overdue_ms(const PawlRenewer *renewer) { return pawl_pulse_overdue_ms(&renewer->pulse); }

void pawl_renewer_free(PawlRenewer *renewer) {
  if (renewer == NULL) return;
  pthread_mutex_lock(&renewer->lock);
  renewer->stopping = TRUE;
  pthread_cond_signal(&renewer->changed);
  pthread_mutex_unlock(&renewer->lock);
  pthread_join(renewer->thread, NULL);
  pawl_store_close(renewer->store);
  g_array_unref(renewer->fences);
  pthread_mutex_destroy(&renewer->lock);
  pthread_cond_destroy(&renewer->changed);
  g_free(renewer);
}
