/* SPDX-License-Identifier: MIT */
#include "core/memory/pattern_private.h"

#if defined(__AVX2__)
#include <immintrin.h>

typedef uint64_t vector_words __attribute__((vector_size(32)));
#define VWORD vector_words
#define ENGINE sl_pattern_avx2
#define NAME "avx2"
#define NT_STORE(p, v) _mm256_stream_si256((__m256i *)(void *)(p), (__m256i)(v))
#define NT_END() _mm_sfence()
#include "core/memory/pattern_template.h"
#else
const struct sl_pattern_engine sl_pattern_avx2 = {"avx2", NULL, NULL, NULL};
#endif
