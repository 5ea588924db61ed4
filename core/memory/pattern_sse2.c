/* SPDX-License-Identifier: MIT */
#include "core/memory/pattern_private.h"

#if defined(__SSE2__)
#include <emmintrin.h>

typedef uint64_t vector_words __attribute__((vector_size(16)));
#define VWORD vector_words
#define ENGINE sl_pattern_sse2
#define NAME "sse2"
#define NT_STORE(p, v) _mm_stream_si128((__m128i *)(void *)(p), (__m128i)(v))
#define NT_END() _mm_sfence()
#include "core/memory/pattern_template.h"
#else
const struct sl_pattern_engine sl_pattern_sse2 = {"sse2", NULL, NULL, NULL};
#endif
