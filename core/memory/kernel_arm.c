/* SPDX-License-Identifier: MIT */
/* Load and store multiple: 32-bit ARM, with or without a vector unit. */
#include "core/memory/kernel_private.h"

#if defined(__arm__)

/* Eight registers are one line of the small cores.  The sum is that of 64-bit
 * words, as everywhere: the carry goes along. */
static uint64_t read_ldm(const struct sl_kernel_work *w) {
  uint32_t low = 0, high = 0;
  for (size_t repeat = w->repeats; repeat; repeat--) {
    const unsigned char *at = w->a;
    const unsigned char *end = at + w->bytes;
    while (at < end) {
      __asm__ volatile(
          "pld [%0, #256]\n\t"
          "ldmia %0!, {r3, r4, r5, r6}\n\t"
          "adds %1, %1, r3\n\t"
          "adc %2, %2, r4\n\t"
          "adds %1, %1, r5\n\t"
          "adc %2, %2, r6\n\t"
          "ldmia %0!, {r3, r4, r5, r6}\n\t"
          "adds %1, %1, r3\n\t"
          "adc %2, %2, r4\n\t"
          "adds %1, %1, r5\n\t"
          "adc %2, %2, r6"
          : "+r"(at), "+r"(low), "+r"(high)
          :
          : "r3", "r4", "r5", "r6", "cc", "memory");
    }
  }
  return (uint64_t)high << 32 | low;
}

static uint64_t write_stm(const struct sl_kernel_work *w) {
  const uint32_t low = (uint32_t)w->value;
  const uint32_t high = (uint32_t)(w->value >> 32);
  for (size_t repeat = w->repeats; repeat; repeat--) {
    unsigned char *to = w->dst;
    unsigned char *end = to + w->bytes;
    while (to < end) {
      __asm__ volatile(
          "mov r3, %1\n\t"
          "mov r4, %2\n\t"
          "mov r5, %1\n\t"
          "mov r6, %2\n\t"
          "stmia %0!, {r3, r4, r5, r6}\n\t"
          "stmia %0!, {r3, r4, r5, r6}"
          : "+r"(to)
          : "r"(low), "r"(high)
          : "r3", "r4", "r5", "r6", "memory");
    }
  }
  return 0;
}

static uint64_t copy_ldm(const struct sl_kernel_work *w) {
  for (size_t repeat = w->repeats; repeat; repeat--) {
    unsigned char *to = w->dst;
    const unsigned char *at = w->a;
    const unsigned char *end = at + w->bytes;
    while (at < end) {
      __asm__ volatile(
          "pld [%0, #256]\n\t"
          "ldmia %0!, {r3, r4, r5, r6}\n\t"
          "stmia %1!, {r3, r4, r5, r6}\n\t"
          "ldmia %0!, {r3, r4, r5, r6}\n\t"
          "stmia %1!, {r3, r4, r5, r6}"
          : "+r"(at), "+r"(to)
          :
          : "r3", "r4", "r5", "r6", "memory");
    }
  }
  return 0;
}

const struct sl_kernel sl_kernels_arm[] = {
    {"ldm", "arm", SL_MEMORY_READ, SL_BUS_PLAIN, read_ldm},
    {"stm", "arm", SL_MEMORY_WRITE, SL_BUS_ALLOCATE, write_stm},
    {"ldmstm", "arm", SL_MEMORY_COPY, SL_BUS_ALLOCATE, copy_ldm},
    {NULL, NULL, SL_MEMORY_READ, SL_BUS_PLAIN, NULL}};
#else
const struct sl_kernel sl_kernels_arm[] = {{0}};
#endif
