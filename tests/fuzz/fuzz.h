/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target is one file with this function. libFuzzer calls it with what it invents, replay_main.c with the files of a corpus.
 * It returns 0, and aborts where a property does not hold. */
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);
