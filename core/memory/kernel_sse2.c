/* SPDX-License-Identifier: MIT */
/* 16 bytes at a time: what every x86-64 has. */
#include "core/memory/kernel_private.h"

#if defined(__SSE2__)
#include <emmintrin.h>

typedef uint64_t vector_words __attribute__((vector_size(16)));
typedef double vector_doubles __attribute__((vector_size(16)));
#define VWORD vector_words
#define VDOUBLE vector_doubles
#define LIST sl_kernels_sse2
#define ISA "sse2"
#define NT_STORE(p, v, w)                                  \
  (_mm_stream_si128((__m128i *)(void *)(p), (__m128i)(v)), \
   _mm_stream_si128((__m128i *)(void *)(p) + 1, (__m128i)(w)))
#define NT_END() _mm_sfence()
#include "core/memory/kernel_template.h"
#else
const struct sl_kernel sl_kernels_sse2[] = {{0}};
#endif
