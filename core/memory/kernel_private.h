/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_KERNEL_PRIVATE_H
#define STORLUA_CORE_MEMORY_KERNEL_PRIVATE_H

/* The lists of the units, each ended by a NULL name; empty where the unit's
 * instruction set is not that of the build. */

#include "core/memory/kernel.h"

extern const struct sl_kernel sl_kernels_c[];
extern const struct sl_kernel sl_kernels_lm[];
extern const struct sl_kernel sl_kernels_libc[];
extern const struct sl_kernel sl_kernels_sse2[];
extern const struct sl_kernel sl_kernels_avx2[];
extern const struct sl_kernel sl_kernels_avx512[];
extern const struct sl_kernel sl_kernels_string[]; /* rep movs, rep stos */
extern const struct sl_kernel sl_kernels_clzero[];
extern const struct sl_kernel sl_kernels_neon[];
extern const struct sl_kernel sl_kernels_arm[]; /* ldm, stm */
extern const struct sl_kernel sl_kernels_zva[];

/* Nothing that was in memory before is known afterwards, and all of it has
 * been stored: a loop cannot become a library call, nor a repeat go away. */
#define SL_BARRIER() __asm__ volatile("" ::: "memory")

#if defined(__clang__)
#define SL_UNROLL(n) _Pragma("unroll")
#else
#define SL_PRAGMA(x) _Pragma(#x)
#define SL_UNROLL(n) SL_PRAGMA(GCC unroll n)
#endif

#endif
