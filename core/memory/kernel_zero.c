/* SPDX-License-Identifier: MIT */
/* Instructions that move whole ranges by themselves: the string instructions
 * of x86, and those that zero a line without data (CLZERO of AMD, DC ZVA of
 * 64-bit ARM). */
#include "core/memory/kernel_private.h"

#if defined(__x86_64__)

static uint64_t copy_movsb(const struct sl_kernel_work *w) {
  for (size_t repeat = w->repeats; repeat; repeat--) {
    unsigned char *to = w->dst;
    const unsigned char *from = w->a;
    size_t count = w->bytes;
    __asm__ volatile("rep movsb"
                     : "+D"(to), "+S"(from), "+c"(count)
                     :
                     : "memory");
  }
  return 0;
}

static uint64_t write_stosq(const struct sl_kernel_work *w) {
  for (size_t repeat = w->repeats; repeat; repeat--) {
    unsigned char *to = w->dst;
    size_t count = w->bytes / 8;
    __asm__ volatile("rep stosq"
                     : "+D"(to), "+c"(count)
                     : "a"(w->value)
                     : "memory");
  }
  return 0;
}

static uint64_t zero_clzero(const struct sl_kernel_work *w) {
  for (size_t repeat = w->repeats; repeat; repeat--) {
    for (unsigned char *to = w->dst, *end = to + w->bytes; to < end; to += 64)
      __asm__ volatile("clzero" : : "a"(to) : "memory");
    __asm__ volatile("sfence" ::: "memory");
  }
  return 0;
}

const struct sl_kernel sl_kernels_string[] = {
    {"movsb", "x86", SL_MEMORY_COPY, SL_BUS_UNKNOWN, copy_movsb},
    {"stosq", "x86", SL_MEMORY_WRITE, SL_BUS_UNKNOWN, write_stosq},
    {NULL, NULL, SL_MEMORY_READ, SL_BUS_PLAIN, NULL}};
const struct sl_kernel sl_kernels_clzero[] = {
    {"clzero", "clzero", SL_MEMORY_ZERO, SL_BUS_BYPASS, zero_clzero},
    {NULL, NULL, SL_MEMORY_READ, SL_BUS_PLAIN, NULL}};
const struct sl_kernel sl_kernels_zva[] = {{0}};

#elif defined(__aarch64__)

/* The block is 16 bytes to 2 KiB, as the CPU says: never assumed. */
static uint64_t zero_zva(const struct sl_kernel_work *w) {
  uint64_t id;
  __asm__("mrs %0, dczid_el0" : "=r"(id));
  const size_t block = (size_t)4 << (id & 15);
  for (size_t repeat = w->repeats; repeat; repeat--) {
    for (unsigned char *to = w->dst, *end = to + w->bytes; to < end;
         to += block)
      __asm__ volatile("dc zva, %0" : : "r"(to) : "memory");
  }
  return 0;
}

const struct sl_kernel sl_kernels_zva[] = {
    {"zva", "zva", SL_MEMORY_ZERO, SL_BUS_BYPASS, zero_zva},
    {NULL, NULL, SL_MEMORY_READ, SL_BUS_PLAIN, NULL}};
const struct sl_kernel sl_kernels_string[] = {{0}};
const struct sl_kernel sl_kernels_clzero[] = {{0}};

#else
const struct sl_kernel sl_kernels_string[] = {{0}};
const struct sl_kernel sl_kernels_clzero[] = {{0}};
const struct sl_kernel sl_kernels_zva[] = {{0}};
#endif
