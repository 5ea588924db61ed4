/* SPDX-License-Identifier: MIT */
/* Which kernel fills and compares. */
#include "core/io/stamp.h"

#include <stdatomic.h>

#include "core/io/stamp_kernel.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_AES
#define HWCAP_AES (1 << 3)
#endif
#endif

static bool cpu_has_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("aes") && __builtin_cpu_supports("ssse3") &&
         __builtin_cpu_supports("sse4.1");
#elif defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0;
#else
  return false;
#endif
}

static bool cpu_has_vaes(void) {
#if defined(__x86_64__)
  /* not every compiler's cpu_supports knows "vaes"; that the kernel saves the
   * wide registers is part of "avx512f" */
  unsigned a, b, c = 0, d;
  return cpu_has_aes() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") &&
         __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & 1u << 9);
#else
  return false;
#endif
}

static bool always(void) { return true; }

/* Fastest first. */
static const struct {
  const struct sl_stamp_kernel *kernel;
  bool (*usable)(void);
} kernels[] = {
    {&sl_stamp_vaes, cpu_has_vaes},
    {&sl_stamp_aesni, cpu_has_aes},
    {&sl_stamp_armv8, cpu_has_aes},
    {&sl_stamp_scalar, always},
};

/* NULL until the first use.  Two threads that choose at the same time choose
 * the same, so no more than an atomic pointer is needed. */
static _Atomic(const struct sl_stamp_kernel *) chosen;

bool sl_stamp_select(const char *name) {
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    const struct sl_stamp_kernel *kernel = kernels[i].kernel;
    if (name && strcmp(name, kernel->name) != 0) continue;
    if (!kernel->fill || !kernels[i].usable()) continue;
    atomic_store_explicit(&chosen, kernel, memory_order_release);
    return true;
  }
  return false;
}

static const struct sl_stamp_kernel *kernel_in_use(void) {
  const struct sl_stamp_kernel *kernel =
      atomic_load_explicit(&chosen, memory_order_acquire);
  if (kernel) return kernel;
  sl_stamp_select(NULL);
  return atomic_load_explicit(&chosen, memory_order_acquire);
}

const char *sl_stamp_kernel(void) { return kernel_in_use()->name; }

void sl_stamp_fill(void *data, size_t sectors, const struct sl_stamp *first) {
  kernel_in_use()->fill(data, sectors, first);
}

size_t sl_stamp_compare(const void *data, size_t sectors,
                        const struct sl_stamp *first) {
  return kernel_in_use()->compare(data, sectors, first);
}
