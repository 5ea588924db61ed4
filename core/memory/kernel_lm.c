/* SPDX-License-Identifier: MIT */
/* The access shapes of lmbench's bw_mem, so that figures stand beside those
 * of vendors' manuals: 32-bit words, one of four or all of them, one chain of
 * additions, and in fwr the stores from the end of a block to its start. */
#include "core/memory/kernel_private.h"

enum { BLOCK = 128 }; /* ints */

typedef uint32_t int_at __attribute__((may_alias));

static uint64_t sum_ints(const struct sl_kernel_work *w, size_t stride) {
  uint32_t sum = 0;
  for (size_t repeat = w->repeats; repeat; repeat--) {
    const int_at *at = (const int_at *)(const void *)w->a;
    const int_at *end = at + w->bytes / 4;
    for (; at < end; at += BLOCK) {
      SL_UNROLL(32)
      for (size_t i = 0; i < BLOCK; i += stride) {
        sum += at[i];
        __asm__("" : "+r"(sum)); /* one chain, as written */
      }
      SL_BARRIER();
    }
  }
  return sum;
}

static uint64_t rd(const struct sl_kernel_work *w) { return sum_ints(w, 4); }
static uint64_t frd(const struct sl_kernel_work *w) { return sum_ints(w, 1); }

static uint64_t wr(const struct sl_kernel_work *w) {
  const uint32_t value = (uint32_t)w->value;
  for (size_t repeat = w->repeats; repeat; repeat--) {
    volatile int_at *at = (volatile int_at *)(void *)w->dst;
    volatile int_at *end = at + w->bytes / 4;
    for (; at < end; at += BLOCK) {
      SL_UNROLL(32)
      for (size_t i = 0; i < BLOCK; i += 4)
        at[i] = value;
    }
  }
  return 0;
}

static uint64_t fwr(const struct sl_kernel_work *w) {
  const uint32_t value = (uint32_t)w->value;
  for (size_t repeat = w->repeats; repeat; repeat--) {
    volatile int_at *at = (volatile int_at *)(void *)w->dst;
    volatile int_at *end = at + w->bytes / 4;
    for (; at < end; at += BLOCK) {
      SL_UNROLL(32)
      for (size_t i = BLOCK; i-- > 0;)
        at[i] = value;
    }
  }
  return 0;
}

static uint64_t rdwr(const struct sl_kernel_work *w) {
  const uint32_t value = (uint32_t)w->value;
  uint32_t sum = 0;
  for (size_t repeat = w->repeats; repeat; repeat--) {
    volatile int_at *at = (volatile int_at *)(void *)w->dst;
    volatile int_at *end = at + w->bytes / 4;
    for (; at < end; at += BLOCK) {
      SL_UNROLL(32)
      for (size_t i = 0; i < BLOCK; i += 4) {
        sum += at[i];
        at[i] = value;
      }
    }
  }
  __asm__ volatile("" : : "r"(sum));
  return 0;
}

static uint64_t copy_ints(const struct sl_kernel_work *w, size_t stride) {
  for (size_t repeat = w->repeats; repeat; repeat--) {
    volatile int_at *to = (volatile int_at *)(void *)w->dst;
    const int_at *at = (const int_at *)(const void *)w->a;
    const int_at *end = at + w->bytes / 4;
    for (; at < end; at += BLOCK, to += BLOCK) {
      SL_UNROLL(32)
      for (size_t i = 0; i < BLOCK; i += stride)
        to[i] = at[i];
    }
  }
  return 0;
}

static uint64_t cp(const struct sl_kernel_work *w) { return copy_ints(w, 4); }
static uint64_t fcp(const struct sl_kernel_work *w) { return copy_ints(w, 1); }

const struct sl_kernel sl_kernels_lm[] = {
    {"int4", "lmbench", SL_MEMORY_LM_RD, SL_BUS_PLAIN, rd},
    {"int4", "lmbench", SL_MEMORY_LM_WR, SL_BUS_ALLOCATE, wr},
    {"int4", "lmbench", SL_MEMORY_LM_RDWR, SL_BUS_ALLOCATE, rdwr},
    {"int4", "lmbench", SL_MEMORY_LM_CP, SL_BUS_ALLOCATE, cp},
    {"int", "lmbench", SL_MEMORY_LM_FRD, SL_BUS_PLAIN, frd},
    {"int", "lmbench", SL_MEMORY_LM_FWR, SL_BUS_ALLOCATE, fwr},
    {"int", "lmbench", SL_MEMORY_LM_FCP, SL_BUS_ALLOCATE, fcp},
    {NULL, NULL, SL_MEMORY_READ, SL_BUS_PLAIN, NULL}};
