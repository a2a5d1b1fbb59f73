/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor and pawl-runner say to each other on the runner's file descriptor 3, a stream socket.
 *
 * A frame is an 8-byte head and a payload. Numbers stand in the machine's own byte order: both ends are on one machine, and the
 * version in every head tells a runner of another build apart. A frame that is too long, of an unknown type or inconsistent in itself
 * is malformed: the runner then kills its work and ends; the supervisor kills the runner.
 *
 *   to the runner:  SPEC first and once, GO once, then RENEW, STOP and KILL in any number
 *   from it:        NOT_STARTED, or STARTED and later ENDED; after NOT_STARTED it exits, after ENDED too, unless that says that it stays:
 *                   then the same begins anew, and what still arrives for the one that has ended is ignored
 *
 * With SPEC's first byte travel three file descriptors (SCM_RIGHTS): the work's stdin, stdout and stderr.
 *
 * This file does without GLib, because the runner does. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RUNNER_PROTO_VERSION 2
#define RUNNER_CONTROL_FD 3
#define RUNNER_SPEC_MAX_BYTES (16u << 20) /* beyond any ARG_MAX: what the kernel takes fits */
#define RUNNER_COMMAND_MAX_BYTES 16u      /* payload of any other frame to the runner */
#define RUNNER_TEXT_MAX_BYTES 512u
#define RUNNER_REPLY_MAX_BYTES (16u + RUNNER_TEXT_MAX_BYTES) /* payload of any frame from the runner */
#define RUNNER_TIME_MAX_MS (INT64_C(1) << 53)                /* of any instant or duration: sums don't overflow */
#define RUNNER_KILL_AFTER_CAP_MS 2000 /* the longest grace where pawl is gone, the lease ends, or only background processes are left */

typedef enum {
  RUNNER_SPEC = 1,
  RUNNER_GO = 2,
  RUNNER_RENEW = 3,
  RUNNER_STOP = 4,
  RUNNER_KILL = 5,
  RUNNER_STARTED = 65,
  RUNNER_NOT_STARTED = 66,
  RUNNER_ENDED = 67,
} RunnerFrameType;

typedef struct {
  uint32_t bytes; /* of the payload */
  uint8_t version;
  uint8_t type;
  uint16_t zero;
} RunnerHead;

typedef struct {
  int64_t lease_end_boot_ms;
} RunnerRenew;
typedef struct {
  uint32_t why;
} RunnerStop; /* PawlStop; also the payload of KILL */
typedef struct {
  int32_t pid;
} RunnerStarted;
/* Which step to the work's start failed. */
typedef enum {
  RUNNER_STEP_NONE, /* it was stopped before */
  RUNNER_STEP_SET_UP,
  RUNNER_STEP_FORK,
  RUNNER_STEP_SESSION,
  RUNNER_STEP_USER,
  RUNNER_STEP_CWD,
  RUNNER_STEP_EXEC,
} RunnerStep;
/* The supervisor makes words of it: it has the texts of the errors. */
typedef struct {
  uint32_t stop;    /* PawlStop */
  int32_t step;     /* RunnerStep */
  int32_t error;    /* errno */
  int32_t found;    /* EXEC: the file exists */
} RunnerNotStarted; /* then the program or the directory, without NUL */
typedef struct {
  int32_t status; /* as wait(2) gives it */
  uint8_t stop;   /* PawlStop */
  uint8_t killed;
  uint8_t left_background;
  uint8_t stays; /* the runner waits for another SPEC; else it exits */
  int64_t cpu_ms;
  int64_t max_rss_kib;
} RunnerEnded;

/* PawlStop without GLib; supervisor_attempt.c asserts that they are the same. */
enum { RUNNER_STOP_NONE, RUNNER_STOP_CANCEL, RUNNER_STOP_TIMEOUT, RUNNER_STOP_LEASE, RUNNER_STOP_DRAIN };

enum { RUNNER_CHANGE_USER = 1, RUNNER_KEEP_BACKGROUND = 2 };

/* What the runner is to start, as both ends hold it. On the wire the numbers come first, then the groups, then cwd, argv and envp as
 * strings with their NULs. */
typedef struct {
  int64_t lease_end_boot_ms; /* 0: no lease */
  int64_t timeout_ms;        /* 0: none */
  int64_t kill_after_ms;
  uint32_t flags;
  uint32_t uid, gid;
  int32_t umask; /* -1: inherit */
  uint32_t n_groups, n_args, n_env;
  const uint32_t *groups;
  const char *cwd; /* "": stay */
  char **argv;     /* ends with NULL */
  char **envp;     /* ends with NULL */
} RunnerSpec;

/* A head for `bytes` of payload. */
RunnerHead runner_head(RunnerFrameType type, size_t bytes);
/* Whether a head is well-formed, as the runner (`to_runner`) or the supervisor reads it. */
bool runner_head_valid(const RunnerHead *head, bool to_runner);

/* The length of the SPEC payload for `spec` (its n_args and n_env are not read, but counted). */
size_t runner_spec_bytes(const RunnerSpec *spec);
/* Writes head and payload to `frame`, which has room for sizeof(RunnerHead) + runner_spec_bytes(). */
void runner_spec_write(const RunnerSpec *spec, uint8_t *frame);
/* How many pointers runner_spec_read() needs for a payload; 0 when the payload is malformed. */
size_t runner_spec_pointers(const uint8_t *payload, size_t bytes);
/* Fills `ret_spec` with pointers into `payload`, and argv and envp with `pointers`. False when the payload is malformed. `payload` is
 * aligned to 8 bytes. */
bool runner_spec_read(uint8_t *payload, size_t bytes, char **pointers, RunnerSpec *ret_spec);
