/* SPDX-License-Identifier: MIT */
#include "core/memory/kernel.h"

#include <pthread.h>
#include <string.h>

#include "core/memory/kernel_private.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#if defined(__arm__)
#include <sys/auxv.h>
#endif

static const struct sl_memory_op_facts facts[SL_MEMORY_OPS] = {
    [SL_MEMORY_READ] = {"read", 1, 0, 16},
    [SL_MEMORY_WRITE] = {"write", 0, 1, 16},
    [SL_MEMORY_WRITE_NT] = {"write_nt", 0, 1, 16},
    [SL_MEMORY_COPY] = {"copy", 1, 1, 16},
    [SL_MEMORY_COPY_NT] = {"copy_nt", 1, 1, 16},
    [SL_MEMORY_SCALE] = {"scale", 1, 1, 16},
    [SL_MEMORY_ADD] = {"add", 2, 1, 16},
    [SL_MEMORY_TRIAD] = {"triad", 2, 1, 16},
    [SL_MEMORY_FILL] = {"fill", 0, 1, 16},
    [SL_MEMORY_MEMCPY] = {"memcpy", 1, 1, 16},
    [SL_MEMORY_ZERO] = {"zero", 0, 1, 16},
    [SL_MEMORY_LM_RD] = {"lm_rd", 1, 0, 4},
    [SL_MEMORY_LM_WR] = {"lm_wr", 0, 1, 4},
    [SL_MEMORY_LM_RDWR] = {"lm_rdwr", 1, 1, 4},
    [SL_MEMORY_LM_CP] = {"lm_cp", 1, 1, 4},
    [SL_MEMORY_LM_FRD] = {"lm_frd", 1, 0, 16},
    [SL_MEMORY_LM_FWR] = {"lm_fwr", 0, 1, 16},
    [SL_MEMORY_LM_FCP] = {"lm_fcp", 1, 1, 16},
};

const struct sl_memory_op_facts *sl_memory_op_facts(enum sl_memory_op op) {
  return &facts[op];
}

enum sl_memory_op sl_memory_op_find(const char *name) {
  int op = 0;
  while (op < SL_MEMORY_OPS && strcmp(facts[op].name, name) != 0)
    op++;
  return (enum sl_memory_op)op;
}

static bool always(void) { return true; }

#if defined(__x86_64__) || defined(__i386__)
/* These ask the operating system's XCR0 too. */
static bool has_sse2(void) { return __builtin_cpu_supports("sse2") != 0; }
static bool has_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }
static bool has_avx512(void) { return __builtin_cpu_supports("avx512f") != 0; }
static bool has_clzero(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000008, &a, &b, &c, &d) && (b & 1);
}
#else
static bool has_sse2(void) { return false; }
static bool has_avx2(void) { return false; }
static bool has_avx512(void) { return false; }
static bool has_clzero(void) { return false; }
#endif

static bool has_neon(void) {
#if defined(__aarch64__)
  return true;
#elif defined(__arm__)
  return (getauxval(AT_HWCAP) & (1UL << 12)) != 0; /* HWCAP_NEON */
#else
  return false;
#endif
}

static bool has_zva(void) {
#if defined(__aarch64__)
  uint64_t id;
  __asm__("mrs %0, dczid_el0" : "=r"(id));
  return (id & 16) == 0 && ((size_t)4 << (id & 15)) <= SL_KERNEL_GRANULE;
#else
  return false;
#endif
}

struct unit {
  const char *isa;
  const struct sl_kernel *kernels;
  bool (*is_there)(void);
};

static const struct unit units[] = {
    {"avx512", sl_kernels_avx512, has_avx512},
    {"avx2", sl_kernels_avx2, has_avx2},
    {"neon", sl_kernels_neon, has_neon},
    {"sse2", sl_kernels_sse2, has_sse2},
    {"x86", sl_kernels_string, always},
    {"arm", sl_kernels_arm, always},
    {"clzero", sl_kernels_clzero, has_clzero},
    {"zva", sl_kernels_zva, has_zva},
    {"libc", sl_kernels_libc, always},
    {"c", sl_kernels_c, always},
    {"lmbench", sl_kernels_lm, always},
};

enum { UNITS = sizeof units / sizeof units[0] };

size_t sl_kernels(const struct sl_kernel **list, size_t max,
                  enum sl_memory_op op) {
  size_t count = 0;
  for (size_t u = 0; u < UNITS; u++) {
    if (!units[u].kernels[0].name || !units[u].is_there()) continue;
    for (const struct sl_kernel *k = units[u].kernels; k->name; k++) {
      if (k->op == op && count < max) list[count++] = k;
    }
  }
  return count;
}

static char isas[128];

static void name_isas(void) {
  for (size_t u = 0; u < UNITS; u++) {
    const struct unit *unit = &units[u];
    if (!unit->kernels[0].name || !unit->is_there()) continue;
    size_t used = strlen(isas);
    if (used + strlen(unit->isa) + 2 > sizeof isas) continue;
    if (used) isas[used++] = ' ';
    memcpy(isas + used, unit->isa, strlen(unit->isa) + 1);
  }
}

const char *sl_kernel_isas(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, name_isas);
  return isas;
}
