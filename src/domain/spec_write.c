/* SPDX-License-Identifier: Apache-2.0 */
/* The normal form of specs: every key written out, in the words a user would write. Two specs are equal when this text is. */
#include "domain/spec_task.h"
#include "domain/spec_trigger.h"

#include "base/clock.h"

static void set_duration(json_t *object, const char *key, gint64 ms) {
  g_autofree char *text = pawl_duration_text(ms);
  json_object_set_new(object, key, json_string(text));
}

/* 0 is none. */
static void set_limit(json_t *object, const char *key, gint64 ms) {
  if (ms == 0)
    json_object_set_new(object, key, json_null());
  else
    set_duration(object, key, ms);
}

static json_t *texts_to_json(char **texts) {
  json_t *list = json_array();
  for (; *texts != NULL; texts++) json_array_append_new(list, json_string(*texts));
  return list;
}

static json_t *env_to_json(const GPtrArray *env) {
  static const char *const sources[] = {NULL, "from_file", "from_env"};
  json_t *object = json_object();
  for (guint i = 0; i < env->len; i++) {
    const PawlEnvVar *var = g_ptr_array_index(env, i);
    json_t *text = json_string(var->value);
    json_object_set_new(object, var->name, var->source == PAWL_ENV_LITERAL ? text : json_pack("{so}", sources[var->source], text));
  }
  return object;
}

static json_t *retry_to_json(const PawlTaskSpec *spec) {
  json_t *retry = json_object(), *when = json_array();
  json_object_set_new(retry, "attempts", json_integer(spec->retry_attempts));
  set_duration(retry, "backoff", spec->retry_backoff_ms);
  set_duration(retry, "max_backoff", spec->retry_max_backoff_ms);
  for (const PawlWord *word = pawl_retry_when_words; word->word != NULL; word++)
    if ((spec->retry_when & (guint)word->value) != 0) json_array_append_new(when, json_string(word->word));
  json_object_set_new(retry, "when", when);
  json_object_set_new(retry, "later", json_boolean(spec->retry_later));
  return retry;
}

static void set_work(json_t *json, const PawlTaskSpec *spec) {
  switch (spec->kind) {
  case PAWL_WORK_EXEC: json_object_set_new(json, "exec", texts_to_json(spec->argv)); break;
  case PAWL_WORK_SHELL: json_object_set_new(json, "shell", json_pack("{ssss}", "command", spec->command, "program", spec->shell)); break;
  case PAWL_WORK_NOOP: json_object_set_new(json, "noop", json_object()); break;
  }
}

json_t *pawl_task_spec_to_json(const PawlTaskSpec *spec) {
  json_t *json = json_object(), *mail = json_object();
  set_work(json, spec);
  pawl_json_set_text(json, "description", spec->description);
  pawl_json_set_text(json, "cwd", spec->cwd);
  json_object_set_new(json, "env", env_to_json(spec->env));
  json_object_set_new(json, "env_pass", texts_to_json(spec->env_pass));
  pawl_json_set_text(json, "user", spec->user);
  g_autofree char *mask = spec->umask < 0 ? NULL : g_strdup_printf("%03o", (guint)spec->umask);
  pawl_json_set_text(json, "umask", mask);
  pawl_json_set_text(json, "input", spec->input);
  pawl_json_set_text(json, "pool", spec->pool);
  json_object_set_new(json, "slots", json_integer(spec->slots));
  json_object_set_new(json, "priority", json_integer(spec->priority));
  json_object_set_new(json, "max_active", spec->max_active == 0 ? json_null() : json_integer(spec->max_active));
  set_limit(json, "timeout", spec->timeout_ms);
  set_duration(json, "kill_after", spec->kill_after_ms);
  set_limit(json, "start_within", spec->start_within_ms);
  json_object_set_new(json, "retry", retry_to_json(spec));
  pawl_json_set_text(json, "background", spec->keep_background ? "keep" : "end");
  pawl_json_set_text(mail, "to", spec->mail_to);
  pawl_json_set_text(mail, "when", pawl_word_of(pawl_mail_words, (gint)spec->mail_when));
  json_object_set_new(json, "mail", mail);
  set_duration(json, "keep", spec->output_keep_ms);
  json_object_set_new(json, "output", json_integer(spec->output_cap_bytes));
  return json;
}

static void set_timing(json_t *json, const PawlTriggerSpec *spec) {
  const PawlTiming *timing = &spec->timing;
  switch (timing->kind) {
  case PAWL_TIMING_CRON:
  case PAWL_TIMING_REBOOT:
    pawl_json_set_text(json, "cron", spec->expression);
    json_object_set_new(json, "seconds", json_boolean(spec->seconds));
    pawl_json_set_text(json, "zone", spec->zone);
    break;
  case PAWL_TIMING_EVERY:
    set_duration(json, "every", timing->every_ms);
    set_duration(json, "offset", timing->offset_ms);
    break;
  case PAWL_TIMING_AT: {
    char text[PAWL_INSTANT_TEXT];
    pawl_json_set_text(json, "at", pawl_instant_text(timing->at_ms, text));
    break;
  }
  }
  pawl_json_set_instant(json, "from", timing->from_ms);
  pawl_json_set_instant(json, "until", timing->until_ms);
  set_duration(json, "jitter", timing->jitter_ms);
}

json_t *pawl_trigger_spec_to_json(const PawlTriggerSpec *spec) {
  json_t *json = json_object();
  set_timing(json, spec);
  pawl_json_set_text(json, "misfire", pawl_word_of(pawl_misfire_words, (gint)spec->misfire.misfire));
  json_object_set_new(json, "misfire_limit", json_integer(spec->misfire.misfire_limit));
  if (spec->misfire.grace_ms < 0)
    pawl_json_set_text(json, "misfire_grace", "auto");
  else
    set_duration(json, "misfire_grace", spec->misfire.grace_ms);
  if (spec->overlap == PAWL_OVERLAP_QUEUE)
    json_object_set_new(json, "overlap", json_pack("{si}", "queue", spec->overlap_queue));
  else
    pawl_json_set_text(json, "overlap", pawl_word_of(pawl_overlap_words, (gint)spec->overlap));
  json_object_set_new(json, "task_revision", spec->task_revision == 0 ? json_null() : json_integer(spec->task_revision));
  pawl_json_set_text(json, "input", spec->input);
  json_object_set_new(json, "enabled", json_boolean(spec->enabled));
  return json;
}
