/* SPDX-License-Identifier: Apache-2.0 */
/* domain: what a project, a pool, a task and a trigger are, which of them are valid, and how runs and attempts move.
 *
 * Pure: no I/O, no clock. Specs are read from JSON trees (YAML files and crontabs are turned into such trees first, yaml.c and
 * crontab.c, so there is one validation), normalised so that every default stands in them, and written back as canonical JSON; the
 * SHA-256 over that is a revision's digest. A spec that was read is never changed. Everything below is owned by its struct and freed
 * with it; strings are never NULL unless said so.
 *
 * A file is a mapping with `project`, `defaults`, `pools` and `tasks`; each object's keys stand in one table (bundle.c, spec_task.c,
 * spec_trigger.c), which also reads what is stored, because the normal form is the user's form with every key written out. Durations are
 * texts ("1h30m"), "no limit" is null there (`none` in a file). Functions are thread-safe: nothing here is shared or changed. */
#pragma once
#include "base/json.h"
#include "civil/civil.h"

/* ---- limits (limit, limit + 1 are tested) ---- */
#define PAWL_NAME_MAX 128 /* names: letters, digits, '_', '-', '.', from a letter or digit; UTF-8 letters are not allowed */
#define PAWL_FILE_MAX_BYTES (4 * 1024 * 1024)
#define PAWL_BUNDLE_MAX_TASKS 20000
#define PAWL_ARGV_MAX_BYTES (128 * 1024)
#define PAWL_PRIORITY_MIN (-1000)
#define PAWL_PRIORITY_MAX 1000
#define PAWL_AGEING_MS 10000 /* one step of priority is worth so much age */

/* ---- diagnostics ---- */
typedef struct {
  gboolean warning;
  char *file;        /* as the user named it */
  gint line, column; /* 1-based; 0: not known (a JSON body) */
  char *path;        /* "tasks.backup.triggers.nightly.cron" */
  char *message;
  char *hint; /* NULL: none. The fix, "did you mean 'timeout'?" */
} PawlIssue;
void pawl_issue_free(PawlIssue *issue);
/* "pawl.yaml:12:5: tasks.backup.timeot: unknown key; did you mean 'timeout'?" Caller g_free()s. */
char *pawl_issue_text(const PawlIssue *issue);

/* ---- specs ---- */
typedef enum { PAWL_WORK_EXEC, PAWL_WORK_SHELL, PAWL_WORK_NOOP } PawlWorkKind;
typedef enum { PAWL_ENV_LITERAL, PAWL_ENV_FROM_FILE, PAWL_ENV_FROM_ENV } PawlEnvSource;
typedef struct {
  char *name;
  PawlEnvSource source;
  char *value;
} PawlEnvVar;
typedef enum { PAWL_MAIL_NEVER, PAWL_MAIL_OUTPUT, /* output or failure, as cron does */ PAWL_MAIL_FAILURE, PAWL_MAIL_ALWAYS } PawlMailWhen;
/* Bits for retry.when */
enum { PAWL_RETRY_FAILED = 1, PAWL_RETRY_TIMED_OUT = 2, PAWL_RETRY_LOST = 4 };

typedef struct {
  PawlWorkKind kind;
  char **argv;       /* EXEC; else NULL */
  char *command;     /* SHELL; else NULL */
  char *shell;       /* SHELL: the program, "/bin/sh"; else NULL */
  char *description; /* NULL: none */
  char *cwd;         /* NULL: the user's home */
  GPtrArray *env;    /* PawlEnvVar *, in the order of their names */
  char **env_pass;   /* names taken from pawl's own environment; never NULL */
  char *user;        /* NULL: whom the worker runs as */
  gint umask;        /* -1: inherit */
  char *input;       /* stdin when the run has no input of its own; NULL: empty */
  char *pool;
  gint slots; /* >= 1 */
  gint priority;
  gint max_active;   /* 0: no limit */
  gint64 timeout_ms; /* 0: none */
  gint64 kill_after_ms;
  gint64 start_within_ms; /* 0: none */
  gint retry_attempts;    /* >= 1 */
  gint64 retry_backoff_ms, retry_max_backoff_ms;
  guint retry_when;     /* bits; default failed | timed_out | lost */
  gboolean retry_later; /* exit code 75 puts the run back after the back-off without using up an attempt's right to fail; up to 100 times */
  gboolean keep_background; /* processes that outlive the main one live on (crontabs), else they are ended */
  char *mail_to;            /* NULL: nobody */
  PawlMailWhen mail_when;
  gint64 output_keep_ms; /* `keep` */
  gint64 output_cap_bytes;
} PawlTaskSpec;

typedef enum { PAWL_OVERLAP_SKIP, PAWL_OVERLAP_ALLOW, PAWL_OVERLAP_QUEUE, PAWL_OVERLAP_REPLACE } PawlOverlap;
typedef struct {
  char *expression; /* CRON and REBOOT: as written; else NULL */
  gboolean seconds;
  char *zone;        /* CRON: as written, or the default; else "UTC" */
  PawlTiming timing; /* built, with window and jitter */
  PawlMisfireRule misfire;
  PawlOverlap overlap;
  gint overlap_queue; /* QUEUE: n */
  gint task_revision; /* 0: the newest */
  char *input;        /* stdin of its runs; NULL: the task's */
  gboolean enabled;
} PawlTriggerSpec;

typedef struct {
  char *name;
  gint slots; /* 0 = paused, -1 = unlimited */
} PawlPoolSpec;

/* `json` is the normal form, every default written out; `digest` its SHA-256. `line`, `column` of the name; 0: not known. */
typedef struct {
  char *name, *json, *digest;
  PawlTriggerSpec *spec;
  gint line, column;
} PawlTriggerDef;
typedef struct {
  char *name, *json, *digest;
  PawlTaskSpec *spec;
  GPtrArray *triggers; /* PawlTriggerDef * */
  gint line, column;
} PawlTaskDef;
/* What one file says. */
typedef struct {
  char *project;
  GPtrArray *pools; /* PawlPoolSpec * */
  GPtrArray *tasks; /* PawlTaskDef * */
} PawlBundle;
void pawl_bundle_free(PawlBundle *bundle);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlBundle, pawl_bundle_free)

/* From a YAML file's text (YAML 1.2 core schema; JSON is YAML too). Problems are appended to `issues` (PawlIssue *), at most 100; NULL
 * when one of them is no warning. `file` is only named in them. */
PawlBundle *pawl_bundle_from_yaml(const char *text, gsize bytes, const char *file, GPtrArray *issues);
/* The same from a JSON tree without positions. */
PawlBundle *pawl_bundle_from_json(const json_t *json, GPtrArray *issues);
/* Appends the warnings that need the time of day: `at` in the past, a trigger that never fires again, what a coming clock change does to
 * a cron expression, uneven steps. For `validate`. */
void pawl_bundle_review(const PawlBundle *bundle, const char *file, gint64 now_ms, GPtrArray *issues);

/* From a revision's canonical JSON, as stored. PAWL_ERROR_INTERNAL when it is none (a damaged or newer store). `project`, `task`,
 * `trigger`: the full name, which H is spread by. */
PawlTaskSpec *pawl_task_spec_from_stored(const char *json, GError **error);
void pawl_task_spec_free(PawlTaskSpec *spec);
PawlTriggerSpec *pawl_trigger_spec_from_stored(
  const char *json, const char *project, const char *task, const char *trigger, GError **error);
void pawl_trigger_spec_free(PawlTriggerSpec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlTaskSpec, pawl_task_spec_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlTriggerSpec, pawl_trigger_spec_free)

/* The defaults table, for `pawl defaults`: rows in order. */
typedef struct {
  const char *key, *value, *note;
} PawlDefault;
const PawlDefault *pawl_defaults(gsize *ret_n);

gboolean pawl_name_valid(const char *name);

/* ---- crontabs (crontab.c) ---- */
typedef enum { PAWL_CRONTAB_DETECT, PAWL_CRONTAB_USER, PAWL_CRONTAB_SYSTEM } PawlCrontabFormat;
typedef struct {
  const char *file; /* named in diagnostics; its base name gives the task names */
  PawlCrontabFormat format;
  const char *host_zone; /* the zone written into the triggers */
  const char *login;     /* user format: whose crontab it is; HOME and LOGNAME */
  const char *home;
  gboolean may_change_user; /* FALSE: a line for another user than `login` is refused as an issue (an error) */
} PawlCrontabOptions;
/* The JSON tree of an equal YAML file (new reference), or NULL when an issue is an error; what cannot be honoured is an issue with its
 * line. Task names do not depend on line numbers, so that an inserted line does not rename the others. */
json_t *pawl_crontab_to_json(const char *text, gsize bytes, const PawlCrontabOptions *options, GPtrArray *issues);
/* A JSON tree as a YAML file for people, which reads back to an equal tree. Caller g_free()s. */
char *pawl_json_to_yaml(const json_t *json);

/* ---- the run and attempt machine (machine.c): one const table ---- */
typedef enum {
  PAWL_RUN_SCHEDULED,
  PAWL_RUN_QUEUED,
  PAWL_RUN_RUNNING,
  PAWL_RUN_RETRY_WAIT,
  PAWL_RUN_SUCCEEDED,
  PAWL_RUN_FAILED,
  PAWL_RUN_CANCELLED,
  PAWL_RUN_TIMED_OUT
} PawlRunState;
typedef enum {
  PAWL_ATTEMPT_WAITING,
  PAWL_ATTEMPT_LEASED,
  PAWL_ATTEMPT_RUNNING,
  PAWL_ATTEMPT_SUCCEEDED,
  PAWL_ATTEMPT_FAILED,
  PAWL_ATTEMPT_CANCELLED,
  PAWL_ATTEMPT_TIMED_OUT,
  PAWL_ATTEMPT_LOST,
  PAWL_ATTEMPT_NONE
} PawlAttemptState;
typedef enum {
  PAWL_EVENT_ADMIT,
  PAWL_EVENT_GRANT,
  PAWL_EVENT_START,
  PAWL_EVENT_SUCCEED,
  PAWL_EVENT_FAIL,
  PAWL_EVENT_TIME_OUT,
  PAWL_EVENT_CANCEL,
  PAWL_EVENT_LOSE /* worker gone, lease over, drained */,
  PAWL_EVENT_TOO_LATE,
  PAWL_EVENT_LATER /* exit 75 */,
  PAWL_EVENT_DEFER /* admitted for a later start */,
  PAWL_EVENT_WAKE /* the instant a waiting attempt waited for has come */
} PawlMachineEvent;
typedef struct {
  gint row; /* stored with each event; never renumbered */
  PawlAttemptState from;
  PawlMachineEvent event;
  gboolean retry_left;   /* guard: the retry rule grants another attempt. Rows come in pairs where it matters */
  PawlAttemptState to;   /* of this attempt */
  PawlRunState run;      /* of its run afterwards */
  gboolean next_attempt; /* a new attempt becomes waiting */
  const char *why;
} PawlTransition;
const PawlTransition *pawl_machine_table(gsize *ret_n);
/* The row that applies, or NULL: not legal. Where the table has only the row without a retry, `retry_left` does not matter. */
const PawlTransition *pawl_machine_find(PawlAttemptState from, PawlMachineEvent event, gboolean retry_left);
const char *pawl_attempt_state_name(PawlAttemptState state);
const char *pawl_run_state_name(PawlRunState state);
const char *pawl_machine_event_name(PawlMachineEvent event);
gboolean pawl_run_state_parse(const char *text, PawlRunState *ret_state);
gboolean pawl_attempt_state_parse(const char *text, PawlAttemptState *ret_state);
gboolean pawl_run_state_is_end(PawlRunState state);

/* ---- rules (rules.c) ---- */
/* Whether another attempt follows, and after what wait: back-off doubles from retry_backoff_ms up to the maximum, then ±20 % jitter that
 * is a pure function of (run, attempt). `attempt`: the one that ended, from 1. `laters`: how often this run was put off by exit 75
 * before; those attempts do not count against retry_attempts. A LATER of a task without retry_later, or beyond the 100th, is a FAIL. */
gboolean pawl_retry_rule(
  const PawlTaskSpec *spec, const PawlId *run, gint attempt, gint laters, PawlMachineEvent ended_by, gint64 *ret_wait_ms);
typedef enum { PAWL_OVERLAP_DO_ADMIT, PAWL_OVERLAP_DO_LEDGER, PAWL_OVERLAP_DO_REPLACE } PawlOverlapVerdict;
/* `active`, `waiting`: unfinished trigger-born runs of the task, leased or running, and not. SKIP: any -> ledger. QUEUE n: ledger when n
 * wait. REPLACE: the others are cancelled when there are any. */
PawlOverlapVerdict pawl_overlap_rule(PawlOverlap overlap, gint queue, gint active, gint waiting);
/* The order in which a pool hands out: smaller first. queued_at_ms - priority * PAWL_AGEING_MS. */
gint64 pawl_order_key(gint64 queued_at_ms, gint priority);
