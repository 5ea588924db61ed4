/* SPDX-License-Identifier: MIT */
/* What the C library moves memory with, for comparison; what it does to the
 * bus is its own affair. */
#include <string.h>

#include "core/memory/kernel_private.h"

static uint64_t set(const struct sl_kernel_work *w, int byte) {
  for (size_t repeat = w->repeats; repeat; repeat--) {
    memset(w->dst, byte, w->bytes);
    SL_BARRIER();
  }
  return 0;
}

static uint64_t fill(const struct sl_kernel_work *w) {
  return set(w, (int)(w->value & 0xff));
}

static uint64_t zero(const struct sl_kernel_work *w) { return set(w, 0); }

static uint64_t copy(const struct sl_kernel_work *w) {
  for (size_t repeat = w->repeats; repeat; repeat--) {
    memcpy(w->dst, w->a, w->bytes);
    SL_BARRIER();
  }
  return 0;
}

const struct sl_kernel sl_kernels_libc[] = {
    {"memset", "libc", SL_MEMORY_FILL, SL_BUS_UNKNOWN, fill},
    {"memset", "libc", SL_MEMORY_ZERO, SL_BUS_UNKNOWN, zero},
    {"memcpy", "libc", SL_MEMORY_MEMCPY, SL_BUS_UNKNOWN, copy},
    {NULL, NULL, SL_MEMORY_READ, SL_BUS_PLAIN, NULL}};
