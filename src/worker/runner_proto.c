/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runner_proto.h"

#include <string.h>

/* The numbers of a SPEC, as they stand on the wire. */
typedef struct {
  int64_t lease_end_boot_ms, timeout_ms, kill_after_ms;
  uint32_t flags, uid, gid;
  int32_t umask;
  uint32_t n_groups, n_args, n_env, zero;
} SpecNumbers;

_Static_assert(sizeof(RunnerHead) == 8, "the head has no padding");
_Static_assert(sizeof(SpecNumbers) == 56, "the numbers have no padding");
_Static_assert(sizeof(RunnerEnded) == 24, "ENDED has no padding");

RunnerHead runner_head(RunnerFrameType type, size_t bytes) {
  return (RunnerHead){.bytes = (uint32_t)bytes, .version = RUNNER_PROTO_VERSION, .type = (uint8_t)type};
}

typedef struct {
  RunnerFrameType type;
  bool to_runner;
  uint32_t min_bytes, max_bytes;
} FrameRule;

static const FrameRule frame_rules[] = {
  {RUNNER_SPEC, true, sizeof(SpecNumbers) + 1, RUNNER_SPEC_MAX_BYTES},
  {RUNNER_GO, true, 0, 0},
  {RUNNER_RENEW, true, sizeof(RunnerRenew), sizeof(RunnerRenew)},
  {RUNNER_STOP, true, sizeof(RunnerStop), sizeof(RunnerStop)},
  {RUNNER_KILL, true, sizeof(RunnerStop), sizeof(RunnerStop)},
  {RUNNER_STARTED, false, sizeof(RunnerStarted), sizeof(RunnerStarted)},
  {RUNNER_NOT_STARTED, false, sizeof(RunnerNotStarted), sizeof(RunnerNotStarted) + RUNNER_TEXT_MAX_BYTES},
  {RUNNER_ENDED, false, sizeof(RunnerEnded), sizeof(RunnerEnded)},
};

bool runner_head_valid(const RunnerHead *head, bool to_runner) {
  if (head->version != RUNNER_PROTO_VERSION || head->zero != 0) return false;
  for (size_t i = 0; i < sizeof frame_rules / sizeof *frame_rules; i++) {
    const FrameRule *rule = &frame_rules[i];
    if (head->type == rule->type && to_runner == rule->to_runner) return head->bytes >= rule->min_bytes && head->bytes <= rule->max_bytes;
  }
  return false;
}

static size_t strings_bytes(char *const *strings, uint32_t *ret_n) {
  size_t bytes = 0;
  uint32_t n = 0;
  for (; strings && strings[n]; n++) bytes += strlen(strings[n]) + 1;
  *ret_n = n;
  return bytes;
}

size_t runner_spec_bytes(const RunnerSpec *spec) {
  uint32_t n;
  size_t bytes = sizeof(SpecNumbers) + spec->n_groups * sizeof(uint32_t) + strlen(spec->cwd) + 1;
  bytes += strings_bytes(spec->argv, &n);
  return bytes + strings_bytes(spec->envp, &n);
}

static uint8_t *put(uint8_t *to, const void *from, size_t bytes) {
  if (bytes) memcpy(to, from, bytes);
  return to + bytes;
}

static uint8_t *put_strings(uint8_t *to, char *const *strings) {
  for (; strings && *strings; strings++) to = put(to, *strings, strlen(*strings) + 1);
  return to;
}

void runner_spec_write(const RunnerSpec *spec, uint8_t *frame) {
  RunnerHead head = runner_head(RUNNER_SPEC, runner_spec_bytes(spec));
  SpecNumbers numbers = {.lease_end_boot_ms = spec->lease_end_boot_ms,
    .timeout_ms = spec->timeout_ms,
    .kill_after_ms = spec->kill_after_ms,
    .flags = spec->flags,
    .uid = spec->uid,
    .gid = spec->gid,
    .umask = spec->umask,
    .n_groups = spec->n_groups};
  strings_bytes(spec->argv, &numbers.n_args);
  strings_bytes(spec->envp, &numbers.n_env);
  uint8_t *to = put(frame, &head, sizeof head);
  to = put(to, &numbers, sizeof numbers);
  to = put(to, spec->groups, spec->n_groups * sizeof(uint32_t));
  to = put(to, spec->cwd, strlen(spec->cwd) + 1);
  to = put_strings(to, spec->argv);
  put_strings(to, spec->envp);
}

static bool time_valid(int64_t ms) { return ms >= 0 && ms <= RUNNER_TIME_MAX_MS; }

static bool read_numbers(const uint8_t *payload, size_t bytes, SpecNumbers *ret) {
  SpecNumbers n;
  if (bytes < sizeof n || payload[bytes - 1] != 0) return false;
  memcpy(&n, payload, sizeof n);
  size_t left = bytes - sizeof n;
  if (n.n_groups > left / sizeof(uint32_t)) return false;
  left -= n.n_groups * sizeof(uint32_t);
  /* Each string takes at least its NUL, so the counts can't promise more than the payload holds. */
  if (n.n_args == 0 || n.n_args > left || n.n_env > left || 1 + (size_t)n.n_args + n.n_env > left) return false;
  if (n.zero != 0 || n.umask < -1 || n.umask > 0777) return false;
  if (!time_valid(n.lease_end_boot_ms) || !time_valid(n.timeout_ms) || !time_valid(n.kill_after_ms)) return false;
  if (n.flags & ~(uint32_t)(RUNNER_CHANGE_USER | RUNNER_KEEP_BACKGROUND)) return false;
  *ret = n;
  return true;
}

size_t runner_spec_pointers(const uint8_t *payload, size_t bytes) {
  SpecNumbers n;
  return read_numbers(payload, bytes, &n) ? (size_t)n.n_args + n.n_env + 2 : 0;
}

/* Takes `n` strings from *at on and ends the list. False when the payload ends before. */
static bool take_strings(char **at, char *end, size_t n, char **pointers) {
  for (size_t i = 0; i < n; i++) {
    if (*at >= end) return false;
    pointers[i] = *at;
    *at += strlen(*at) + 1; /* the payload's last byte is a NUL */
  }
  pointers[n] = NULL;
  return true;
}

bool runner_spec_read(uint8_t *payload, size_t bytes, char **pointers, RunnerSpec *ret_spec) {
  SpecNumbers n;
  if (!read_numbers(payload, bytes, &n)) return false;
  RunnerSpec spec = {.lease_end_boot_ms = n.lease_end_boot_ms,
    .timeout_ms = n.timeout_ms,
    .kill_after_ms = n.kill_after_ms,
    .flags = n.flags,
    .uid = n.uid,
    .gid = n.gid,
    .umask = n.umask,
    .n_groups = n.n_groups,
    .n_args = n.n_args,
    .n_env = n.n_env};
  spec.groups = (const uint32_t *)(const void *)(payload + sizeof n);
  char *at = (char *)payload + sizeof n + n.n_groups * sizeof(uint32_t), *end = (char *)payload + bytes;
  spec.argv = pointers;
  spec.envp = pointers + n.n_args + 1;
  char *cwd[2];
  if (!take_strings(&at, end, 1, cwd) || !take_strings(&at, end, n.n_args, spec.argv) || !take_strings(&at, end, n.n_env, spec.envp))
    return false;
  if (at != end) return false;
  spec.cwd = cwd[0];
  *ret_spec = spec;
  return true;
}
