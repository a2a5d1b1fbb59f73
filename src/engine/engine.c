/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/log.h"
#include "domain/metrics.h"
#include "engine/engine_private.h"
#include "store/measure.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NET_MS 60000
#define RETRY_MIN_MS 100
#define RETRY_MAX_MS 5000
#define FAKE_CLOCK_LOOK_MS 100 /* tests that move the clock cannot make the kernel tell us */

struct PawlEngine {
  PawlStore *store;
  PawlBell *bell;
  pthread_t thread;
  gboolean started;
  int wake_fd, timer_fd;
  atomic_bool stopping;
  guint budget;
  gint64 net_mono_ms, retry_ms;
  gboolean
    rebooted; /* @reboot triggers have been looked at: once per process, so that one that is published later waits for the next boot */
  PawlId session;
  PawlEngineOptions options;
  PawlPulse pulse;
  atomic_bool measure;
  _Atomic gint64 looked_mono_ms, measured_mono_ms, clock_ms; /* 0: never */
  pthread_mutex_t lock;
  char failure[256]; /* of the last look; under `lock` */
};

static gint64 net_period_ms(void) { return NET_MS - 5000 + g_random_int_range(0, 10000); }

PawlEngine *pawl_engine_new(const PawlEngineOptions *options, GError **error) {
  PawlStoreOptions how = {.url = options->url, .mode = PAWL_DB_READ_WRITE, .actor = options->actor};
  PawlStore *store = pawl_store_open(&how, error);
  if (store == NULL) return NULL;
  PawlBell *bell = pawl_bell_listen(pawl_store_db(store), error);
  if (bell == NULL) {
    pawl_store_close(store);
    return NULL;
  }
  PawlEngine *engine = g_new0(PawlEngine, 1);
  engine->store = store;
  engine->bell = bell;
  engine->options = *options;
  pthread_mutex_init(&engine->lock, NULL);
  engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  engine->timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  pawl_recover_leases(store, NULL, options, &engine->pulse);
  pawl_recover_drift(store);
  pawl_pulse_end(&engine->pulse);
  return engine;
}

void pawl_engine_wake(PawlEngine *engine) {
  guint64 one = 1;
  gssize ignored = write(engine->wake_fd, &one, sizeof one);
  (void)ignored;
}

/* ---- the sleep ---- */

/* CANCEL_ON_SET makes the timer readable the moment the wall clock is stepped. */
static void arm_timer(PawlEngine *engine, gint64 at_ms) {
  struct itimerspec when = {0};
  if (at_ms > 0) {
    gint64 real_ms = MAX(at_ms - pawl_fault_clock_offset_ms(), 1);
    when.it_value.tv_sec = real_ms / 1000;
    when.it_value.tv_nsec = real_ms % 1000 * 1000000;
  } else
    when.it_value.tv_sec = G_MAXINT32;
  timerfd_settime(engine->timer_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL);
}

static void drain_counter(int fd) {
  guint64 count;
  while (read(fd, &count, sizeof count) > 0 || errno == EINTR) {}
}

/* Until `at_ms` (0: for as long as it takes), a ring, a wake-up, a clock step, or `most_ms`. `ret_rang`: somebody outside changed
 * something. */
static void sleep_until(PawlEngine *engine, gint64 at_ms, gint64 most_ms, gboolean *ret_rang) {
  if (getenv("PAWL_FAULT_CLOCK") != NULL) most_ms = MIN(most_ms, FAKE_CLOCK_LOOK_MS);
  arm_timer(engine, at_ms);
  struct pollfd fds[] = {{.fd = engine->wake_fd, .events = POLLIN}, {.fd = engine->timer_fd, .events = POLLIN},
    {.fd = pawl_bell_fd(engine->bell), .events = POLLIN}};
  pawl_pulse_sleep(&engine->pulse, CLAMP(most_ms, 0, NET_MS * 2));
  poll(fds, G_N_ELEMENTS(fds), (int)CLAMP(most_ms, 0, NET_MS * 2));
  pawl_pulse_busy(&engine->pulse);
  drain_counter(engine->wake_fd);
  drain_counter(engine->timer_fd);
  *ret_rang = (fds[2].revents & POLLIN) != 0;
  if (*ret_rang) pawl_bell_drain(engine->bell);
}

/* ---- the loop ---- */

static gint64 boot_at_ms(void) { return pawl_clock_wall_ms() - pawl_clock_boot_ms(); }

static gint64 earlier(gint64 a, gint64 b) { return a == 0 ? b : b == 0 ? a : MIN(a, b); }

static gboolean fire_reboot(PawlEngine *engine, GError **error) {
  guint fired = 0;
  if (engine->rebooted) return TRUE;
  if (!pawl_store_fire_reboot(engine->store, pawl_boot_id(), boot_at_ms(), &fired, error)) return FALSE;
  engine->rebooted = TRUE;
  if (fired > 0) engine->options.work_waits(engine->options.data);
  return TRUE;
}

static gboolean measure(PawlEngine *engine, GError **error) {
  gint64 now_ms;
  if (!atomic_exchange(&engine->measure, FALSE)) return TRUE;
  if (!pawl_store_measure(engine->store, &now_ms, error)) return FALSE;
  atomic_store(&engine->measured_mono_ms, pawl_clock_mono_ms());
  if (engine->options.measured != NULL) engine->options.measured(engine->options.data);
  return TRUE;
}

/* FALSE: the store cannot be used. `ret_next_ms`: when to look again, 0: nothing is planned. */
static gboolean look(PawlEngine *engine, gint64 *ret_next_ms, GError **error) {
  gint64 rearm_ms;
  PawlRound round = {.more = TRUE};
  if (!fire_reboot(engine, error) || !pawl_store_rearm(engine->store, &rearm_ms, error)) return FALSE;
  while (round.more && !atomic_load(&engine->stopping)) {
    pawl_pulse_busy(&engine->pulse);
    if (!pawl_scheduler_round(engine->store, &engine->budget, &round, error)) return FALSE;
    atomic_store(&engine->clock_ms, round.now_ms);
    if (round.admitted > 0) engine->options.work_waits(engine->options.data);
  }
  if (!measure(engine, error)) return FALSE;
  *ret_next_ms = earlier(round.next_due_ms, rearm_ms);
  return TRUE;
}

static void net(PawlEngine *engine) {
  pawl_recover_leases(engine->store, &engine->session, &engine->options, &engine->pulse);
  pawl_pulse_busy(&engine->pulse);
  pawl_recover_drift(engine->store);
  pawl_upkeep_retention(engine->store, engine->options.history_ms);
  pawl_db_tidy(pawl_store_db(engine->store));
  engine->options.work_waits(engine->options.data);
  engine->net_mono_ms = pawl_clock_mono_ms() + net_period_ms();
}

/* `error` NULL: it went well. */
static void note_look(PawlEngine *engine, const GError *error) {
  if (error == NULL) atomic_store(&engine->looked_mono_ms, pawl_clock_mono_ms());
  if (error != NULL) pawl_count_store_error(error);
  pthread_mutex_lock(&engine->lock);
  g_strlcpy(engine->failure, error != NULL ? error->message : "", sizeof engine->failure);
  pthread_mutex_unlock(&engine->lock);
}

static gint64 back_off(PawlEngine *engine, const GError *error) {
  gboolean first = engine->retry_ms == 0;
  engine->retry_ms = first ? RETRY_MIN_MS : MIN(engine->retry_ms * 2, RETRY_MAX_MS);
  if (first || engine->retry_ms == RETRY_MAX_MS)
    pawl_log(PAWL_LOG_ERROR, "store.failed", "the store cannot be used; trying again", "reason", error->message, NULL);
  return engine->retry_ms + g_random_int_range(0, (gint)engine->retry_ms / 2);
}

static void *run(void *data) {
  PawlEngine *engine = data;
  pawl_pulse_busy(&engine->pulse);
  engine->net_mono_ms = pawl_clock_mono_ms() + net_period_ms();
  while (!atomic_load(&engine->stopping)) {
    g_autoptr(GError) failed = NULL;
    gint64 next_ms = 0, most_ms;
    gboolean rang, looked = look(engine, &next_ms, &failed);
    note_look(engine, failed);
    if (looked) {
      if (engine->retry_ms != 0) pawl_log(PAWL_LOG_NOTICE, "store.back", "the store can be used again", NULL);
      engine->retry_ms = 0;
      if (pawl_clock_mono_ms() >= engine->net_mono_ms) net(engine);
      most_ms = engine->net_mono_ms - pawl_clock_mono_ms();
    } else
      most_ms = back_off(engine, failed);
    if (atomic_load(&engine->stopping)) break;
    sleep_until(engine, next_ms, most_ms, &rang);
    if (rang) engine->options.work_waits(engine->options.data);
  }
  pawl_pulse_end(&engine->pulse);
  return NULL;
}

void pawl_engine_start(PawlEngine *engine, const PawlId *session) {
  engine->session = *session;
  engine->started = pthread_create(&engine->thread, NULL, run, engine) == 0;
  g_assert(engine->started);
  pthread_setname_np(engine->thread, "pawl-engine");
}

void pawl_engine_stop(PawlEngine *engine) {
  if (!engine->started) return;
  atomic_store(&engine->stopping, TRUE);
  pawl_engine_wake(engine);
  pthread_join(engine->thread, NULL);
  engine->started = FALSE;
}

void pawl_engine_free(PawlEngine *engine) {
  if (engine == NULL) return;
  pawl_engine_stop(engine);
  pawl_bell_close(engine->bell);
  pawl_store_close(engine->store);
  close(engine->wake_fd);
  close(engine->timer_fd);
  pthread_mutex_destroy(&engine->lock);
  g_free(engine);
}

/* ---- how it is ---- */

static gint64 since(const _Atomic gint64 *mono_ms) {
  gint64 then_ms = atomic_load(mono_ms);
  return then_ms == 0 ? -1 : pawl_clock_mono_ms() - then_ms;
}

void pawl_engine_health(PawlEngine *engine, PawlEngineHealth *ret_health) {
  *ret_health = (PawlEngineHealth){.overdue_ms = pawl_pulse_overdue_ms(&engine->pulse),
    .looked_ms = since(&engine->looked_mono_ms),
    .measured_ms = since(&engine->measured_mono_ms),
    .clock_ms = atomic_load(&engine->clock_ms)};
  pthread_mutex_lock(&engine->lock);
  memcpy(ret_health->failure, engine->failure, sizeof engine->failure);
  pthread_mutex_unlock(&engine->lock);
}

void pawl_engine_measure(PawlEngine *engine) {
  if (!atomic_exchange(&engine->measure, TRUE)) pawl_engine_wake(engine);
}
