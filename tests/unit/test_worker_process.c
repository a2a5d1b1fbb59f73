/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by their three marks, and the end of what an attempt has left behind when its worker is gone. */
#include "test_worker_harness.h"

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t spawn(char *const *argv, char *const *envp) {
  pid_t pid;
  g_assert_cmpint(posix_spawn(&pid, argv[0], NULL, NULL, argv, envp), ==, 0);
  return pid;
}

static pid_t spawn_sleeper(char *const *envp) {
  char *argv[] = {(char *)"/bin/sleep", (char *)"1000", NULL};
  return spawn(argv, envp);
}

static gboolean is_zombie(pid_t pid) {
  siginfo_t info = {0};
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

static void test_identity(void) {
  char *no_environment[] = {NULL};
  PawlProcess self, child, other;
  g_assert_true(pawl_process_identify(getpid(), &self));
  g_assert_true(pawl_process_alive(&self));
  pid_t pid = spawn_sleeper(no_environment);
  g_assert_true(pawl_process_identify(pid, &child));
  g_assert_cmpint(child.pid, ==, pid);
  g_assert_true(pawl_process_alive(&child));
  other = child;
  other.start_ticks++; /* a process that had this number before */
  g_assert_false(pawl_process_alive(&other));
  other = child;
  other.boot_id[0] = other.boot_id[0] == '0' ? '1' : '0'; /* before a restart of the machine */
  g_assert_false(pawl_process_alive(&other));
  kill(pid, SIGKILL);
  wait_for(is_zombie(pid));
  g_assert_false(pawl_process_alive(&child));
  waitpid(pid, NULL, 0);
  g_assert_false(pawl_process_alive(&child));
  other = child;
  g_assert_false(pawl_process_identify(pid, &other));
  g_assert_cmpint(other.pid, ==, child.pid); /* untouched */
  g_assert_false(pawl_process_identify(0, &other));
  g_assert_false(pawl_process_identify(-1, &other));
}

/* A name with blanks and parentheses does not lead the reader of /proc astray. */
static void test_odd_name(void) {
  g_autofree char *folder = g_dir_make_tmp("pawl-worker-XXXXXX", NULL), *path = g_build_filename(folder, "a) R 1 (b", NULL);
  g_assert_cmpint(symlink("/bin/sleep", path), ==, 0);
  char *argv[] = {path, (char *)"1000", NULL}, *no_environment[] = {NULL};
  pid_t pid = spawn(argv, no_environment);
  PawlProcess process;
  g_assert_true(pawl_process_identify(pid, &process));
  g_assert_true(pawl_process_alive(&process));
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  g_assert_false(pawl_process_alive(&process));
  unlink(path);
  rmdir(folder);
}

/* What is left of an attempt is found by its environment, with all descendants; nothing else is touched. */
static void test_end_attempt(void) {
  PawlId run = pawl_id_new(pawl_clock_wall_ms()), other_run = pawl_id_new(pawl_clock_wall_ms());
  char text[PAWL_ID_TEXT];
  g_autofree char *mark = g_strconcat("PAWL_RUN_ID=", pawl_id_text(&run, text), NULL);
  g_autofree char *other_mark = g_strconcat("PAWL_RUN_ID=", pawl_id_text(&other_run, text), NULL);
  g_autofree char *longer_mark = g_strconcat("X", mark, NULL);
  char *path = (char *)"PATH=/usr/bin:/bin", *first = (char *)"PAWL_ATTEMPT=1", *second = (char *)"PAWL_ATTEMPT=2",
       *twelfth = (char *)"PAWL_ATTEMPT=12";
  char *ours[] = {path, mark, first, NULL}, *next_attempt[] = {path, mark, second, NULL}, *twelfth_attempt[] = {path, mark, twelfth, NULL};
  char *other[] = {path, other_mark, first, NULL}, *odd[] = {path, longer_mark, first, NULL}, *half[] = {path, mark, NULL};
  g_autofree char *name = unique_name("escaped-");
  char *argv[] = {(char *)"/bin/sh", (char *)"-c",
    (char *)"trap '' TERM; env -i sh -c \": $0; while :; do sleep 1000; done\" & while :; do sleep 1000; done", name, NULL};
  pid_t pid = spawn(argv, ours);
  pid_t bystanders[] = {
    spawn_sleeper(next_attempt), spawn_sleeper(twelfth_attempt), spawn_sleeper(other), spawn_sleeper(odd), spawn_sleeper(half)};
  wait_for(named_processes(name) == 2);
  g_assert_true(pawl_process_end_attempt(NULL, &run, 1, DEADLINE_MS));
  g_assert_cmpuint(named_processes(name), ==, 0);
  waitpid(pid, NULL, 0);
  for (guint i = 0; i < G_N_ELEMENTS(bystanders); i++) {
    g_assert_cmpint(waitpid(bystanders[i], NULL, WNOHANG), ==, 0);
    kill(bystanders[i], SIGKILL);
    waitpid(bystanders[i], NULL, 0);
  }
  g_assert_true(pawl_process_end_attempt(NULL, &run, 1, 0)); /* nothing lives: done */
}

/* The runner's descendants are found without any mark; a runner with another start time is a stranger. */
static void test_end_by_runner(void) {
  PawlId run = pawl_id_new(pawl_clock_wall_ms());
  g_autofree char *name = unique_name("tree-");
  char *environment[] = {(char *)"PATH=/usr/bin:/bin", NULL};
  char *argv[] = {(char *)"/bin/sh", (char *)"-c",
    (char *)"setsid sh -c \": $0; while :; do sleep 1000; done\" & while :; do sleep 1000; done", name, NULL};
  PawlProcess runner;
  pid_t pid = spawn(argv, environment);
  g_assert_true(pawl_process_identify(pid, &runner));
  wait_for(named_processes(name) == 2);
  PawlProcess stranger = runner;
  stranger.start_ticks--;
  g_assert_true(pawl_process_end_attempt(&stranger, &run, 1, DEADLINE_MS));
  wait_for(named_processes(name) == 2); /* for a moment a shell that forks its sleep has a third of its name */
  g_assert_true(pawl_process_end_attempt(&runner, &run, 1, DEADLINE_MS));
  g_assert_cmpuint(named_processes(name), ==, 0);
  waitpid(pid, NULL, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/process/identity", test_identity);
  g_test_add_func("/process/odd-name", test_odd_name);
  g_test_add_func("/process/end-attempt", test_end_attempt);
  g_test_add_func("/process/end-by-runner", test_end_by_runner);
  return g_test_run();
}
