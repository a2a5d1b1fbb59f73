/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/log.h"
#include "domain/metrics.h"
#include "engine/engine_private.h"
#include "store/measure.h"
#include "store/replicas.h"

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
#define RHYTHM_MS 800      /* a shared store is looked at this often, on average; a ring comes between */
#define BEAT_MS 10000      /* heartbeat of a replica */
#define CLOCK_WAIT_MS 5000 /* so far the server's clock may lie behind the newest heartbeat; beyond, nothing is scheduled */
#define RANGES_MS 3600000  /* ranges of history are made and dropped this often */
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
  PawlId replica;
  gint64 beat_mono_ms, ranges_mono_ms;
  gboolean clock_back;
  gint64 rearm_ms; /* of an embedded store: the end of a pause or a quarantine, as of the last look at it; 0: none */
  gboolean rearm_stale;
  gboolean
    rebooted; /* @reboot triggers have been looked at: once per process, so that one that is published later waits for the next boot */
  PawlId session;
  PawlEngineOptions options;
  PawlPulse pulse;
  atomic_bool measure;
  atomic_int clock_state;
  guint64 connection;                                        /* generation of the last one counted */
  _Atomic gint64 looked_mono_ms, measured_mono_ms, clock_ms; /* 0: never */
  pthread_mutex_t lock;
  char failure[256]; /* of the last look; under `lock` */
};

static gint64 net_period_ms(void) { return NET_MS - 5000 + g_random_int_range(0, 10000); }

PawlEngine *pawl_engine_new(const PawlEngineOptions *options, GError **error) {
  char id[PAWL_ID_TEXT];
  PawlId replica = pawl_id_new(pawl_clock_wall_ms());
  PawlStoreOptions how = {.url = options->url,
    .mode = PAWL_DB_READ_WRITE,
    .actor = options->actor,
    .replica = pawl_id_text(&replica, id),
    .claim_lease_ms = options->claim_lease_ms,
    .serializable = options->serializable,
    .synchronous_commit = options->synchronous_commit};
  PawlStore *store = pawl_store_open(&how, error);
  if (store == NULL) return NULL;
  PawlReplica row = {.id = replica,
    .name = (char *)options->replica,
    .host = (char *)g_get_host_name(),
    .pid = getpid(),
    .address = (char *)options->address};
  gboolean ok = pawl_store_replica_open(store, &row, error) && pawl_store_ranges_ensure(store, error);
  PawlBell *bell = ok ? pawl_bell_listen(pawl_store_db(store), error) : NULL;
  if (bell == NULL) {
    pawl_store_close(store);
    return NULL;
  }
  PawlEngine *engine = g_new0(PawlEngine, 1);
  engine->store = store;
  engine->bell = bell;
  engine->replica = replica;
  engine->rearm_stale = TRUE;
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

/* TRUE: the wall clock was stepped. */
static gboolean drain_timer(int fd) {
  guint64 count;
  gssize got;
  do got = read(fd, &count, sizeof count);
  while (got < 0 && errno == EINTR);
  return got < 0 && errno == ECANCELED;
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
  gboolean stepped = drain_timer(engine->timer_fd);
  *ret_rang = (fds[2].revents & POLLIN) != 0;
  engine->rearm_stale |= *ret_rang || stepped || (fds[0].revents & POLLIN) != 0 || getenv("PAWL_FAULT_CLOCK") != NULL;
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

/* Numbers are for who watches: that they cannot be read holds up nothing. */
static void measure(PawlEngine *engine) {
  g_autoptr(GError) failed = NULL;
  gint64 now_ms;
  if (!atomic_exchange(&engine->measure, FALSE)) return;
  if (!pawl_store_measure(engine->store, &now_ms, &failed)) {
    pawl_count_store_error(failed);
    pawl_log(PAWL_LOG_WARNING, "measure.failed", "the gauges could not be read", "reason", failed->message, NULL);
    return;
  }
  atomic_store(&engine->measured_mono_ms, pawl_clock_mono_ms());
  if (engine->options.measured != NULL) engine->options.measured(engine->options.data);
}

/* Pauses and quarantines that end. Only others and this thread's own acts change when, so it is not asked at every due instant. */
static gboolean rearm(PawlEngine *engine, GError **error) {
  gboolean due = engine->rearm_ms != 0 && engine->rearm_ms <= pawl_clock_wall_ms();
  if (!engine->rearm_stale && !due) return TRUE;
  if (!pawl_store_rearm(engine->store, &engine->rearm_ms, error)) return FALSE;
  engine->rearm_stale = FALSE;
  return TRUE;
}

/* FALSE: the store cannot be used. `ret_next_ms`: when to look again, 0: nothing is planned. */
static gboolean look(PawlEngine *engine, gint64 *ret_next_ms, GError **error) {
  PawlRound round = {.more = TRUE};
  gboolean put_aside = FALSE;
  if (!fire_reboot(engine, error) || !rearm(engine, error)) return FALSE;
  while (round.more && !atomic_load(&engine->stopping)) {
    pawl_pulse_busy(&engine->pulse);
    if (!pawl_scheduler_round(engine->store, &engine->budget, &round, error)) return FALSE;
    atomic_store(&engine->clock_ms, round.now_ms);
    put_aside |= round.put_aside;
    if (round.admitted > 0) engine->options.work_waits(engine->options.data);
  }
  measure(engine);
  engine->rearm_stale |= put_aside;
  if (put_aside && !rearm(engine, error)) return FALSE;
  *ret_next_ms = earlier(round.next_due_ms, engine->rearm_ms);
  return TRUE;
}

/* ---- a shared store: one read in the rhythm says all that there is to do; instants are turned into waits by the server's clock ---- */

/* FALSE: the server's clock went back too far for anything to be decided by it. */
static gboolean clock_holds(PawlEngine *engine, const PawlLook *look) {
  gint64 back_ms = look->newest_ms - look->now_ms;
  gboolean back = look->newest_ms != 0 && back_ms > CLOCK_WAIT_MS;
  if (back != engine->clock_back) {
    g_autofree char *distance = g_strdup_printf("%" G_GINT64_FORMAT, back_ms);
    if (back)
      pawl_log(PAWL_LOG_ERROR, "clock.back", "the server's clock went back; nothing is scheduled until it has caught up", "back_ms",
        distance, NULL);
    else
      pawl_log(PAWL_LOG_NOTICE, "clock.caught_up", "the server's clock has caught up", NULL);
  }
  engine->clock_back = back;
  atomic_store(&engine->clock_state, back ? PAWL_CLOCK_BACK : back_ms > 0 ? PAWL_CLOCK_WAITING : PAWL_CLOCK_OK);
  pawl_metric_set(PAWL_METRIC_CLOCK_STATE, 0, atomic_load(&engine->clock_state));
  return !back && back_ms <= 0;
}

static gboolean schedule_shared(PawlEngine *engine, const PawlLook *look, gboolean *ret_again, GError **error) {
  gint64 rearm_ms;
  PawlRound round = {.more = look->due};
  *ret_again = FALSE;
  if (look->rearm_ms != 0 && look->rearm_ms <= look->now_ms) {
    if (!pawl_store_rearm(engine->store, &rearm_ms, error)) return FALSE;
    *ret_again = TRUE;
  }
  while (round.more && !atomic_load(&engine->stopping)) {
    pawl_pulse_busy(&engine->pulse);
    if (!pawl_scheduler_round(engine->store, &engine->budget, &round, error)) return FALSE;
    if (round.claimed > 0) *ret_again = TRUE;
    if (round.admitted > 0) engine->options.work_waits(engine->options.data);
    if (round.claimed == 0) break;
  }
  return TRUE;
}

static gint64 wait_until(gint64 wait_ms, gint64 at_ms, gint64 now_ms) { return at_ms > now_ms ? MIN(wait_ms, at_ms - now_ms) : wait_ms; }

/* `ret_wait_ms`: how long to sleep unless somebody rings. */
static gboolean look_shared(PawlEngine *engine, gint64 *ret_wait_ms, GError **error) {
  PawlLook look;
  gboolean again = FALSE;
  measure(engine);
  if (!pawl_store_release_lost(engine->store, error) || !pawl_store_look(engine->store, &look, error)) return FALSE;
  atomic_store(&engine->clock_ms, look.now_ms);
  pawl_metric_set(PAWL_METRIC_CLOCK_DISTANCE, 0, look.now_ms - pawl_clock_wall_ms());
  if (look.work) engine->options.work_waits(engine->options.data);
  if (look.expired) pawl_recover_leases(engine->store, &engine->session, &engine->options, &engine->pulse);
  if (clock_holds(engine, &look) && !schedule_shared(engine, &look, &again, error)) return FALSE;
  gint64 wait_ms = again ? 0 : RHYTHM_MS / 2 + g_random_int_range(0, RHYTHM_MS);
  wait_ms = wait_until(wait_ms, look.next_due_ms, look.now_ms);
  wait_ms = wait_until(wait_ms, look.rearm_ms, look.now_ms);
  *ret_wait_ms = wait_until(wait_ms, look.wake_ms, look.now_ms);
  return TRUE;
}

static gboolean beat(PawlEngine *engine, GError **error) {
  gint64 now_ms = pawl_clock_mono_ms();
  if (now_ms < engine->beat_mono_ms) return TRUE;
  if (!pawl_store_replica_beat(engine->store, &engine->replica, "ready", error)) return FALSE;
  pawl_upkeep_unstick(engine->store);
  engine->beat_mono_ms = now_ms + BEAT_MS;
  return TRUE;
}

static void keep_ranges(PawlEngine *engine) {
  g_autoptr(GError) failed = NULL;
  guint dropped = 0;
  if (pawl_clock_mono_ms() < engine->ranges_mono_ms) return;
  engine->ranges_mono_ms = pawl_clock_mono_ms() + RANGES_MS + g_random_int_range(0, RANGES_MS / 4);
  if (!pawl_store_ranges_ensure(engine->store, &failed) ||
      !pawl_store_ranges_drop(engine->store, engine->options.history_ms, &dropped, &failed))
    pawl_log(PAWL_LOG_ERROR, "history.failed", "ranges of history could not be kept", "reason", failed->message, NULL);
}

static void net(PawlEngine *engine) {
  pawl_recover_leases(engine->store, &engine->session, &engine->options, &engine->pulse);
  pawl_pulse_busy(&engine->pulse);
  pawl_recover_drift(engine->store);
  if (pawl_store_shared(engine->store)) keep_ranges(engine);
  pawl_upkeep_sweep(engine->store);
  pawl_upkeep_retention(engine->store, engine->options.history_ms);
  pawl_db_tidy(pawl_store_db(engine->store));
  engine->options.work_waits(engine->options.data);
  engine->rearm_stale = TRUE;
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
  engine->net_mono_ms = pawl_clock_mono_ms() + (pawl_store_shared(engine->store) ? g_random_int_range(3000, 6000) : net_period_ms());
  while (!atomic_load(&engine->stopping)) {
    g_autoptr(GError) failed = NULL;
    gint64 next_ms = 0, most_ms;
    gboolean rang, shared = pawl_store_shared(engine->store);
    gint64 wait_ms = G_MAXINT64;
    gboolean looked = shared ? beat(engine, &failed) && look_shared(engine, &wait_ms, &failed) : look(engine, &next_ms, &failed);
    note_look(engine, failed);
    pawl_store_count_reconnects(engine->store, &engine->connection);
    if (looked) {
      if (engine->retry_ms != 0) pawl_log(PAWL_LOG_NOTICE, "store.back", "the store can be used again", NULL);
      engine->retry_ms = 0;
      if (pawl_clock_mono_ms() >= engine->net_mono_ms) net(engine);
      most_ms = MIN(engine->net_mono_ms - pawl_clock_mono_ms(), wait_ms);
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
  pawl_store_replica_beat(engine->store, &engine->replica, "draining", NULL);
}

void pawl_engine_free(PawlEngine *engine) {
  if (engine == NULL) return;
  pawl_engine_stop(engine);
  pawl_store_replica_beat(engine->store, &engine->replica, "ended", NULL);
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
    .clock_ms = atomic_load(&engine->clock_ms),
    .clock_state = atomic_load(&engine->clock_state)};
  pthread_mutex_lock(&engine->lock);
  memcpy(ret_health->failure, engine->failure, sizeof engine->failure);
  pthread_mutex_unlock(&engine->lock);
}

void pawl_engine_measure(PawlEngine *engine) {
  if (!atomic_exchange(&engine->measure, TRUE)) pawl_engine_wake(engine);
}
