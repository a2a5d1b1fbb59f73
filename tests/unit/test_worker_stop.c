/* SPDX-License-Identifier: Apache-2.0 */
/* Work never outlives its time (G6): stops, timeouts, leases, and the deaths of the worker and of the runner. */
#include "test_worker_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define IGNORES_TERM "trap '' TERM; echo ready; while :; do sleep 1000; done"

static void stop(Host *host, const PawlFence *fence, PawlStop why) { pawl_supervisor_stop(host_supervisor(host), fence, why); }

static void assert_nothing_lives(const PawlFence *fence) { g_assert_cmpuint(marked_processes(fence), ==, 0); }

static void test_stop(void) {
  Host *host = host_new();
  PawlFence fence = host_submit(host, work_sh("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done"));
  host_wait_output(host, &fence, "ready");
  stop(host, &fence, PAWL_STOP_CANCEL);
  stop(host, &fence, PAWL_STOP_DRAIN); /* the first reason stays */
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  assert_exited(ended, 7);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_CANCEL);
  g_assert_false(ended->killed);
  host_wait_output(host, &fence, "bye");
  assert_nothing_lives(&fence);
  stop(host, &fence, PAWL_STOP_CANCEL); /* it is not known any more */
  host_free(host);
}

static void test_stop_needs_kill(void) {
  Host *host = host_new();
  PawlWork *work = work_sh(IGNORES_TERM);
  work->kill_after_ms = 150;
  PawlFence fence = host_submit(host, work);
  host_wait_output(host, &fence, "ready");
  gint64 from_ms = pawl_clock_mono_ms();
  stop(host, &fence, PAWL_STOP_CANCEL);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  assert_signalled(ended, SIGKILL);
  g_assert_cmpint(pawl_clock_mono_ms() - from_ms, >=, 150);
  g_assert_true(ended->killed);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_CANCEL);
  assert_nothing_lives(&fence);
  host_free(host);
}

/* A stopped process hears TERM too. */
static void test_stop_of_the_stopped(void) {
  Host *host = host_new();
  PawlFence fence = host_submit(host, work_sh("echo ready; kill -STOP $$; echo never"));
  host_wait_output(host, &fence, "ready");
  stop(host, &fence, PAWL_STOP_CANCEL);
  assert_signalled(host_wait(host, &fence, PAWL_REPORT_ENDED), SIGTERM);
  host_free(host);
}

/* A shell that ends at once on TERM does not shorten the time that its child needs to tidy up. */
static void test_stop_leaves_time(void) {
  Host *host = host_new();
  PawlFence fence =
    host_submit(host, work_sh("sh -c 'trap \"sleep 0.3; echo tidy; exit\" TERM; echo ready; while :; do sleep 0.01; done' & wait"));
  host_wait_output(host, &fence, "ready");
  stop(host, &fence, PAWL_STOP_CANCEL);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  assert_signalled(ended, SIGTERM);
  g_assert_false(ended->killed);
  host_wait_output(host, &fence, "tidy");
  host_free(host);
}

static void test_timeout(void) {
  Host *host = host_new();
  PawlWork *work = work_sh("exec sleep 1000");
  work->timeout_ms = 150;
  gint64 from_ms = pawl_clock_mono_ms();
  const PawlReport *ended = host_run(host, work);
  assert_signalled(ended, SIGTERM);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_TIMEOUT);
  g_assert_cmpint(pawl_clock_mono_ms() - from_ms, >=, 150);
  work = work_sh(IGNORES_TERM);
  work->timeout_ms = 300;
  work->kill_after_ms = 100;
  ended = host_run(host, work);
  assert_signalled(ended, SIGKILL);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_TIMEOUT);
  g_assert_true(ended->killed);
  assert_nothing_lives(&ended->fence);
  work = work_sh("exit 0"); /* in time */
  work->timeout_ms = 60000;
  ended = host_run(host, work);
  assert_exited(ended, 0);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_NONE);
  host_free(host);
}

/* Sessions of their own, a double fork, a cleared environment, a deaf one: nobody escapes a stop. */
static void test_descendants(void) {
  static const char *const scripts[] = {
    "setsid sh -c '$BODY' & wait",
    "(setsid sh -c '$BODY' &) ; sleep 1000",
    "env -i setsid sh -c '$BODY' & sleep 1000",
    "sh -c 'setsid sh -c \"setsid sh -c \\\"setsid sleep 1000 $NAME2 & sleep 1000\\\" & sleep 1000\" & sleep 1000' & setsid sh -c '$BODY' & sleep 1000",
  };
  Host *host = host_new();
  for (guint i = 0; i < G_N_ELEMENTS(scripts); i++) {
    g_autofree char *name = unique_name("desc-");
    g_autofree char *body = g_strdup_printf("trap \"\" TERM; echo ready; : %s; while :; do sleep 1000; done", name);
    g_autoptr(GString) script = g_string_new(scripts[i]);
    g_string_replace(script, "$BODY", body, 0);
    g_string_replace(script, "$NAME2", "", 0);
    PawlWork *work = work_sh(script->str);
    work->kill_after_ms = 50;
    PawlFence fence = host_submit(host, work);
    host_wait_output(host, &fence, "ready");
    g_assert_cmpuint(named_processes(name), >, 0);
    stop(host, &fence, PAWL_STOP_CANCEL);
    const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
    g_assert_true(ended->killed);
    g_assert_cmpuint(named_processes(name), ==, 0);
    assert_nothing_lives(&fence);
  }
  host_free(host);
}

/* Ends and goes on as its own child, all the time: `comet NAME` in main(). */
static void be_comet(void) {
  signal(SIGTERM, SIG_IGN);
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) _exit(1);
  for (;;) {
    pid_t pid = fork();
    if (pid > 0) _exit(0);
  }
}

static void test_comet(void) {
  Host *host = host_new();
  g_autofree char *name = unique_name("comet-");
  char *argv[] = {(char *)"/proc/self/exe", (char *)"comet", name, NULL};
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  argv[0] = self;
  PawlWork *work = work_new(argv);
  work->kill_after_ms = 50;
  const PawlReport *ended = host_run(host, work); /* its main process ends at once, so the rest is in the background */
  g_assert_true(ended->left_background);
  g_assert_true(ended->killed);
  g_assert_cmpuint(named_processes(name), ==, 0);
  host_free(host);
}

static void test_before_go(void) {
  Host *host = host_new();
  host_hold(host);
  PawlFence fence = host_submit(host, work_sh("echo ran"));
  const PawlReport *ready = host_wait(host, &fence, PAWL_REPORT_READY);
  g_assert_true(pawl_process_alive(&ready->runner));
  stop(host, &fence, PAWL_STOP_DRAIN);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->end, ==, PAWL_END_NOT_STARTED);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_DRAIN);
  g_assert_null(host_peek(host, &fence, PAWL_REPORT_STARTED));
  g_assert_false(pawl_process_alive(&ready->runner));
  pawl_supervisor_go(host_supervisor(host), &fence); /* unknown by now */
  fence = host_submit(host, work_sh("echo ran"));    /* stopped in the same breath, before there is a runner */
  stop(host, &fence, PAWL_STOP_CANCEL);
  ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->end, ==, PAWL_END_NOT_STARTED);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_CANCEL);
  PawlFence unknown = {.run = pawl_id_new(1), .attempt = 1};
  pawl_supervisor_go(host_supervisor(host), &unknown);
  pawl_supervisor_renew(host_supervisor(host), &unknown, 1);
  stop(host, &unknown, PAWL_STOP_CANCEL);
  host_free(host);
}

/* The whole fence counts: an older lease of the same attempt can't stop it. */
static void test_other_fence(void) {
  Host *host = host_new();
  PawlFence fence = host_submit(host, work_sh("echo ready; exec sleep 1000")), older = fence;
  older.lease_version--;
  host_wait_output(host, &fence, "ready");
  stop(host, &older, PAWL_STOP_LEASE);
  stop(host, &fence, PAWL_STOP_CANCEL);
  g_assert_cmpint(host_wait(host, &fence, PAWL_REPORT_ENDED)->stop, ==, PAWL_STOP_CANCEL);
  host_free(host);
}

static void test_stop_all(void) {
  Host *host = host_new();
  PawlFence fences[20];
  for (int i = 0; i < 20; i++) fences[i] = host_submit(host, work_sh(i % 2 ? IGNORES_TERM : "echo ready; exec sleep 1000"));
  for (int i = 0; i < 20; i++) host_wait_output(host, &fences[i], "ready");
  pawl_supervisor_stop_all(host_supervisor(host), PAWL_STOP_DRAIN, FALSE);
  for (int i = 0; i < 20; i += 2) assert_signalled(host_wait(host, &fences[i], PAWL_REPORT_ENDED), SIGTERM);
  pawl_supervisor_stop_all(host_supervisor(host), PAWL_STOP_CANCEL, TRUE);
  for (int i = 1; i < 20; i += 2) {
    const PawlReport *ended = host_wait(host, &fences[i], PAWL_REPORT_ENDED);
    assert_signalled(ended, SIGKILL);
    g_assert_cmpint(ended->stop, ==, PAWL_STOP_DRAIN);
  }
  host_free(host);
}

/* Freeing ends what lives, and each submit still gets its end. */
static void test_free(void) {
  Host *host = host_new();
  PawlFence fences[5];
  for (int i = 0; i < 5; i++) fences[i] = host_submit(host, work_sh(IGNORES_TERM));
  for (int i = 0; i < 5; i++) host_wait_output(host, &fences[i], "ready");
  host_free(host);
  for (int i = 0; i < 5; i++) assert_nothing_lives(&fences[i]);
}

static PawlWork *with_lease(PawlWork *work, gint64 lease_ms) {
  work->lease_end_boot_ms = pawl_clock_boot_ms() + lease_ms;
  work->kill_after_ms = 200;
  return work;
}

static void test_lease_ends(void) {
  Host *host = host_new();
  PawlFence fence = host_submit(host, with_lease(work_sh(IGNORES_TERM), 1000));
  gint64 lease_end_ms = pawl_clock_boot_ms() + 1000;
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  assert_signalled(ended, SIGKILL);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_LEASE);
  g_assert_cmpint(pawl_clock_boot_ms(), >=, lease_end_ms - 50);
  assert_nothing_lives(&fence);
  ended = host_run(host, with_lease(work_sh("exec sleep 1000"), 600)); /* who hears TERM ends before */
  assert_signalled(ended, SIGTERM);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_LEASE);
  host_hold(host); /* it ends before go */
  fence = host_submit(host, with_lease(work_sh("echo ran"), 200));
  ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->end, ==, PAWL_END_NOT_STARTED);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_LEASE);
  fence = host_submit(host, with_lease(work_sh("echo ran"), -1000)); /* it had ended before submit */
  ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->end, ==, PAWL_END_NOT_STARTED);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_LEASE);
  host_free(host);
}

static void test_renew(void) {
  Host *host = host_new();
  gint64 first_end_ms = pawl_clock_boot_ms() + 700;
  PawlFence fence = host_submit(host, with_lease(work_sh("echo ready; exec sleep 1000"), 700));
  host_wait(host, &fence, PAWL_REPORT_READY);
  pawl_supervisor_renew(host_supervisor(host), &fence, pawl_clock_boot_ms() + 60000);
  wait_for(pawl_clock_boot_ms() > first_end_ms + 300);
  g_assert_null(host_peek(host, &fence, PAWL_REPORT_ENDED));
  pawl_supervisor_renew(host_supervisor(host), &fence, pawl_clock_boot_ms() + 300);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_LEASE);
  host_free(host);
}

static void test_runner_killed(void) {
  Host *host = host_new();
  g_autofree char *name = unique_name("lost-");
  g_autofree char *script = g_strdup_printf("setsid sh -c 'trap \"\" TERM; : %s; echo ready; while :; do sleep 1000; done' &"
                                            " env -i sh -c ': %s; while :; do sleep 1000; done' & wait",
    name, name);
  PawlFence fence = host_submit(host, work_sh(script));
  host_wait_output(host, &fence, "ready");
  wait_for(named_processes(name) >= 3);
  g_assert_cmpint(kill(host_peek(host, &fence, PAWL_REPORT_READY)->runner.pid, SIGKILL), ==, 0);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->end, ==, PAWL_END_RUNNER_LOST);
  g_assert_cmpuint(named_processes(name), ==, 0);
  assert_nothing_lives(&fence);
  host_hold(host); /* before go: nothing has run */
  fence = host_submit(host, work_sh("echo ran"));
  kill(host_wait(host, &fence, PAWL_REPORT_READY)->runner.pid, SIGKILL);
  ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->end, ==, PAWL_END_NOT_STARTED);
  host_free(host);
}

/* A runner that somebody has stopped can't keep the lease's end: the supervisor does. */
static void test_runner_stopped(void) {
  Host *host = host_new();
  PawlFence fence = host_submit(host, with_lease(work_sh(IGNORES_TERM), 1000));
  host_wait_output(host, &fence, "ready");
  kill(host_peek(host, &fence, PAWL_REPORT_READY)->runner.pid, SIGSTOP);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->end, ==, PAWL_END_RUNNER_LOST);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_LEASE);
  assert_nothing_lives(&fence);
  host_free(host);
}

/* Nor can it watch the time-out, while the lease is renewed all the time. */
static void test_runner_stopped_before_its_timeout(void) {
  Host *host = host_new();
  PawlWork *work = work_sh(IGNORES_TERM);
  work->timeout_ms = 300;
  work->kill_after_ms = 100;
  PawlFence fence = host_submit(host, with_lease(work, 60000));
  host_wait_output(host, &fence, "ready");
  gint64 from_ms = pawl_clock_boot_ms(); /* it started before */
  kill(host_peek(host, &fence, PAWL_REPORT_READY)->runner.pid, SIGSTOP);
  const PawlReport *ended;
  while (!(ended = host_peek(host, &fence, PAWL_REPORT_ENDED)) && pawl_clock_boot_ms() < from_ms + DEADLINE_MS) {
    pawl_supervisor_renew(host_supervisor(host), &fence, pawl_clock_boot_ms() + 60000); /* puts nothing off */
    g_usleep(50000);
  }
  g_assert_nonnull(ended);
  g_assert_cmpint(ended->end, ==, PAWL_END_RUNNER_LOST);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_TIMEOUT);
  assert_nothing_lives(&fence);
  host_free(host);
}

/* The same when it has not even said that it has started. */
static void test_runner_stopped_before_go(void) {
  Host *host = host_new();
  host_hold(host);
  PawlWork *work = work_sh("echo ran");
  work->timeout_ms = 300;
  PawlFence fence = host_submit(host, with_lease(work, 60000));
  kill(host_wait(host, &fence, PAWL_REPORT_READY)->runner.pid, SIGSTOP);
  pawl_supervisor_go(host_supervisor(host), &fence);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->end, ==, PAWL_END_RUNNER_LOST);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_TIMEOUT);
  g_assert_null(host_peek(host, &fence, PAWL_REPORT_STARTED));
  g_assert_cmpint(ended->output_bytes, ==, 0);
  host_free(host);
}

/* A runner that can move ends the work itself, and has all the time between TERM and KILL for it. */
static void test_timeout_guard_waits(void) {
  Host *host = host_new();
  PawlWork *work = work_sh("trap 'sleep 2.5; exit 7' TERM; echo ready; while :; do sleep 0.01; done");
  work->timeout_ms = 300;
  work->kill_after_ms = 10000;
  const PawlReport *ended = host_run(host, work);
  assert_exited(ended, 7);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_TIMEOUT);
  g_assert_false(ended->killed);
  host_free(host);
}

/* Without descriptors nothing can be started, and nothing of it has run: it can be tried again. */
static void test_short_of_descriptors(void) {
  struct rlimit former, none;
  Host *host = host_new();
  assert_exited(host_run(host, work_sh("exit 4")), 4);
  getrlimit(RLIMIT_NOFILE, &former);
  none = former;
  none.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &none);
  PawlWork *work = work_sh("exit 5");
  work->input = g_bytes_new_static("x", 1); /* the spare has no pipe for an input */
  PawlFence fence = host_submit(host, work);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  g_assert_cmpint(ended->end, ==, PAWL_END_NOT_STARTED);
  g_assert_true(ended->try_again);
  setrlimit(RLIMIT_NOFILE, &former);
  assert_exited(host_run(host, work_sh("exit 6")), 6);
  host_free(host);
}

/* TERM to the runner itself, as a service manager sends it to a whole control group, is not its end. */
static void test_runner_hears_nothing(void) {
  Host *host = host_new();
  PawlFence fence = host_submit(host, work_sh("echo ready; exec sleep 1000"));
  host_wait_output(host, &fence, "ready");
  pid_t runner = host_peek(host, &fence, PAWL_REPORT_READY)->runner.pid;
  static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGUSR1};
  for (guint i = 0; i < G_N_ELEMENTS(signals); i++) kill(runner, signals[i]);
  stop(host, &fence, PAWL_STOP_CANCEL);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  assert_signalled(ended, SIGTERM);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_CANCEL);
  host_free(host);
}

/* `host LEASE_MS RUN SCRIPT` in main(): a worker with one work; says "ready" when that does. */
static void be_host(char **argv) {
  Host *host = host_new();
  PawlWork *work = work_sh(argv[4]);
  gint64 lease_ms = g_ascii_strtoll(argv[2], NULL, 10);
  if (lease_ms) work = with_lease(work, lease_ms);
  work->kill_after_ms = 200;
  pawl_id_parse(argv[3], &work->fence.run);
  g_autofree char *mark = g_strconcat("PAWL_RUN_ID=", argv[3], NULL);
  g_free(work->envp[2]);
  work->envp[2] = g_steal_pointer(&mark);
  PawlFence fence = host_submit(host, work);
  host_wait_output(host, &fence, "ready");
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) _exit(1);
  for (;;) pause();
}

typedef struct {
  pid_t pid;
  PawlFence fence; /* only its run */
} Child;

static Child start_host(gint64 lease_ms, const char *script) {
  extern char **environ;
  Child child = {.fence = {.run = pawl_id_new(pawl_clock_wall_ms())}};
  char run[PAWL_ID_TEXT], lease[24], answer[6];
  pawl_id_text(&child.fence.run, run);
  g_snprintf(lease, sizeof lease, "%" G_GINT64_FORMAT, lease_ms);
  char *argv[] = {(char *)"test_worker_stop", (char *)"host", lease, run, (char *)script, NULL};
  int fds[2];
  g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  g_assert_cmpint(posix_spawn(&child.pid, "/proc/self/exe", &actions, NULL, argv, environ), ==, 0);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  struct pollfd pollfd = {.fd = fds[0], .events = POLLIN};
  g_assert_cmpint(poll(&pollfd, 1, DEADLINE_MS), ==, 1);
  g_assert_cmpint(read(fds[0], answer, sizeof answer), ==, 6);
  close(fds[0]);
  return child;
}

static void end_host(const Child *child) {
  kill(child->pid, SIGKILL);
  waitpid(child->pid, NULL, 0);
}

static void test_worker_killed(void) {
  Child child = start_host(0, "setsid sh -c '" IGNORES_TERM "' & " IGNORES_TERM);
  g_assert_cmpuint(marked_processes(&child.fence), >=, 2);
  end_host(&child);
  wait_for(marked_processes(&child.fence) == 0);
}

static void test_worker_frozen(void) {
  Child child = start_host(1500, "setsid sh -c '" IGNORES_TERM "' & " IGNORES_TERM);
  kill(child.pid, SIGSTOP);
  g_assert_cmpuint(marked_processes(&child.fence), >=, 2);
  gint64 until_ms = pawl_clock_boot_ms() + 1500 + 500;
  wait_for(marked_processes(&child.fence) == 0);
  g_assert_cmpint(pawl_clock_boot_ms(), <, until_ms);
  end_host(&child);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "comet") == 0) be_comet();
  if (argc > 4 && strcmp(argv[1], "host") == 0) be_host(argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/stop/stop", test_stop);
  g_test_add_func("/stop/needs-kill", test_stop_needs_kill);
  g_test_add_func("/stop/of-the-stopped", test_stop_of_the_stopped);
  g_test_add_func("/stop/leaves-time", test_stop_leaves_time);
  g_test_add_func("/stop/timeout", test_timeout);
  g_test_add_func("/stop/descendants", test_descendants);
  g_test_add_func("/stop/comet", test_comet);
  g_test_add_func("/stop/before-go", test_before_go);
  g_test_add_func("/stop/other-fence", test_other_fence);
  g_test_add_func("/stop/all", test_stop_all);
  g_test_add_func("/stop/runner-stopped-before-its-timeout", test_runner_stopped_before_its_timeout);
  g_test_add_func("/stop/runner-stopped-before-go", test_runner_stopped_before_go);
  g_test_add_func("/stop/timeout-guard-waits", test_timeout_guard_waits);
  g_test_add_func("/stop/short-of-descriptors", test_short_of_descriptors);
  g_test_add_func("/stop/free", test_free);
  g_test_add_func("/g6-stop-first/lease-ends", test_lease_ends);
  g_test_add_func("/g6-stop-first/renew", test_renew);
  g_test_add_func("/g6-stop-first/runner-killed", test_runner_killed);
  g_test_add_func("/g6-stop-first/runner-stopped", test_runner_stopped);
  g_test_add_func("/g6-stop-first/runner-hears-nothing", test_runner_hears_nothing);
  g_test_add_func("/g6-stop-first/worker-killed", test_worker_killed);
  g_test_add_func("/g6-stop-first/worker-frozen", test_worker_frozen);
  return g_test_run();
}
