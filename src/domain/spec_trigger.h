/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about trigger specs share. Private to domain/. */
#pragma once
#include "domain/spec.h"

extern const PawlWord pawl_misfire_words[], pawl_overlap_words[];

/* Says what is odd, but allowed, about the timing of a trigger that was read without an error; needs no clock. */
void pawl_trigger_warn(PawlReader *reader, const json_t *object, const PawlTriggerSpec *spec);
