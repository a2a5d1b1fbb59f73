/* SPDX-License-Identifier: Apache-2.0 */
/* YAML to a JSON tree that remembers where each value stands. Private to domain/.
 *
 * YAML 1.2 core schema: only null, ~ and nothing are null; only true and false are booleans (yes, no, on, off are text); integers are
 * decimal, 0o and 0x. Refused, because each is a way to say something else than one sees: duplicate keys, merge keys, tags outside the
 * core, a second document, keys that are no scalars. Aliases are followed but not copied: the tree shares what an anchor names, and what
 * the aliases would expand to is counted and capped. */
#pragma once
#include "domain/issue.h"

#define PAWL_YAML_DEPTH_MAX 64
#define PAWL_YAML_NODES_MAX 1000000                  /* values, those behind aliases counted each time */
#define PAWL_YAML_TEXT_MAX (4 * PAWL_FILE_MAX_BYTES) /* bytes of scalars, counted likewise */

/* Where the values of a tree stand. */
typedef struct PawlPlaces PawlPlaces;
PawlPlaces *pawl_places_new(void);
void pawl_places_free(PawlPlaces *places);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlPlaces, pawl_places_free)
/* The place of the member `key` of an object, or of element `index` of an array when `key` is NULL; of the root when `container` is
 * NULL. `of_key`: of the key, not of the value. {0, 0} when it is not known, also for places == NULL. */
PawlPlace pawl_places_find(const PawlPlaces *places, const json_t *container, const char *key, gsize index, gboolean of_key);

/* New reference, or NULL with at least one error in `issues`. Not to be changed: parts may be shared. */
json_t *pawl_yaml_parse(const char *text, gsize bytes, const char *file, PawlPlaces *places, GPtrArray *issues);

/* yaml_scalar.c: what a plain scalar means in the core schema. */
typedef enum { PAWL_PLAIN_TEXT, PAWL_PLAIN_NULL, PAWL_PLAIN_BOOL, PAWL_PLAIN_INT, PAWL_PLAIN_FLOAT, PAWL_PLAIN_NOT_FINITE } PawlPlain;
PawlPlain pawl_yaml_plain(const char *text, gsize bytes);
/* The value of a plain scalar of that kind as a new reference, or NULL: a number that JSON cannot hold. */
json_t *pawl_yaml_plain_value(PawlPlain plain, const char *text, gsize bytes);

/* yaml_error.c: one clear sentence for what the scanner or parser of libyaml stumbled over. */
typedef struct {
  const char *problem, *context; /* libyaml's words, may be NULL */
  PawlPlace place, context_place;
} PawlYamlFault;
void pawl_yaml_explain(const char *text, gsize bytes, const char *file, const PawlYamlFault *fault, GPtrArray *issues);
