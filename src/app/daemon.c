/* SPDX-License-Identifier: Apache-2.0 */
#include "app/daemon.h"

#include "app/files.h"
#include "app/health.h"
#include "app/notify.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/log.h"
#include "cli/runner_path.h"
#include "engine/engine.h"
#include "worker/worker.h"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define END_ATTEMPT_MS 15000
#define DRAIN_SAY_MS 5000
#define RECORD_WAIT_MS 3000
#define DOOR_CONNECTIONS_MIN 16
#define DOOR_CONNECTIONS_MAX 512
#define RETRY_MIN_MS 200
#define RETRY_MAX_MS 10000

typedef struct {
  const PawlUpOptions *options;
  char *actor, *runner_path;
  PawlHealth *health;
  PawlStore *store;
  PawlHold *hold;
  PawlWorker *worker;
  PawlEngine *engine;
  GPtrArray *users; /* allowed: --allow-user, and those that system crontabs name; NULL-terminated */
  int signal_fd;
  gboolean stopped; /* by a signal, while it waited for the store */
  gboolean said;    /* the line that names the store */
  gboolean stuck;   /* it was said that a thread is */
} Daemon;

/* ---- wiring ---- */

static void work_waits(gpointer data) {
  Daemon *daemon = data;
  if (daemon->worker != NULL) pawl_worker_wake(daemon->worker);
}

static void measured(gpointer data) { pawl_health_measured(((Daemon *)data)->health); }

static gboolean end_attempt(const PawlOrphan *orphan, gpointer data) {
  PawlProcess process = {.pid = (pid_t)orphan->pid, .start_ticks = (guint64)orphan->start_ticks};
  g_strlcpy(process.boot_id, orphan->boot_id, sizeof process.boot_id);
  return pawl_process_end_attempt(orphan->boot_id[0] != '\0' ? &process : NULL, &orphan->run, orphan->attempt, END_ATTEMPT_MS);
}

static char *find_runner(GError **error) {
  g_autofree char *path = pawl_runner_path();
  if (access(path, X_OK) == 0) return g_steal_pointer(&path);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "pawl-runner is neither beside pawl nor at %s; install pawl again", path);
  return NULL;
}

static void block_signals(int *ret_fd) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  signal(SIGPIPE, SIG_IGN);
  *ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* An attempt takes up to five descriptors. The soft limit is raised as far as the slots and the door ask for and the hard limit allows; the
 * door gets what the slots leave. Returns how many connections that is. */
static guint allow_descriptors(gint slots) {
  struct rlimit limit;
  rlim_t work = (rlim_t)slots * 5 + 64, wanted = work + DOOR_CONNECTIONS_MAX;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return DOOR_CONNECTIONS_MIN;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = MIN(wanted, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= work) return (guint)CLAMP(limit.rlim_cur - work, DOOR_CONNECTIONS_MIN, DOOR_CONNECTIONS_MAX);
  g_autofree char *text =
    g_strdup_printf("the limit of open files (%lu) is enough for about %lu attempts at once; raise it or lower --slots",
      (gulong)limit.rlim_cur, (gulong)(limit.rlim_cur > 64 ? (limit.rlim_cur - 64) / 5 : 0));
  pawl_log(PAWL_LOG_WARNING, "limit.files", text, NULL);
  return DOOR_CONNECTIONS_MIN;
}

/* ---- start ---- */

/* The first line of all, once. */
static void say_store(Daemon *daemon) {
  g_autofree char *text =
    g_strdup_printf("pawl %s on %s (from %s)", PAWL_VERSION, pawl_db_url(pawl_store_db(daemon->store)), daemon->options->url_source);
  if (daemon->said) return;
  daemon->said = TRUE;
  pawl_log(PAWL_LOG_NOTICE, "up", text, NULL);
  pawl_health_say(daemon->health);
}

static gboolean open_store(Daemon *daemon, GError **error) {
  PawlStoreOptions how = {
    .url = daemon->options->url, .mode = PAWL_DB_READ_WRITE, .create = TRUE, .actor = daemon->actor, .cache_kib = 256};
  daemon->store = pawl_store_open(&how, error);
  if (daemon->store == NULL) return FALSE;
  say_store(daemon);
  daemon->hold = pawl_db_hold(pawl_store_db(daemon->store), error);
  return daemon->hold != NULL;
}

static void collect_allowed(Daemon *daemon) {
  for (char **user = daemon->options->allow_users; user != NULL && *user != NULL; user++) g_ptr_array_add(daemon->users, g_strdup(*user));
}

static gboolean open_engine(Daemon *daemon, GError **error) {
  PawlEngineOptions how = {.url = daemon->options->url,
    .actor = daemon->actor,
    .replica = daemon->options->replica,
    .claim_lease_ms = daemon->options->claim_lease_ms,
    .serializable = daemon->options->serializable,
    .synchronous_commit = daemon->options->synchronous_commit,
    .history_ms = daemon->options->history_ms,
    .work_waits = work_waits,
    .end_attempt = end_attempt,
    .measured = measured,
    .data = daemon};
  daemon->engine = pawl_engine_new(&how, error);
  return daemon->engine != NULL;
}

static gboolean open_worker(Daemon *daemon, GError **error) {
  if (daemon->users->len == 0 || g_ptr_array_index(daemon->users, daemon->users->len - 1) != NULL) g_ptr_array_add(daemon->users, NULL);
  PawlWorkerOptions how = {.url = daemon->options->url,
    .actor = daemon->actor,
    .name = daemon->options->name,
    .runner_path = daemon->runner_path,
    .slots = daemon->options->slots,
    .lease_ms = daemon->options->lease_ms,
    .allow_users = (char **)daemon->users->pdata};
  daemon->worker = pawl_worker_new(&how, error);
  return daemon->worker != NULL;
}

/* The next of the awaited signals, or 0 after `ms` (-1: never). `extra_fd` -1: none; readable: answers -1. */
static int next_signal(Daemon *daemon, int extra_fd, gint64 ms) {
  struct signalfd_siginfo info;
  struct pollfd fds[] = {{.fd = daemon->signal_fd, .events = POLLIN}, {.fd = extra_fd, .events = POLLIN}};
  int ready = poll(fds, 2, ms < 0 ? -1 : (int)MIN(ms, 3600000));
  if (ready > 0 && (fds[0].revents & POLLIN) != 0 && read(daemon->signal_fd, &info, sizeof info) == sizeof info) return (int)info.ssi_signo;
  return ready > 0 && (fds[1].revents & POLLIN) != 0 ? -1 : 0;
}

static void close_parts(Daemon *daemon) {
  if (daemon->engine != NULL) pawl_engine_stop(daemon->engine);
  if (daemon->health != NULL) pawl_health_watch(daemon->health, NULL, NULL);
  pawl_worker_free(daemon->worker);
  pawl_engine_free(daemon->engine);
  daemon->worker = NULL;
  daemon->engine = NULL;
  g_clear_pointer(&daemon->hold, pawl_hold_release);
  g_clear_pointer(&daemon->store, pawl_store_close);
}

/* What stands on the store. A shared one that cannot be used yet (a server that starts, a standby, too many connections, an older schema) is
 * tried again for as long as it takes; a signal ends the waiting. */
static gboolean open_parts(Daemon *daemon, GError **error) {
  gint64 wait_ms = RETRY_MIN_MS;
  for (gboolean first = TRUE;; first = FALSE) {
    g_autoptr(GError) failed = NULL;
    if (open_store(daemon, &failed) && pawl_files_apply(daemon->store, daemon->options, TRUE, daemon->users, &failed) &&
        open_engine(daemon, &failed) && open_worker(daemon, &failed))
      return TRUE;
    gboolean again = daemon->options->shared && pawl_error_info_of(failed)->retry;
    close_parts(daemon);
    if (again && (first || wait_ms == RETRY_MAX_MS))
      pawl_log(PAWL_LOG_ERROR, "up.waits", "the store cannot be used yet; trying again", "reason", failed->message, NULL);
    if (again) {
      g_autofree char *phase = g_strdup_printf("waiting for the store: %s", failed->message);
      pawl_health_phase(daemon->health, phase);
    }
    daemon->stopped = again && next_signal(daemon, -1, wait_ms + g_random_int_range(0, (gint)wait_ms)) > 0;
    if (!again || daemon->stopped) {
      g_propagate_error(error, g_steal_pointer(&failed));
      return FALSE;
    }
    wait_ms = MIN(wait_ms * 2, RETRY_MAX_MS);
  }
}

static gboolean start(Daemon *daemon, GError **error) {
  daemon->runner_path = find_runner(error);
  if (daemon->runner_path == NULL || !pawl_files_readable(daemon->options, error)) return FALSE;
  guint connections = allow_descriptors(daemon->options->slots);
  collect_allowed(daemon);
  daemon->health = pawl_health_open(daemon->options, connections, error);
  PAWL_FAULT("up.before_store");
  if (daemon->health == NULL || !open_parts(daemon, error)) return FALSE;
  pawl_files_say_others(daemon->store, daemon->options);
  pawl_worker_start(daemon->worker);
  pawl_engine_start(daemon->engine, pawl_worker_session(daemon->worker));
  pawl_health_watch(daemon->health, daemon->engine, daemon->worker);
  pawl_health_phase(daemon->health, NULL);
  g_autofree char *slots = g_strdup_printf("%d", daemon->options->slots);
  pawl_log(PAWL_LOG_INFO, "ready", "ready", "slots", slots, NULL);
  pawl_notify("READY=1");
  pawl_db_tidy(pawl_store_db(daemon->store)); /* it is used again at a HUP only */
  return TRUE;
}

/* ---- life ---- */

static void reload(Daemon *daemon) {
  g_autoptr(GError) failed = NULL;
  g_autoptr(GPtrArray) users = g_ptr_array_new_with_free_func(g_free);
  pawl_log(PAWL_LOG_INFO, "reload", "reading the files again", NULL);
  pawl_notify("RELOADING=1");
  if (!pawl_files_apply(daemon->store, daemon->options, FALSE, users, &failed))
    pawl_log(PAWL_LOG_ERROR, "reload.failed", failed->message, NULL);
  pawl_db_tidy(pawl_store_db(daemon->store));
  pawl_engine_wake(daemon->engine);
  pawl_worker_wake(daemon->worker);
  pawl_notify("READY=1");
}

/* systemd ends and starts again whoever stops saying this. */
static void feed_watchdog(Daemon *daemon) {
  g_autoptr(GString) why = g_string_new(NULL);
  if (pawl_health_alive(daemon->health, why)) {
    daemon->stuck = FALSE;
    pawl_notify("WATCHDOG=1");
  } else if (!daemon->stuck) {
    daemon->stuck = TRUE;
    pawl_log(PAWL_LOG_ERROR, "watchdog", why->str, NULL);
  }
}

static void live(Daemon *daemon) {
  gint64 watchdog_ms = pawl_watchdog_period_ms();
  for (;;) {
    int signal_number = next_signal(daemon, -1, watchdog_ms > 0 ? watchdog_ms : -1);
    if (watchdog_ms > 0) feed_watchdog(daemon);
    if (signal_number == SIGHUP)
      reload(daemon);
    else if (signal_number != 0)
      return;
  }
}

/* ---- stop ---- */

static void say_draining(Daemon *daemon, gint64 left_ms) {
  g_autofree char *running = g_strdup_printf("%u", pawl_worker_active(daemon->worker));
  g_autofree char *left = left_ms < 0 ? NULL : pawl_duration_text(left_ms / 1000 * 1000);
  pawl_log(PAWL_LOG_NOTICE, "drain", "stopping: waiting for what runs; a second signal ends it at once", "running", running, "at_most",
    left, NULL);
}

/* TRUE: idle. FALSE: the time is over, or a second signal came (then *ret_forced). */
static gboolean drain(Daemon *daemon, gint64 drain_ms, gboolean *ret_forced) {
  gint64 until_ms = pawl_clock_mono_ms() + drain_ms, said_ms = 0;
  gint64 watchdog_ms = pawl_watchdog_period_ms();
  while (pawl_worker_active(daemon->worker) > 0) {
    gint64 now_ms = pawl_clock_mono_ms(), left_ms = drain_ms == 0 ? -1 : until_ms - now_ms;
    if (drain_ms != 0 && left_ms <= 0) return FALSE;
    if (said_ms == 0 || now_ms - said_ms >= DRAIN_SAY_MS) {
      say_draining(daemon, left_ms);
      said_ms = now_ms;
    }
    gint64 wait_ms = MIN(DRAIN_SAY_MS, watchdog_ms > 0 ? watchdog_ms : DRAIN_SAY_MS);
    int signal_number = next_signal(daemon, pawl_worker_idle_fd(daemon->worker), left_ms < 0 ? wait_ms : MIN(left_ms, wait_ms));
    if (watchdog_ms > 0) feed_watchdog(daemon);
    if (signal_number == SIGTERM || signal_number == SIGINT) {
      *ret_forced = TRUE;
      return FALSE;
    }
  }
  return TRUE;
}

/* Ends what is left: TERM, and KILL after each task's kill_after. A further signal: KILL. Ends that the store does not take are left to
 * the next start's recovery after a while. */
static void end_rest(Daemon *daemon, gboolean forced) {
  gint64 until_ms = 0;
  pawl_log(
    PAWL_LOG_WARNING, "drain.end", forced ? "a second signal: what runs is killed" : "the drain time is over: what runs is ended", NULL);
  pawl_worker_stop_all(daemon->worker, forced);
  while (pawl_worker_active(daemon->worker) > 0) {
    if (pawl_worker_running(daemon->worker) == 0 && until_ms == 0) until_ms = pawl_clock_mono_ms() + RECORD_WAIT_MS;
    if (until_ms != 0 && pawl_clock_mono_ms() > until_ms) {
      pawl_log(PAWL_LOG_ERROR, "drain.unrecorded", "the store does not take how runs ended; the next start settles them", NULL);
      return;
    }
    int signal_number = next_signal(daemon, pawl_worker_idle_fd(daemon->worker), 200);
    if (signal_number == SIGTERM || signal_number == SIGINT) pawl_worker_stop_all(daemon->worker, TRUE);
  }
}

static void stop(Daemon *daemon) {
  gboolean forced = FALSE;
  pawl_notify("STOPPING=1");
  pawl_health_phase(daemon->health, "draining: it stops once what runs has ended");
  pawl_engine_stop(daemon->engine);
  pawl_worker_drain(daemon->worker);
  if (!drain(daemon, daemon->options->drain_ms, &forced)) end_rest(daemon, forced);
}

static void close_all(Daemon *daemon) {
  close_parts(daemon);
  pawl_health_close(daemon->health);
  g_ptr_array_unref(daemon->users);
  g_free(daemon->runner_path);
  g_free(daemon->actor);
  close(daemon->signal_fd);
}

int pawl_daemon_up(const PawlUpOptions *options) {
  g_autoptr(GError) failed = NULL;
  PawlLogLevel level = PAWL_LOG_INFO;
  int code = PAWL_EXIT_OK;
  pawl_log_level_parse(options->log_level, &level);
  pawl_log_setup(level, options->log_json ? PAWL_LOG_JSON : PAWL_LOG_TEXT);
  mallopt(M_ARENA_MAX, 1); /* four threads that rarely meet: one arena keeps the process small */
  Daemon daemon = {.options = options,
    .actor = g_strdup_printf("%s@%s", g_get_user_name(), options->name),
    .users = g_ptr_array_new_with_free_func(g_free)};
  block_signals(&daemon.signal_fd);
  if (start(&daemon, &failed)) {
    live(&daemon);
    stop(&daemon);
    pawl_log(PAWL_LOG_NOTICE, "down", "stopped", NULL);
  } else if (daemon.stopped) {
    pawl_log(PAWL_LOG_NOTICE, "down", "stopped while waiting for the store", NULL);
  } else {
    code = pawl_error_info_of(failed)->exit_code;
    pawl_log(PAWL_LOG_ERROR, "up.failed", failed->message, NULL);
  }
  close_all(&daemon);
  return code;
}
