/* SPDX-License-Identifier: Apache-2.0 */
#include "app/health.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/module.h"
#include "domain/metrics.h"
#include "http/http.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define FRESH_MS 1000                                 /* gauges that are younger are not read again */
#define CLOCK_MIN_MS G_GINT64_CONSTANT(1735689600000) /* 2025: before pawl was */

struct PawlHealth {
  const PawlHttp *http;
  PawlDoor *door; /* NULL: none */
  pthread_mutex_t lock;
  char *phase;        /* NULL: at work; under `lock`, as the next two */
  PawlEngine *engine; /* NULL: not there */
  PawlWorker *worker;
};

/* ---- alive ---- */

static gboolean is_overdue(const char *thread, gint64 overdue_ms, GString *why) {
  if (overdue_ms <= 0) return FALSE;
  if (why->len > 0) g_string_append(why, "; ");
  g_string_append_printf(why, "the %s is stuck: its sign of life is %.1f s overdue", thread, (double)overdue_ms / 1000);
  return TRUE;
}

static gint64 engine_overdue_ms(PawlEngine *engine) {
  PawlEngineHealth health;
  if (engine == NULL) return 0;
  pawl_engine_health(engine, &health);
  return health.overdue_ms;
}

static gint64 worker_overdue_ms(PawlWorker *worker, const char **ret_thread) {
  return worker != NULL ? pawl_worker_overdue_ms(worker, ret_thread) : 0;
}

gboolean pawl_health_alive(PawlHealth *health, GString *why) {
  const char *thread = NULL;
  pthread_mutex_lock(&health->lock);
  gboolean engine_stuck = is_overdue("engine", engine_overdue_ms(health->engine), why);
  gint64 overdue_ms = worker_overdue_ms(health->worker, &thread);
  gboolean worker_stuck = is_overdue(thread, overdue_ms, why);
  pthread_mutex_unlock(&health->lock);
  return !engine_stuck && !worker_stuck;
}

static gboolean on_live(GString *why, gpointer data) { return pawl_health_alive(data, why); }

/* ---- ready ---- */

static void add(GArray *checks, const char *name, gboolean ok, const char *format, ...) G_GNUC_PRINTF(4, 5);
static void add(GArray *checks, const char *name, gboolean ok, const char *format, ...) {
  va_list args;
  va_start(args, format);
  PawlCheck check = {g_strdup(name), ok, g_strdup_vprintf(format, args)};
  va_end(args);
  g_array_append_val(checks, check);
}

static void check_thread(GArray *checks, const char *name, const char *thread, gboolean there, gint64 overdue_ms) {
  if (!there)
    add(checks, name, FALSE, "it is not started");
  else if (overdue_ms > 0)
    add(checks, name, FALSE, "the %s is stuck: its sign of life is %.1f s overdue; restart this process if that lasts", thread,
      (double)overdue_ms / 1000);
  else
    add(checks, name, TRUE, "it beats");
}

static void check_store(GArray *checks, gboolean there, const PawlEngineHealth *engine) {
  if (!there)
    add(checks, "store", FALSE, "it is not opened yet");
  else if (engine->failure[0] != '\0')
    add(checks, "store", FALSE, "%s; it is tried again until it works", engine->failure);
  else if (engine->looked_ms < 0)
    add(checks, "store", FALSE, "it has not been looked at yet");
  else
    add(checks, "store", TRUE, "looked at %" G_GINT64_FORMAT " s ago", engine->looked_ms / 1000);
}

static void check_clock(GArray *checks, gint64 clock_ms, gint state) {
  char text[PAWL_INSTANT_TEXT];
  if (state == PAWL_CLOCK_BACK)
    add(checks, "clock", FALSE, "the store's clock went back to %s; nothing is scheduled until it has caught up",
      pawl_instant_text_short(clock_ms, text));
  else if (clock_ms == 0)
    add(checks, "clock", FALSE, "it has not been read yet");
  else if (clock_ms < CLOCK_MIN_MS)
    add(checks, "clock", FALSE, "the store's clock says %s; set it, or wait until it is set", pawl_instant_text_short(clock_ms, text));
  else
    add(checks, "clock", TRUE, "%s at the last look", pawl_instant_text_short(clock_ms, text));
}

static void on_check(GArray *checks, gpointer data) {
  PawlHealth *health = data;
  PawlEngineHealth engine = {.looked_ms = -1, .measured_ms = -1};
  const char *thread = NULL;
  pthread_mutex_lock(&health->lock);
  if (health->engine != NULL) pawl_engine_health(health->engine, &engine);
  add(checks, "phase", health->phase == NULL, "%s", health->phase != NULL ? health->phase : "at work");
  check_store(checks, health->engine != NULL, &engine);
  check_clock(checks, engine.clock_ms, engine.clock_state);
  check_thread(checks, "engine", "engine", health->engine != NULL, engine.overdue_ms);
  gint64 worker_ms = worker_overdue_ms(health->worker, &thread);
  check_thread(checks, "worker", thread, health->worker != NULL, worker_ms);
  pthread_mutex_unlock(&health->lock);
}

/* ---- metrics ---- */

/* Nothing to wait for: no engine, or one whose store fails. */
static gboolean on_measure(gpointer data) {
  PawlHealth *health = data;
  PawlEngineHealth engine;
  gboolean fresh = TRUE;
  pthread_mutex_lock(&health->lock);
  if (health->engine != NULL) {
    pawl_engine_health(health->engine, &engine);
    fresh = engine.failure[0] != '\0' || (engine.measured_ms >= 0 && engine.measured_ms < FRESH_MS);
    if (!fresh) pawl_engine_measure(health->engine);
    pawl_metric_set(PAWL_METRIC_MEASURED_AGE, 0, engine.measured_ms < 0 ? -PAWL_SECOND_MS : engine.measured_ms);
  }
  pthread_mutex_unlock(&health->lock);
  return fresh;
}

/* 0 where the kernel does not tell. */
static gint64 resident_bytes(void) {
  gint64 pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (file == NULL) return 0;
  if (fscanf(file, "%*d %" G_GINT64_FORMAT, &pages) != 1) pages = 0;
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static char *on_metrics(gpointer data) {
  pawl_metric_set(PAWL_METRIC_MEMORY, 0, resident_bytes());
  return pawl_metrics_text();
}

static void begin_counting(const PawlUpOptions *options) {
  g_autofree char *engine = g_strndup(options->url, strcspn(options->url, ":"));
  pawl_metric_setup(pawl_metric_table(), PAWL_N_METRICS);
  pawl_metric_info("replica_info", "What this process is.", "version", PAWL_VERSION, "name", options->name, "engine", engine, NULL);
  pawl_metric_set(PAWL_METRIC_START_TIME, 0, pawl_clock_wall_ms());
  pawl_metric_set(PAWL_METRIC_MEASURED_AGE, 0, -PAWL_SECOND_MS);
}

/* ---- life ---- */

/* FALSE: an address that was asked for cannot be had. */
static gboolean open_door(PawlHealth *health, const PawlUpOptions *options, guint connections, GError **error) {
  g_autoptr(GError) failed = NULL;
  PawlDoorOptions how = {.address = options->listen_at,
    .connections = connections,
    .data = health,
    .live = on_live,
    .check = on_check,
    .measure = on_measure,
    .metrics = on_metrics};
  health->http = pawl_module_open("http", error);
  if (health->http == NULL) return FALSE;
  health->door = health->http->open(&how, &failed);
  if (health->door != NULL) return TRUE;
  if (options->listen_asked) {
    g_propagate_prefixed_error(error, g_steal_pointer(&failed), "--listen: ");
    return FALSE;
  }
  pawl_log(PAWL_LOG_WARNING, "listen.failed", "there is no health door: --listen chooses an address", "reason", failed->message, NULL);
  return TRUE;
}

PawlHealth *pawl_health_open(const PawlUpOptions *options, guint connections, GError **error) {
  PawlHealth *health = g_new0(PawlHealth, 1);
  health->phase = g_strdup("starting");
  pthread_mutex_init(&health->lock, NULL);
  if (!options->listen) return health;
  begin_counting(options);
  if (open_door(health, options, connections, error)) return health;
  pawl_health_close(health);
  return NULL;
}

void pawl_health_close(PawlHealth *health) {
  if (health == NULL) return;
  if (health->door != NULL) health->http->close(health->door);
  pthread_mutex_destroy(&health->lock);
  g_free(health->phase);
  g_free(health);
}

void pawl_health_say(const PawlHealth *health) {
  char address[PAWL_ADDRESS_TEXT];
  if (health->door == NULL) return;
  health->http->address(health->door, address);
  g_autofree char *text = g_strdup_printf("listening on http://%s", address);
  pawl_log(PAWL_LOG_NOTICE, "listen", text, "address", address, NULL);
}

void pawl_health_phase(PawlHealth *health, const char *phase) {
  pthread_mutex_lock(&health->lock);
  g_free(health->phase);
  health->phase = g_strdup(phase);
  pthread_mutex_unlock(&health->lock);
}

void pawl_health_watch(PawlHealth *health, PawlEngine *engine, PawlWorker *worker) {
  pthread_mutex_lock(&health->lock);
  health->engine = engine;
  health->worker = worker;
  pthread_mutex_unlock(&health->lock);
}

void pawl_health_measured(PawlHealth *health) {
  if (health->door != NULL) health->http->wake(health->door);
}
