/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor with real processes: starting, input, output, and the end of work that ends by itself. */
#include "test_worker_harness.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void assert_not_started(const PawlReport *ended, const char *detail) {
  g_assert_cmpint(ended->end, ==, PAWL_END_NOT_STARTED);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_NONE);
  g_assert_nonnull(ended->detail);
  g_assert_false(ended->try_again);
  if (!g_str_has_prefix(ended->detail, detail)) g_error("\"%s\" does not begin with \"%s\"", ended->detail, detail);
}

static void test_exit_codes(void) {
  Host *host = host_new();
  static const struct {
    const char *script;
    gint code, signal;
  } rows[] = {{"exit 0", 0, 0}, {"exit 1", 1, 0}, {"exit 255", 255, 0}, {"kill -TERM $$", 0, SIGTERM}, {"kill -SEGV $$", 0, SIGSEGV},
    {"kill -KILL $$", 0, SIGKILL}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const PawlReport *ended = host_run(host, work_sh(rows[i].script));
    if (rows[i].signal)
      assert_signalled(ended, rows[i].signal);
    else
      assert_exited(ended, rows[i].code);
    g_assert_cmpint(ended->stop, ==, PAWL_STOP_NONE);
    g_assert_false(ended->killed);
    g_assert_false(ended->left_background);
    g_assert_cmpint(ended->output_bytes, ==, 0);
    g_assert_cmpuint(host_count(host, &ended->fence, PAWL_REPORT_READY), ==, 1);
    g_assert_cmpuint(host_count(host, &ended->fence, PAWL_REPORT_STARTED), ==, 1);
    g_assert_cmpuint(host_count(host, &ended->fence, PAWL_REPORT_ENDED), ==, 1);
    const PawlReport *ready = host_peek(host, &ended->fence, PAWL_REPORT_READY);
    g_assert_cmpstr(ready->runner.boot_id, ==, pawl_boot_id());
    g_assert_cmpint(kill(host_peek(host, &ended->fence, PAWL_REPORT_STARTED)->work_pid, 0), ==, -1);
  }
  host_free(host);
}

static void test_arguments(void) {
  Host *host = host_new();
  char *argv[] = {
    (char *)"/bin/sh", (char *)"-c", (char *)"printf '<%s>' \"$0\" \"$@\"", (char *)"zero", (char *)"", (char *)"a b", (char *)"*", NULL};
  const PawlReport *ended = host_run(host, work_new(argv));
  assert_exited(ended, 0);
  assert_output(host, ended, PAWL_STREAM_STDOUT, "<zero><><a b><*>");
  host_free(host);
}

static void test_not_started(void) {
  Host *host = host_new();
  char *missing[] = {(char *)"no-such-program-here", NULL}, *missing_path[] = {(char *)"/no/such/program", NULL};
  char *folder[] = {(char *)"/etc", NULL}, *empty[] = {(char *)"", NULL}, *none[] = {NULL};
  assert_not_started(host_run(host, work_new(missing)), "exec no-such-program-here: No such file or directory (not found in PATH)");
  assert_not_started(host_run(host, work_new(missing_path)), "exec /no/such/program: No such file or directory");
  assert_not_started(host_run(host, work_new(folder)), "exec /etc: Permission denied");
  assert_not_started(host_run(host, work_new(empty)), "exec : No such file or directory");
  assert_not_started(host_run(host, work_new(none)), "no program");
  PawlWork *work = work_sh("exit 0");
  g_free(work->cwd);
  work->cwd = g_strdup("/no/such/folder");
  const PawlReport *ended = host_run(host, work);
  assert_not_started(ended, "cwd /no/such/folder: No such file or directory");
  g_assert_null(host_peek(host, &ended->fence, PAWL_REPORT_STARTED));
  host_free(host);
}

static void assert_try_again(const PawlReport *ended, const char *detail) {
  g_assert_cmpint(ended->end, ==, PAWL_END_NOT_STARTED);
  g_assert_cmpint(ended->stop, ==, PAWL_STOP_NONE);
  g_assert_true(ended->try_again);
  if (!g_str_has_prefix(ended->detail, detail)) g_error("\"%s\" does not begin with \"%s\"", ended->detail, detail);
}

static void test_no_process(void) {
#ifdef PAWL_FAULTS
  g_setenv("PAWL_FAULT", "worker.spawn:1:error", TRUE);
  Host *host = host_new();
  const PawlReport *ended = host_run(host, work_sh("echo ran"));
  assert_try_again(ended, "pawl-runner: Resource temporarily unavailable");
  g_assert_null(host_peek(host, &ended->fence, PAWL_REPORT_READY));
  assert_exited(host_run(host, work_sh("exit 3")), 3); /* it was for once */
  host_free(host);
  g_unsetenv("PAWL_FAULT");
#else
  g_test_skip("needs -Dfaults=true");
#endif
}

/* The runner is there, but has no descriptors left for the start of the work. */
static void test_runner_cannot_fork(void) {
  Host *host = host_new();
  host_hold(host);
  PawlFence fence = host_submit(host, work_sh("echo ran"));
  struct rlimit few = {.rlim_cur = 9, .rlim_max = 9}; /* 0 to 3, its signals, its timer, and what the work is given */
  g_assert_cmpint(prlimit(host_wait(host, &fence, PAWL_REPORT_READY)->runner.pid, RLIMIT_NOFILE, &few, NULL), ==, 0);
  pawl_supervisor_go(host_supervisor(host), &fence);
  const PawlReport *ended = host_wait(host, &fence, PAWL_REPORT_ENDED);
  assert_try_again(ended, "fork: Too many open files");
  g_assert_null(host_peek(host, &fence, PAWL_REPORT_STARTED));
  g_assert_cmpint(ended->output_bytes, ==, 0);
  host_free(host);
}

static pid_t runner_of(Host *host, const PawlReport *ended) { return host_peek(host, &ended->fence, PAWL_REPORT_READY)->runner.pid; }

/* Nor for what the work is given. */
static void test_runner_without_descriptors(void) {
  Host *host = host_new();
  pid_t spare = runner_of(host, host_run(host, work_sh("exit 0"))); /* it stays */
  struct rlimit few = {.rlim_cur = 6, .rlim_max = 6};
  g_assert_cmpint(prlimit(spare, RLIMIT_NOFILE, &few, NULL), ==, 0);
  const PawlReport *ended = host_run(host, work_sh("echo ran"));
  assert_try_again(ended, "pawl-runner: Too many open files");
  assert_exited(host_run(host, work_sh("exit 3")), 3);
  host_free(host);
}

/* One runner serves short runs one after the other, and knows nothing of the one before. */
static void test_runner_serves_again(void) {
  Host *host = host_new();
  const PawlReport *first = host_run(host, work_sh("head -c 64M /dev/zero | tail -c 64M | wc -c; exit 4"));
  assert_exited(first, 4);
  PawlWork *work = work_sh("ls /proc/self/fd | wc -l; cat");
  work->input = g_bytes_new_static("given", 5);
  const PawlReport *second = host_run(host, work);
  assert_exited(second, 0);
  g_assert_cmpint(runner_of(host, second), ==, runner_of(host, first));
  g_assert_cmpint(first->max_rss_kib, >, 60000);
  g_assert_cmpint(second->max_rss_kib, <, 30000);
  g_autoptr(GString) output = host_output(host, &second->fence, PAWL_STREAM_STDOUT);
  g_assert_cmpstr(output->str, ==, "4\ngiven"); /* 0, 1, 2, and the folder that ls reads */
  PawlFence fence = host_submit(host, work_sh("exec sleep 1000"));
  host_wait(host, &fence, PAWL_REPORT_STARTED);
  pawl_supervisor_stop(host_supervisor(host), &fence, PAWL_STOP_CANCEL);
  const PawlReport *stopped = host_wait(host, &fence, PAWL_REPORT_ENDED);
  const PawlReport *after = host_run(host, work_sh("exit 5"));
  assert_exited(after, 5);
  g_assert_cmpint(runner_of(host, after), !=, runner_of(host, stopped));
  host_free(host);
}

static char *write_script(const char *folder, const char *name, const char *text) {
  char *path = g_build_filename(folder, name, NULL);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_assert_cmpint(chmod(path, 0755), ==, 0);
  return path;
}

static void test_scripts(void) {
  Host *host = host_new();
  g_autofree char *folder = g_dir_make_tmp("pawl-worker-XXXXXX", NULL);
  g_autofree char *no_interpreter = write_script(folder, "a", "#!/no/such/interpreter\n");
  g_autofree char *no_first_line = write_script(folder, "b", "echo hello\n");
  g_autofree char *in_path = write_script(folder, "pawl-in-path", "#!/bin/sh\necho found\n");
  char *a[] = {no_interpreter, NULL}, *b[] = {no_first_line, NULL}, *c[] = {(char *)"pawl-in-path", NULL},
       *d[] = {(char *)"./pawl-in-path", NULL};
  assert_not_started(host_run(host, work_new(a)), "exec ");
  g_assert_nonnull(strstr(host_run(host, work_new(a))->detail, "interpreter"));
  g_assert_nonnull(strstr(host_run(host, work_new(b))->detail, "#! line"));
  PawlWork *work = work_new(c);
  g_free(work->envp[0]);
  work->envp[0] = g_strdup_printf("PATH=/no/such:%s", folder);
  const PawlReport *ended = host_run(host, work);
  assert_exited(ended, 0);
  assert_output(host, ended, PAWL_STREAM_STDOUT, "found\n");
  work = work_new(d);
  g_free(work->cwd);
  work->cwd = g_strdup(folder);
  assert_exited(host_run(host, work), 0);
  unlink(no_interpreter);
  unlink(no_first_line);
  unlink(in_path);
  rmdir(folder);
  host_free(host);
}

/* The work gets descriptors 0, 1 and 2, no signal blocked or ignored, a session and a group of its own, and the environment that it was given. */
static void test_clean_start(void) {
  Host *host = host_new();
  int leaked = open("/dev/null", O_RDONLY); /* without O_CLOEXEC, as a library could */
  signal(SIGUSR1, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  const PawlReport *ended = host_run(
    host, work_sh("echo $(ls /proc/self/fd | grep -v '^3$' | tr '\\n' ' ')\n" /* 3: the folder that ls reads */
                  "grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\t\\n'; echo\n"
                  "set -- $(cut -d ' ' -f 1,5,6 /proc/$$/stat); echo $(($1 == $2 && $2 == $3)); ls -l /proc/self/fd/0 | sed 's/.*-> //'"));
  signal(SIGUSR1, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  close(leaked);
  assert_exited(ended, 0);
  assert_output(host, ended, PAWL_STREAM_STDOUT, "0 1 2\nSigBlk:0000000000000000SigIgn:0000000000000000\n1\n/dev/null\n");
  char *argv[] = {(char *)"/usr/bin/env", NULL};
  PawlWork *work = work_new(argv);
  g_autofree char *expected = g_strconcat(work->envp[0], "\n", work->envp[1], "\n", work->envp[2], "\n", NULL);
  ended = host_run(host, work);
  assert_output(host, ended, PAWL_STREAM_STDOUT, expected);
  host_free(host);
}

static void test_umask(void) {
  Host *host = host_new();
  PawlWork *work = work_sh("umask");
  work->umask = 0137;
  assert_output(host, host_run(host, work), PAWL_STREAM_STDOUT, "0137\n");
  mode_t mask = umask(0);
  umask(mask);
  g_autofree char *inherited = g_strdup_printf("%04o\n", mask);
  assert_output(host, host_run(host, work_sh("umask")), PAWL_STREAM_STDOUT, inherited);
  host_free(host);
}

static void test_user(void) {
  if (geteuid() != 0) {
    g_test_skip("only root can change the user");
    return;
  }
  Host *host = host_new();
  PawlWork *work =
    work_sh("echo $(id -u) $(id -g) $(id -G); echo out > /dev/stdout; cat /dev/stdin; kill -0 $PPID 2>&1 | grep -c permitted");
  work->change_user = TRUE;
  work->uid = 65534;
  work->gid = 65533;
  work->groups = g_new(gid_t, 2);
  work->groups[0] = 1234;
  work->groups[1] = 1235;
  work->n_groups = 2;
  work->input = g_bytes_new_static("in\n", 3);
  const PawlReport *ended = host_run(host, work);
  assert_output(host, ended, 0, "65534 65533 65533 1234 1235\nout\nin\n1\n");
  /* The folder is entered as the user. */
  work = work_sh("exit 0");
  work->change_user = TRUE;
  work->uid = work->gid = 65534;
  g_autofree char *folder = g_dir_make_tmp("pawl-worker-XXXXXX", NULL);
  g_free(work->cwd);
  work->cwd = g_strdup(folder);
  assert_not_started(host_run(host, work), "cwd ");
  rmdir(folder);
  host_free(host);
}

static void test_input(void) {
  Host *host = host_new();
  PawlWork *work = work_sh("cat");
  work->input = g_bytes_new_static("{\"a\": 1}", 8);
  assert_output(host, host_run(host, work), PAWL_STREAM_STDOUT, "{\"a\": 1}");
  work = work_sh("cat; echo end"); /* none: it is empty, not open */
  assert_output(host, host_run(host, work), PAWL_STREAM_STDOUT, "end\n");
  work = work_sh("wc -c");
  work->input = g_bytes_new_take(g_malloc0(10 * 1000 * 1000), 10 * 1000 * 1000);
  assert_output(host, host_run(host, work), PAWL_STREAM_STDOUT, "10000000\n");
  work = work_sh("exec 0<&-; echo closed"); /* never reads, and closes it */
  work->input = g_bytes_new_take(g_malloc0(10 * 1000 * 1000), 10 * 1000 * 1000);
  assert_output(host, host_run(host, work), PAWL_STREAM_STDOUT, "closed\n");
  work = work_sh("echo done"); /* never reads, and ends */
  work->input = g_bytes_new_take(g_malloc0(10 * 1000 * 1000), 10 * 1000 * 1000);
  assert_exited(host_run(host, work), 0);
  host_free(host);
}

/* One that never reads its input keeps nobody else waiting. */
static void test_input_unread(void) {
  Host *host = host_new();
  PawlWork *work = work_sh("echo here; exec sleep 1000");
  work->input = g_bytes_new_take(g_malloc0(10 * 1000 * 1000), 10 * 1000 * 1000);
  PawlFence fence = host_submit(host, work);
  host_wait_output(host, &fence, "here");
  assert_exited(host_run(host, work_sh("exit 3")), 3);
  pawl_supervisor_stop(host_supervisor(host), &fence, PAWL_STOP_CANCEL);
  assert_signalled(host_wait(host, &fence, PAWL_REPORT_ENDED), SIGTERM);
  host_free(host);
}

static void test_large_environment(void) {
  Host *host = host_new();
  PawlWork *work = work_sh("env | wc -c"); /* larger than a socket's buffer */
  for (int i = 0; i < 10; i++) {
    g_autofree char *value = g_strnfill(100000, 'x'), *entry = g_strdup_printf("BIG%d=%s", i, value);
    work_setenv(work, entry);
  }
  const PawlReport *ended = host_run(host, work);
  assert_exited(ended, 0);
  GString *text = host_output(host, &ended->fence, PAWL_STREAM_STDOUT);
  g_assert_cmpint(g_ascii_strtoll(text->str, NULL, 10), >, 1000000);
  g_string_free(text, TRUE);
  work = work_sh("exit 0"); /* more than the kernel takes */
  for (int i = 0; i < 80; i++) {
    g_autofree char *value = g_strnfill(100000, 'x'), *entry = g_strdup_printf("BIG%d=%s", i, value);
    work_setenv(work, entry);
  }
  ended = host_run(host, work);
  assert_not_started(ended, "exec sh: Argument list too long");
  work = work_sh("exit 0"); /* more than pawl hands over */
  for (int i = 0; i < 170; i++) {
    g_autofree char *value = g_strnfill(100000, 'x'), *entry = g_strdup_printf("BIG%d=%s", i, value);
    work_setenv(work, entry);
  }
  ended = host_run(host, work);
  assert_not_started(ended, "exec sh: arguments and environment take 17");
  work = work_sh("echo $#"); /* very many small ones */
  char **argv = g_new0(char *, 20001);
  for (int i = 0; i < 20000; i++) argv[i] = g_strdup(i < 3 ? work->argv[i] : "x");
  g_strfreev(work->argv);
  work->argv = argv;
  assert_output(host, host_run(host, work), PAWL_STREAM_STDOUT, "19996\n");
  host_free(host);
}

/* What is in the background when the main process ends is ended, and the pipe that it holds does not keep the run open. */
static void test_background_ended(void) {
  Host *host = host_new();
  PawlWork *work = work_sh("sleep 1000 & echo here; exit 4");
  PawlFence fence = work->fence;
  const PawlReport *ended = host_run(host, work);
  assert_exited(ended, 4);
  g_assert_true(ended->left_background);
  g_assert_false(ended->killed);
  g_assert_cmpuint(marked_processes(&fence), ==, 0);
  work = work_sh(
    "(trap '' TERM; echo ready > up; while :; do sleep 1000; done) & until [ -s up ]; do :; done; exit 5"); /* it does not hear TERM */
  g_autofree char *folder = g_dir_make_tmp("pawl-worker-XXXXXX", NULL), *up = g_build_filename(folder, "up", NULL);
  g_free(work->cwd);
  work->cwd = g_strdup(folder);
  work->kill_after_ms = 100;
  fence = work->fence;
  ended = host_run(host, work);
  assert_exited(ended, 5);
  g_assert_true(ended->left_background);
  g_assert_true(ended->killed);
  unlink(up);
  rmdir(folder);
  g_assert_cmpuint(marked_processes(&fence), ==, 0);
  host_free(host);
}

/* With keep_background it lives on, and although it holds the pipe the run ends after drain_output_ms. */
static void test_background_kept(void) {
  Host *host = host_new();
  g_autofree char *name = unique_name("kept-");
  PawlWork *work = work_sh("sh -c 'while :; do sleep 1000; done' \"$NAME\" & echo $!");
  g_autofree char *entry = g_strconcat("NAME=", name, NULL);
  work_setenv(work, entry);
  work->keep_background = TRUE;
  work->drain_output_ms = 100;
  gint64 from_ms = pawl_clock_mono_ms();
  const PawlReport *ended = host_run(host, work);
  assert_exited(ended, 0);
  g_assert_true(ended->left_background);
  g_assert_cmpint(pawl_clock_mono_ms() - from_ms, >=, 100);
  wait_for(named_processes(name) > 0);
  g_assert_true(pawl_process_end_attempt(NULL, &ended->fence.run, 1, DEADLINE_MS));
  g_assert_cmpuint(named_processes(name), ==, 0);
  host_free(host);
}

static void test_many(void) {
  enum { N = 200 };
  Host *host = host_new();
  PawlFence fences[N];
  for (int i = 0; i < N; i++) {
    g_autofree char *script = g_strdup_printf("echo %d; exit %d", i, i % 7);
    fences[i] = host_submit(host, work_sh(script));
  }
  for (int i = 0; i < N; i++) {
    const PawlReport *ended = host_wait(host, &fences[i], PAWL_REPORT_ENDED);
    assert_exited(ended, i % 7);
    g_autofree char *expected = g_strdup_printf("%d\n", i);
    assert_output(host, ended, PAWL_STREAM_STDOUT, expected);
    g_assert_cmpuint(host_count(host, &fences[i], PAWL_REPORT_ENDED), ==, 1);
  }
  g_assert_cmpuint(own_zombies(), ==, 0);
  wait_for(own_children() <= 1); /* one that is spare; the others that served go */
  host_free(host);
}

static void test_usage(void) {
  Host *host = host_new();
  const PawlReport *ended = host_run(host, work_sh("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"));
  assert_exited(ended, 0);
  g_assert_cmpint(ended->cpu_ms, >, 10);
  g_assert_cmpint(ended->max_rss_kib, >, 300);
  g_assert_cmpint(ended->max_rss_kib, <, 100000);
  host_free(host);
}

static guint64 wake_ups(void) {
  guint64 n = 0;
  g_autoptr(GDir) dir = g_dir_open("/proc/self/task", 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir));) {
    g_autofree char *comm_path = g_build_filename("/proc/self/task", name, "comm", NULL), *comm = NULL;
    g_autofree char *path = g_build_filename("/proc/self/task", name, "status", NULL), *text = NULL;
    if (!g_file_get_contents(comm_path, &comm, NULL, NULL) || strcmp(comm, "supervisor\n") != 0) continue;
    g_file_get_contents(path, &text, NULL, NULL);
    n += g_ascii_strtoull(strstr(text, "\nvoluntary_ctxt_switches:") + 25, NULL, 10);
  }
  return n;
}

/* Neither an idle supervisor nor one whose attempts are silent wakes up. */
static void test_no_wake_ups(void) {
  Host *host = host_new();
  assert_exited(host_run(host, work_sh("echo x")), 0);
  PawlWork *work = work_sh("echo here; exec sleep 1000");
  work->lease_end_boot_ms = pawl_clock_boot_ms() + 60000;
  PawlFence fence = host_submit(host, work);
  host_wait_output(host, &fence, "here");
  guint64 before = wake_ups();
  g_usleep(400000); /* a time in which nothing happens is what is tested */
  g_assert_cmpuint(wake_ups() - before, <=, 1);
  host_free(host);
}

/* As PID 1 pawl is the parent of every orphan: they are reaped, and the runners' ends are still noticed. Without it strangers' children are left alone. */
static void test_reap_orphans(void) {
  pid_t stranger = fork();
  if (stranger == 0) _exit(9);
  Host *host = host_new();
  assert_exited(host_run(host, work_sh("exit 1")), 1);
  int status;
  g_assert_cmpint(waitpid(stranger, &status, 0), ==, stranger);
  g_assert_cmpint(WEXITSTATUS(status), ==, 9);
  host_free(host);

  prctl(PR_SET_CHILD_SUBREAPER, 1);
  host = host_new_as_init();
  PawlWork *work = work_sh("setsid sh -c 'exec sleep 0.107' & exit 2");
  work->keep_background = TRUE;
  work->drain_output_ms = 0;
  assert_exited(host_run(host, work), 2);
  for (int i = 0; i < 20; i++) assert_exited(host_run(host, work_sh("exit 3")), 3);
  wait_for(named_processes("0.107") == 0 && own_zombies() == 0);
  host_free(host);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* An upgrade replaces the file of pawl-runner under a running pawl, which goes on with the one that it began with. */
static void test_runner_replaced(void) {
  g_autofree char *folder = g_dir_make_tmp("pawl-worker-XXXXXX", NULL), *copy = g_build_filename(folder, "pawl-runner", NULL),
                  *program = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(runner_path(), &program, &n, NULL));
  g_assert_true(g_file_set_contents(copy, program, (gssize)n, NULL));
  g_assert_cmpint(chmod(copy, 0755), ==, 0);
  Host *host = host_new_with(copy);
  assert_exited(host_run(host, work_sh("sleep 1000 & exit 1")), 1); /* after which its runner does not stay */
  g_assert_true(g_file_set_contents(copy, "another version", -1, NULL));
  assert_exited(host_run(host, work_sh("sleep 1000 & exit 2")), 2);
  unlink(copy);
  assert_exited(host_run(host, work_sh("exit 3")), 3);
  host_free(host);
  rmdir(folder);
}

static void test_no_runner(void) {
  g_autoptr(GError) error = NULL;
  PawlSupervisorOptions options = {.runner_path = "/no/such/pawl-runner"};
  g_assert_null(pawl_supervisor_new(&options, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG);
  g_assert_nonnull(strstr(error->message, "/no/such/pawl-runner"));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/run/exit-codes", test_exit_codes);
  g_test_add_func("/run/arguments", test_arguments);
  g_test_add_func("/run/not-started", test_not_started);
  g_test_add_func("/run/no-process", test_no_process);
  g_test_add_func("/run/runner-cannot-fork", test_runner_cannot_fork);
  g_test_add_func("/run/runner-without-descriptors", test_runner_without_descriptors);
  g_test_add_func("/run/runner-serves-again", test_runner_serves_again);
  g_test_add_func("/run/scripts", test_scripts);
  g_test_add_func("/run/clean-start", test_clean_start);
  g_test_add_func("/run/umask", test_umask);
  g_test_add_func("/run/user", test_user);
  g_test_add_func("/run/input", test_input);
  g_test_add_func("/run/input-unread", test_input_unread);
  g_test_add_func("/run/large-environment", test_large_environment);
  g_test_add_func("/run/background-ended", test_background_ended);
  g_test_add_func("/run/background-kept", test_background_kept);
  g_test_add_func("/run/many", test_many);
  g_test_add_func("/run/usage", test_usage);
  g_test_add_func("/run/no-wake-ups", test_no_wake_ups);
  g_test_add_func("/run/reap-orphans", test_reap_orphans);
  g_test_add_func("/run/runner-replaced", test_runner_replaced);
  g_test_add_func("/run/no-runner", test_no_runner);
  return g_test_run();
}
