/* SPDX-License-Identifier: MIT */
/* 64 bytes at a time: a whole line. */
#include "core/memory/kernel_private.h"

#if defined(__AVX512F__)
#include <immintrin.h>

typedef uint64_t vector_words __attribute__((vector_size(64)));
typedef double vector_doubles __attribute__((vector_size(64)));
#define VWORD vector_words
#define VDOUBLE vector_doubles
#define LIST sl_kernels_avx512
#define ISA "avx512"
#define NT_STORE(p, v, w)                                     \
  (_mm512_stream_si512((__m512i *)(void *)(p), (__m512i)(v)), \
   _mm512_stream_si512((__m512i *)(void *)(p) + 1, (__m512i)(w)))
#define NT_END() _mm_sfence()
#include "core/memory/kernel_template.h"
#else
const struct sl_kernel sl_kernels_avx512[] = {{0}};
#endif
