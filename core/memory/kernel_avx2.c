/* SPDX-License-Identifier: MIT */
/* 32 bytes at a time. */
#include "core/memory/kernel_private.h"

#if defined(__AVX2__)
#include <immintrin.h>

typedef uint64_t vector_words __attribute__((vector_size(32)));
typedef double vector_doubles __attribute__((vector_size(32)));
#define VWORD vector_words
#define VDOUBLE vector_doubles
#define LIST sl_kernels_avx2
#define ISA "avx2"
#define NT_STORE(p, v, w)                                     \
  (_mm256_stream_si256((__m256i *)(void *)(p), (__m256i)(v)), \
   _mm256_stream_si256((__m256i *)(void *)(p) + 1, (__m256i)(w)))
#define NT_END() _mm_sfence()
#include "core/memory/kernel_template.h"
#else
const struct sl_kernel sl_kernels_avx2[] = {{0}};
#endif
