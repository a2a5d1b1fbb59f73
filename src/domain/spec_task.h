/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about task specs share. Private to domain/. */
#pragma once
#include "domain/spec.h"

extern const PawlWord pawl_mail_words[], pawl_retry_when_words[];
/* The rows of triggers, for the hint that a key belongs there. */
extern const PawlKey pawl_trigger_rows[];
#define PAWL_TRIGGER_ROWS 16

/* Readers of a PawlTaskSpec's keys (spec_task_keys.c). */
void pawl_read_exec(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
void pawl_read_shell(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
void pawl_read_noop(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
void pawl_read_cwd(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
void pawl_read_env(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
void pawl_read_env_pass(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
void pawl_read_user(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
void pawl_read_umask(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
void pawl_read_retry(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
void pawl_read_mail(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target);
