/* SPDX-License-Identifier: MIT */
#include "core/memory/pattern_private.h"

#if defined(__aarch64__) || (defined(__arm__) && defined(__ARM_NEON))

typedef uint64_t vector_words __attribute__((vector_size(16)));
#define VWORD vector_words
#define ENGINE sl_pattern_neon
#define NAME "neon"
#include "core/memory/pattern_template.h"
#else
const struct sl_pattern_engine sl_pattern_neon = {"neon", NULL, NULL, NULL};
#endif
