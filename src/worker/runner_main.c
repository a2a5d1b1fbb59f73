/* SPDX-License-Identifier: Apache-2.0 */
/* pawl-runner: the small process between pawl and the work of one attempt.
 *
 * It is started by the supervisor with the control socket as file descriptor 3, in a session of its own, with all signals blocked. It reads
 * what to start (SPEC), waits for GO, starts it, and from then on sees to it that nothing of it outlives its time:
 *
 *   the lease ends (CLOCK_BOOTTIME, which counts suspend) | TERM a little before, KILL at that instant
 *   the timeout                                           | TERM, KILL after kill_after
 *   STOP                                                  | TERM, KILL after kill_after
 *   KILL                                                  | KILL
 *   the control socket closes: pawl is dead               | TERM, KILL after min(kill_after, 2 s)
 *   the main process ends and others live on              | left alone if the task keeps background processes, else the same
 *
 * TERM and KILL go to every descendant (runner_tree.c). The runner reports the end (ENDED) when it has no child left, so it leaves no
 * zombie and nothing alive, and what it reports is true. Where work has ended by itself and left nothing behind, the runner is as it was
 * before, and stays for another attempt: a short run then costs no process but its own. Else it exits.
 *
 * It is a program of its own, static, of libc alone, because there is one for each attempt and it stays as long as the work: it costs a few
 * pages and a fraction of a millisecond. */
#include "worker/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_PROTOCOL 76
#define MAX_LOOKS 1000

typedef enum {
  PHASE_WAITING,  /* for SPEC and GO: nothing has run */
  PHASE_STARTING, /* forked, not yet executed */
  PHASE_RUNNING,  /* the main process lives */
  PHASE_ENDED,    /* it has ended, others may live */
} Phase;

typedef struct {
  Phase phase;
  int signals, timer, failure; /* file descriptors; failure: the pipe that closes on exec, -1 when closed */
  int given[3];                /* the work's stdin, stdout and stderr; -1: not there */
  bool served;                 /* this is not its first attempt */
  bool control_open;
  bool have_spec;
  RunnerSpec spec;
  pid_t work;
  bool work_reaped; /* `status` is known */
  int status;
  int64_t cpu_us, max_rss_kib; /* of all that were waited for, and of those that they waited for */
  uint32_t stop;               /* why it is stopped, RUNNER_STOP_NONE: it is not */
  bool terminated;             /* TERM was sent */
  bool killing;                /* KILL was sent; repeated until no child is left */
  bool left_background;
  bool protocol_broken;
  int64_t lease_term_at_ms, timeout_at_ms, kill_at_ms, again_at_ms; /* boot clock; 0: never */
  int64_t again_ms;
  int64_t armed_at_ms;
  /* the frame that is being read */
  RunnerHead head;
  uint8_t command[RUNNER_COMMAND_MAX_BYTES];
  uint8_t *payload, *spec_memory;
  size_t spec_bytes;
  size_t got_bytes; /* of head and payload */
} Runner;

/* Specs up to this size need no memory of their own. */
static _Alignas(8) uint8_t small_spec[64 << 10];
static char *small_pointers[1024];

void *runner_memory(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static int64_t boot_ms(void) {
  struct timespec ts;
  clock_gettime(CLOCK_BOOTTIME, &ts);
  return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t min_ms(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t short_grace_ms(const Runner *r) { return min_ms(r->spec.kill_after_ms, RUNNER_KILL_AFTER_CAP_MS); }

/* TERM goes out a little before the lease ends; of a very short lease at most the last third is spent on that, so that there is
 * time to renew it. */
static void set_lease(Runner *r, int64_t lease_end_ms) {
  int64_t left_ms = lease_end_ms - boot_ms();
  r->spec.lease_end_boot_ms = lease_end_ms;
  r->lease_term_at_ms = lease_end_ms ? lease_end_ms - min_ms(short_grace_ms(r), left_ms > 0 ? left_ms / 3 : 0) : 0;
}

static void send_frame(Runner *r, RunnerFrameType type, const void *payload, size_t bytes) {
  uint8_t frame[sizeof(RunnerHead) + RUNNER_REPLY_MAX_BYTES];
  RunnerHead head = runner_head(type, bytes);
  memcpy(frame, &head, sizeof head);
  memcpy(frame + sizeof head, payload, bytes);
  /* Three frames at most are ever sent, so they fit the socket's buffer. When pawl is gone nobody needs them, and the socket stays open
   * here: its end is what is read next, and that ends the work at once. */
  if (r->control_open && send(RUNNER_CONTROL_FD, frame, sizeof head + bytes, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
}

/* `failure` NULL: it was stopped before. */
static _Noreturn void end_not_started(Runner *r, const RunnerStartFailure *failure) {
  uint8_t payload[RUNNER_REPLY_MAX_BYTES];
  RunnerNotStarted numbers = {.stop = r->stop};
  size_t bytes = 0;
  if (failure) {
    numbers.step = failure->step;
    numbers.error = failure->error;
    numbers.found = failure->found;
    const char *subject = failure->step == RUNNER_STEP_CWD ? r->spec.cwd : failure->step == RUNNER_STEP_EXEC ? r->spec.argv[0] : "";
    bytes = strnlen(subject, RUNNER_TEXT_MAX_BYTES);
    memcpy(payload + sizeof numbers, subject, bytes);
  }
  memcpy(payload, &numbers, sizeof numbers);
  send_frame(r, RUNNER_NOT_STARTED, payload, sizeof numbers + bytes);
  _exit(0);
}

static void forget_spec(Runner *r) {
  if (r->spec_memory) munmap(r->spec_memory, r->spec_bytes); /* it can be megabytes, and the work can take days */
  r->spec_memory = NULL;
}

static void close_given(Runner *r) {
  for (int i = 0; i < 3; i++) {
    if (r->given[i] >= 0) close(r->given[i]);
    r->given[i] = -1;
  }
}

static void begin_anew(Runner *r) {
  *r = (Runner){.signals = r->signals,
    .timer = r->timer,
    .armed_at_ms = r->armed_at_ms,
    .failure = -1,
    .given = {-1, -1, -1},
    .control_open = true,
    .served = true};
}

/* Only returns when it stays. */
static void report_ended(Runner *r) {
  RunnerEnded ended = {.status = r->status,
    .stop = (uint8_t)r->stop,
    .killed = r->killing,
    .left_background = r->left_background,
    .stays = r->control_open && r->got_bytes == 0 && !r->terminated && !r->left_background,
    .cpu_ms = r->cpu_us / 1000,
    .max_rss_kib = r->max_rss_kib};
  send_frame(r, RUNNER_ENDED, &ended, sizeof ended);
  if (!ended.stays) _exit(r->protocol_broken ? EXIT_PROTOCOL : 0);
  begin_anew(r);
}

static int64_t us_of(struct timeval time) { return time.tv_sec * INT64_C(1000000) + time.tv_usec; }

/* Reaps all that have ended. False when no child is left. */
static bool reap(Runner *r) {
  for (;;) {
    int status;
    struct rusage usage;
    pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid == 0) return true;
    if (pid < 0) return errno == EINTR;
    r->cpu_us += us_of(usage.ru_utime) + us_of(usage.ru_stime);
    if (usage.ru_maxrss > r->max_rss_kib) r->max_rss_kib = usage.ru_maxrss;
    if (pid != r->work) continue;
    r->status = status;
    r->work_reaped = true;
  }
}

static void kill_all(Runner *r) {
  r->killing = true;
  /* Reaping between the looks keeps them short, or a process that forks and ends all the time would outrun them by its corpses. */
  for (int look = 0; look < MAX_LOOKS && runner_tree_stop(); look++) reap(r);
  runner_tree_kill();
  r->again_ms = r->again_ms ? min_ms(r->again_ms * 2, 1000) : 5;
  r->again_at_ms = boot_ms() + r->again_ms;
}

/* TERM now, once; KILL after `grace_ms`, or earlier when that was set before. The first reason stays. */
static void stop(Runner *r, uint32_t why, int64_t grace_ms) {
  if (r->phase != PHASE_ENDED && r->stop == RUNNER_STOP_NONE) r->stop = why;
  if (r->phase == PHASE_WAITING) {
    if (!r->control_open || r->protocol_broken) _exit(EXIT_PROTOCOL);
    end_not_started(r, NULL);
  }
  int64_t kill_at_ms = boot_ms() + grace_ms;
  r->kill_at_ms = r->kill_at_ms ? min_ms(r->kill_at_ms, kill_at_ms) : kill_at_ms;
  if (!r->terminated && grace_ms > 0) runner_tree_signal(SIGTERM);
  r->terminated = true;
}

static void control_lost(Runner *r, bool broken) {
  r->control_open = false;
  r->protocol_broken |= broken;
  stop(r, RUNNER_STOP_LEASE, broken ? 0 : short_grace_ms(r));
}

static void take_spec(Runner *r) {
  size_t n = r->given[0] >= 0 ? runner_spec_pointers(r->payload, r->head.bytes) : 0;
  char **pointers = small_pointers;
  if (n > sizeof small_pointers / sizeof *small_pointers) pointers = runner_memory(n * sizeof *pointers);
  if (n == 0 || !pointers || !runner_spec_read(r->payload, r->head.bytes, pointers, &r->spec)) {
    control_lost(r, true);
    return;
  }
  set_lease(r, r->spec.lease_end_boot_ms);
  r->have_spec = true;
}

static void go(Runner *r) {
  int64_t now_ms = boot_ms();
  if (r->lease_term_at_ms && now_ms >= r->lease_term_at_ms) stop(r, RUNNER_STOP_LEASE, 0);
  r->work = runner_start(&r->spec, r->given, &r->failure);
  if (r->work < 0) {
    RunnerStartFailure failure = {.step = RUNNER_STEP_FORK, .error = errno};
    end_not_started(r, &failure);
  }
  close_given(r); /* only the work holds its pipes now, so their end is the end of the work's writing */
  r->phase = PHASE_STARTING;
  if (r->spec.timeout_ms) r->timeout_at_ms = now_ms + r->spec.timeout_ms;
}

static void take_frame(Runner *r) {
  RunnerStop command = {0};
  RunnerRenew renew;
  bool first = r->head.type == RUNNER_SPEC;
  if (!first && !r->have_spec && r->served) return; /* it was for the one before */
  if (first == r->have_spec) {                      /* SPEC comes first and once */
    control_lost(r, true);
    return;
  }
  switch ((RunnerFrameType)r->head.type) {
  case RUNNER_SPEC: take_spec(r); return;
  case RUNNER_GO:
    if (r->phase == PHASE_WAITING)
      go(r);
    else
      control_lost(r, true);
    return;
  case RUNNER_RENEW:
    memcpy(&renew, r->payload, sizeof renew);
    if (renew.lease_end_boot_ms < 0 || renew.lease_end_boot_ms > RUNNER_TIME_MAX_MS)
      control_lost(r, true);
    else
      set_lease(r, renew.lease_end_boot_ms);
    return;
  case RUNNER_STOP:
  case RUNNER_KILL:
    memcpy(&command, r->payload, sizeof command);
    stop(r, command.why, r->head.type == RUNNER_KILL ? 0 : r->spec.kill_after_ms);
    return;
  default: control_lost(r, true); return;
  }
}

/* Room for the payload whose head has been read. */
static bool take_head(Runner *r) {
  if (!runner_head_valid(&r->head, true)) return false;
  if (r->head.bytes <= sizeof r->command)
    r->payload = r->command;
  else if (r->have_spec)
    return false;
  else if (r->head.bytes <= sizeof small_spec)
    r->payload = small_spec;
  else
    r->payload = r->spec_memory = runner_memory(r->spec_bytes = r->head.bytes);
  return r->payload != NULL;
}

/* Reads into `to`, and takes descriptors that come along: three, before SPEC. */
static ssize_t receive(Runner *r, void *to, size_t bytes) {
  _Alignas(struct cmsghdr) uint8_t room[CMSG_SPACE(sizeof r->given)];
  struct iovec part = {.iov_base = to, .iov_len = bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  ssize_t n = recvmsg(RUNNER_CONTROL_FD, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n <= 0) return n;
  if (message.msg_flags & MSG_CTRUNC && r->phase == PHASE_WAITING) {
    RunnerStartFailure failure = {.step = RUNNER_STEP_SET_UP, .error = EMFILE};
    end_not_started(r, &failure);
  }
  struct cmsghdr *extra = CMSG_FIRSTHDR(&message);
  if (!extra) return n;
  bool whole = extra->cmsg_type == SCM_RIGHTS && extra->cmsg_len == CMSG_LEN(sizeof r->given);
  if (!whole || r->given[0] >= 0 || r->have_spec) return 0; /* as if it were closed: nothing of it has run, or it is stopped */
  memcpy(r->given, CMSG_DATA(extra), sizeof r->given);
  return n;
}

static void read_control(Runner *r) {
  while (r->control_open) {
    bool in_head = r->got_bytes < sizeof r->head;
    size_t at = in_head ? r->got_bytes : r->got_bytes - sizeof r->head;
    uint8_t *to = in_head ? (uint8_t *)&r->head : r->payload;
    ssize_t n = receive(r, to + at, (in_head ? sizeof r->head : r->head.bytes) - at);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      control_lost(r, false);
      return;
    }
    r->got_bytes += (size_t)n;
    if (in_head && r->got_bytes == sizeof r->head && !take_head(r)) {
      control_lost(r, true);
      return;
    }
    if (r->got_bytes < sizeof r->head || r->got_bytes < sizeof r->head + r->head.bytes) continue;
    r->got_bytes = 0;
    take_frame(r);
  }
}

/* The pipe that closes on exec has something to say. */
static void read_failure(Runner *r) {
  RunnerStartFailure failure;
  ssize_t n = read(r->failure, &failure, sizeof failure);
  if (n < 0 && errno == EINTR) return;
  close(r->failure);
  r->failure = -1;
  if (n == sizeof failure) {
    waitpid(r->work, NULL, 0); /* it exits right after it has written */
    end_not_started(r, &failure);
  }
  forget_spec(r);
  RunnerStarted started = {.pid = r->work};
  send_frame(r, RUNNER_STARTED, &started, sizeof started);
  r->phase = PHASE_RUNNING;
}

static void children_changed(Runner *r) {
  if (r->phase == PHASE_WAITING) return; /* an old signal: there is none */
  bool some_left = reap(r);
  if (r->work_reaped && r->phase != PHASE_ENDED) {
    if (r->failure >= 0) read_failure(r); /* in the order in which it happened; the pipe is at its end */
    r->phase = PHASE_ENDED;
    r->timeout_at_ms = 0;
    /* When it is being stopped, all have their TERM and the time of the stop: a shell ends at once, what it started may have to tidy up. */
    if (some_left && r->stop == RUNNER_STOP_NONE) {
      r->left_background = true;
      if (r->spec.flags & RUNNER_KEEP_BACKGROUND) report_ended(r);
      stop(r, RUNNER_STOP_NONE, short_grace_ms(r));
    }
  }
  if (!some_left) report_ended(r);
}

/* Acts on what is due, and returns when to look again; 0: at no set time. */
static int64_t act_on_time(Runner *r) {
  int64_t now_ms = boot_ms(), lease_end_ms = r->spec.lease_end_boot_ms;
  if (lease_end_ms && now_ms >= r->lease_term_at_ms) stop(r, RUNNER_STOP_LEASE, lease_end_ms > now_ms ? lease_end_ms - now_ms : 0);
  if (r->timeout_at_ms && now_ms >= r->timeout_at_ms) {
    r->timeout_at_ms = 0;
    stop(r, RUNNER_STOP_TIMEOUT, r->spec.kill_after_ms);
  }
  if (!r->killing && r->kill_at_ms && boot_ms() >= r->kill_at_ms)
    kill_all(r);
  else if (r->killing && now_ms >= r->again_at_ms)
    kill_all(r);

  int64_t next_ms = r->killing ? r->again_at_ms : r->kill_at_ms;
  if (r->timeout_at_ms && !r->killing) next_ms = next_ms ? min_ms(next_ms, r->timeout_at_ms) : r->timeout_at_ms;
  if (lease_end_ms && !r->killing) {
    int64_t lease_ms = now_ms >= r->lease_term_at_ms ? lease_end_ms : r->lease_term_at_ms;
    next_ms = next_ms ? min_ms(next_ms, lease_ms) : lease_ms;
  }
  return next_ms;
}

static void arm(Runner *r, int64_t at_ms) {
  if (at_ms == r->armed_at_ms) return;
  struct itimerspec when = {.it_value = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000}};
  timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &when, NULL);
  r->armed_at_ms = at_ms;
}

static void drain_descriptor(int fd) {
  uint8_t bytes[sizeof(struct signalfd_siginfo) * 4];
  while (read(fd, bytes, sizeof bytes) > 0) continue;
}

static void set_up(Runner *r) {
  if (runner_close_range(4, ~0u, 0) != 0)
    for (int fd = 4; fd < 1024; fd++) close(fd);
  fcntl(RUNNER_CONTROL_FD, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_NAME, "pawl-runner");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all, child;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  r->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  r->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (r->signals < 0 || r->timer < 0) {
    RunnerStartFailure failure = {.step = RUNNER_STEP_SET_UP, .error = errno};
    end_not_started(r, &failure);
  }
}

int main(void) {
  Runner runner = {.control_open = true, .failure = -1, .given = {-1, -1, -1}}, *r = &runner;
  set_up(r);
  for (;;) {
    arm(r, act_on_time(r));
    struct pollfd fds[] = {{.fd = r->control_open ? RUNNER_CONTROL_FD : -1, .events = POLLIN}, {.fd = r->signals, .events = POLLIN},
      {.fd = r->timer, .events = POLLIN}, {.fd = r->failure, .events = POLLIN}};
    if (poll(fds, sizeof fds / sizeof *fds, -1) < 0 && errno != EINTR) _exit(EXIT_PROTOCOL);
    if (fds[3].revents && r->failure >= 0) read_failure(r);
    if (fds[1].revents) {
      drain_descriptor(r->signals);
      children_changed(r);
    }
    if (fds[2].revents) {
      drain_descriptor(r->timer);
      r->armed_at_ms = 0;
    }
    if (fds[0].revents) read_control(r);
  }
}
