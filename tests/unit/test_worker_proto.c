/* SPDX-License-Identifier: Apache-2.0 */
/* The runner's protocol: what is written is read, and what is malformed ends the runner. */
#include "test_worker_harness.h"

#include "worker/runner_proto.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static GByteArray *write_spec(const RunnerSpec *spec) {
  GByteArray *frame = g_byte_array_new();
  g_byte_array_set_size(frame, (guint)(sizeof(RunnerHead) + runner_spec_bytes(spec)));
  runner_spec_write(spec, frame->data);
  return frame;
}

static RunnerSpec example(void) {
  static char *const argv[] = {(char *)"sh", (char *)"-c", (char *)"echo ran; exec sleep 1000", NULL};
  static char *const envp[] = {(char *)"PATH=/usr/bin:/bin", (char *)"EMPTY=", NULL};
  static const uint32_t groups[] = {7, 8, 9};
  return (RunnerSpec){.lease_end_boot_ms = 0,
    .timeout_ms = 5000,
    .kill_after_ms = 50,
    .flags = 0,
    .uid = 1,
    .gid = 2,
    .umask = 022,
    .n_groups = 3,
    .groups = groups,
    .cwd = "/",
    .argv = (char **)argv,
    .envp = (char **)envp};
}

static void test_round_trip(void) {
  RunnerSpec spec = example(), read;
  g_autoptr(GByteArray) frame = write_spec(&spec);
  RunnerHead head;
  memcpy(&head, frame->data, sizeof head);
  g_assert_true(runner_head_valid(&head, true));
  g_assert_false(runner_head_valid(&head, false));
  g_assert_cmpuint(head.bytes, ==, frame->len - sizeof head);
  char *pointers[8];
  g_assert_cmpuint(runner_spec_pointers(frame->data + sizeof head, head.bytes), ==, 7);
  g_assert_true(runner_spec_read(frame->data + sizeof head, head.bytes, pointers, &read));
  g_assert_cmpint(read.timeout_ms, ==, 5000);
  g_assert_cmpint(read.umask, ==, 022);
  g_assert_cmpmem(read.groups, 12, spec.groups, 12);
  g_assert_cmpstr(read.cwd, ==, "/");
  g_assert_true(g_strv_equal((const char *const *)read.argv, (const char *const *)spec.argv));
  g_assert_true(g_strv_equal((const char *const *)read.envp, (const char *const *)spec.envp));
}

/* Every cut and every changed number of a payload is either read within its bounds or refused. */
static void test_malformed_specs(void) {
  RunnerSpec spec = example(), read;
  g_autoptr(GByteArray) frame = write_spec(&spec);
  gsize n = frame->len - sizeof(RunnerHead);
  for (gsize bytes = 0; bytes < n; bytes++) { /* copies of the exact length, so that a sanitizer sees each step over the end */
    g_autofree guint8 *cut = g_memdup2(frame->data + sizeof(RunnerHead), MAX(bytes, 1));
    gsize pointers = runner_spec_pointers(cut, bytes);
    if (!pointers) continue;
    g_autofree char **room = g_new(char *, pointers);
    g_assert_false(runner_spec_read(cut, bytes, room, &read));
  }
  static const guint8 values[] = {0, 1, 0x7f, 0x80, 0xff};
  for (gsize at = 0; at < n; at++) {
    for (guint v = 0; v < G_N_ELEMENTS(values); v++) {
      g_autofree guint8 *copy = g_memdup2(frame->data + sizeof(RunnerHead), n);
      copy[at] = values[v];
      gsize pointers = runner_spec_pointers(copy, n);
      if (!pointers) continue;
      g_assert_cmpuint(pointers, <=, n + 2);
      g_autofree char **room = g_new(char *, pointers);
      if (!runner_spec_read(copy, n, room, &read)) continue;
      g_assert_cmpuint(g_strv_length(read.argv), ==, read.n_args);
      g_assert_cmpuint(g_strv_length(read.envp), ==, read.n_env);
    }
  }
}

static void test_heads(void) {
  RunnerHead head = runner_head(RUNNER_GO, 0);
  g_assert_true(runner_head_valid(&head, true));
  head.version++;
  g_assert_false(runner_head_valid(&head, true));
  head = runner_head(RUNNER_GO, 1);
  g_assert_false(runner_head_valid(&head, true));
  head = runner_head(99, 0);
  g_assert_false(runner_head_valid(&head, true));
  head = runner_head(RUNNER_SPEC, RUNNER_SPEC_MAX_BYTES);
  g_assert_true(runner_head_valid(&head, true));
  head.bytes++;
  g_assert_false(runner_head_valid(&head, true));
  head = runner_head(RUNNER_STOP, sizeof(RunnerStop));
  g_assert_true(runner_head_valid(&head, true));
  g_assert_false(runner_head_valid(&head, false));
  head.zero = 1;
  g_assert_false(runner_head_valid(&head, true));
}

typedef struct {
  pid_t pid;
  int control;
} Runner;

static Runner start_runner(void) {
  Runner runner;
  int pair[2];
  char *argv[] = {(char *)"pawl-runner", NULL}, *no_environment[] = {NULL};
  g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  int high = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 0, 1);
  posix_spawn_file_actions_adddup2(&actions, high, 3);
  g_assert_cmpint(posix_spawn(&runner.pid, runner_path(), &actions, NULL, argv, no_environment), ==, 0);
  posix_spawn_file_actions_destroy(&actions);
  close(pair[1]);
  close(high);
  runner.control = pair[0];
  return runner;
}

static void send_bytes(const Runner *runner, const void *bytes, gsize n) {
  for (gsize at = 0; at < n;) {
    gssize sent = send(runner->control, (const guint8 *)bytes + at, n - at, MSG_NOSIGNAL);
    if (sent <= 0) return; /* it has ended */
    at += (gsize)sent;
  }
}

/* The first byte, with `n` descriptors of /dev/null. */
static void send_descriptors(const Runner *runner, const void *byte, guint n) {
  int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC), fds[] = {null_fd, null_fd, null_fd};
  _Alignas(struct cmsghdr) guint8 room[CMSG_SPACE(sizeof fds)] = {0};
  struct cmsghdr *extra = (gpointer)room;
  *extra = (struct cmsghdr){.cmsg_len = CMSG_LEN(n * sizeof *fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(extra), fds, n * sizeof *fds);
  struct iovec part = {.iov_base = (gpointer)byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = CMSG_SPACE(n * sizeof *fds)};
  g_assert_cmpint(sendmsg(runner->control, &message, MSG_NOSIGNAL), ==, 1);
  close(null_fd);
}

static void send_spec(const Runner *runner, const GByteArray *frame) {
  send_descriptors(runner, frame->data, 3);
  send_bytes(runner, frame->data + 1, frame->len - 1);
}

static void send_frame(const Runner *runner, RunnerFrameType type, const void *payload, gsize bytes) {
  RunnerHead head = runner_head(type, bytes);
  send_bytes(runner, &head, sizeof head);
  send_bytes(runner, payload, bytes);
}

/* TRUE: the next frame, of that type; FALSE: the runner has closed. */
static gboolean next_frame(const Runner *runner, RunnerFrameType type, void *payload, gsize room) {
  RunnerHead head;
  struct pollfd pollfd = {.fd = runner->control, .events = POLLIN};
  g_assert_cmpint(poll(&pollfd, 1, DEADLINE_MS), ==, 1);
  gssize n = recv(runner->control, &head, sizeof head, MSG_WAITALL);
  if (n <= 0) return FALSE;
  g_assert_true(runner_head_valid(&head, false));
  g_assert_cmpint(head.type, ==, type);
  g_assert_cmpuint(head.bytes, <=, room);
  if (head.bytes) g_assert_cmpint(recv(runner->control, payload, head.bytes, MSG_WAITALL), ==, head.bytes);
  return TRUE;
}

static int end_of(Runner *runner) {
  int status;
  siginfo_t info = {0};
  wait_for(waitid(P_PID, (id_t)runner->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == runner->pid);
  g_assert_cmpint(waitpid(runner->pid, &status, 0), ==, runner->pid);
  close(runner->control);
  return status;
}

static void test_runner_byte_by_byte(void) {
  Runner runner = start_runner();
  RunnerSpec spec = example();
  spec.flags = 0;
  g_autoptr(GByteArray) frame = write_spec(&spec);
  RunnerHead go = runner_head(RUNNER_GO, 0);
  g_byte_array_append(frame, (const guint8 *)&go, sizeof go);
  send_descriptors(&runner, frame->data, 3);
  for (guint i = 1; i < frame->len; i++) send_bytes(&runner, frame->data + i, 1);
  RunnerStarted started;
  g_assert_true(next_frame(&runner, RUNNER_STARTED, &started, sizeof started));
  g_assert_cmpint(kill(started.pid, 0), ==, 0);
  RunnerStop stop = {.why = RUNNER_STOP_CANCEL};
  send_frame(&runner, RUNNER_STOP, &stop, sizeof stop);
  RunnerEnded ended;
  g_assert_true(next_frame(&runner, RUNNER_ENDED, &ended, sizeof ended));
  g_assert_cmpint(WTERMSIG(ended.status), ==, SIGTERM);
  g_assert_cmpint(ended.stop, ==, RUNNER_STOP_CANCEL);
  g_assert_false(ended.stays);
  g_assert_cmpint(end_of(&runner), ==, 0);
}

/* Malformed before anything runs: it ends. */
static void test_runner_refuses(void) {
  RunnerSpec spec = example();
  g_autoptr(GByteArray) frame = write_spec(&spec);
  for (int i = 0; i < 9; i++) {
    Runner runner = start_runner();
    RunnerHead head = runner_head(RUNNER_GO, 0);
    if (i == 0) send_bytes(&runner, &head, sizeof head); /* GO without SPEC */
    if (i == 1) {
      send_spec(&runner, frame); /* SPEC twice */
      send_bytes(&runner, frame->data, frame->len);
    }
    if (i == 2) {
      head = runner_head(RUNNER_SPEC, RUNNER_SPEC_MAX_BYTES + 1);
      send_bytes(&runner, &head, sizeof head);
    }
    if (i == 3) {
      head.version = 99;
      send_bytes(&runner, &head, sizeof head);
    }
    if (i == 4) {
      g_autofree guint8 *copy = g_memdup2(frame->data, frame->len);
      copy[frame->len - 1] = 'x'; /* the last string has no end */
      send_descriptors(&runner, copy, 3);
      send_bytes(&runner, copy + 1, frame->len - 1);
    }
    if (i == 5) send_bytes(&runner, "some noise that is no frame at all", 34);
    if (i == 6) send_bytes(&runner, frame->data, frame->len); /* without descriptors */
    if (i == 7) send_descriptors(&runner, frame->data, 2);
    if (i == 8) {
      send_descriptors(&runner, frame->data, 3);
      send_descriptors(&runner, frame->data + 1, 3);
    }
    g_assert_false(next_frame(&runner, RUNNER_STARTED, NULL, 0));
    g_assert_cmpint(WEXITSTATUS(end_of(&runner)), ==, 76);
  }
}

/* Malformed while the work runs: it ends with its work. */
static void test_runner_ends_its_work(void) {
  Runner runner = start_runner();
  RunnerSpec spec = example();
  spec.kill_after_ms = 60000;
  g_autoptr(GByteArray) frame = write_spec(&spec);
  send_spec(&runner, frame);
  send_frame(&runner, RUNNER_GO, NULL, 0);
  RunnerStarted started;
  g_assert_true(next_frame(&runner, RUNNER_STARTED, &started, sizeof started));
  send_bytes(&runner, "some noise that is no frame at all", 34);
  g_assert_cmpint(WEXITSTATUS(end_of(&runner)), ==, 76);
  g_assert_cmpint(kill(started.pid, 0), ==, -1);
}

/* Work that ended by itself and left nothing leaves the runner as it was; what comes too late for it does not concern the next. */
static void test_runner_serves_again(void) {
  Runner runner = start_runner();
  RunnerSpec spec = example();
  char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)"exit 7", NULL}, *stopped[] = {(char *)"/bin/sleep", (char *)"1000", NULL};
  spec.flags = 0;
  RunnerStarted started;
  RunnerEnded ended;
  RunnerStop stop = {.why = RUNNER_STOP_CANCEL};
  RunnerRenew renew = {.lease_end_boot_ms = 1};
  for (int i = 0; i < 4; i++) {
    gboolean last = i == 3;
    spec.argv = last ? stopped : argv;
    g_autoptr(GByteArray) frame = write_spec(&spec);
    send_spec(&runner, frame);
    send_frame(&runner, RUNNER_GO, NULL, 0);
    g_assert_true(next_frame(&runner, RUNNER_STARTED, &started, sizeof started));
    if (last) send_frame(&runner, RUNNER_STOP, &stop, sizeof stop);
    g_assert_true(next_frame(&runner, RUNNER_ENDED, &ended, sizeof ended));
    g_assert_cmpint(ended.stays, ==, !last);
    g_assert_cmpint(ended.status, ==, last ? SIGTERM : 7 << 8);
    if (last) break;
    send_frame(&runner, RUNNER_RENEW, &renew, sizeof renew);
    send_frame(&runner, RUNNER_STOP, &stop, sizeof stop);
    send_frame(&runner, RUNNER_KILL, &stop, sizeof stop);
  }
  g_assert_cmpint(end_of(&runner), ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/proto/round-trip", test_round_trip);
  g_test_add_func("/proto/malformed-specs", test_malformed_specs);
  g_test_add_func("/proto/heads", test_heads);
  g_test_add_func("/proto/runner-byte-by-byte", test_runner_byte_by_byte);
  g_test_add_func("/proto/runner-refuses", test_runner_refuses);
  g_test_add_func("/proto/runner-serves-again", test_runner_serves_again);
  g_test_add_func("/proto/runner-ends-its-work", test_runner_ends_its_work);
  return g_test_run();
}
