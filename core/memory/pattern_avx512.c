/* SPDX-License-Identifier: MIT */
#include "core/memory/pattern_private.h"

#if defined(__AVX512F__)
#include <immintrin.h>

typedef uint64_t vector_words __attribute__((vector_size(64)));
#define VWORD vector_words
#define ENGINE sl_pattern_avx512
#define NAME "avx512"
#define NT_STORE(p, v) _mm512_stream_si512((__m512i *)(void *)(p), (__m512i)(v))
#define NT_END() _mm_sfence()
#include "core/memory/pattern_template.h"
#else
const struct sl_pattern_engine sl_pattern_avx512 = {"avx512", NULL, NULL, NULL};
#endif
