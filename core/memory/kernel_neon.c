/* SPDX-License-Identifier: MIT */
/* 16 bytes at a time on ARM.  32-bit NEON has no doubles: its arithmetic is
 * that of the plain unit. */
#include "core/memory/kernel_private.h"

#if defined(__aarch64__)

typedef uint64_t vector_words __attribute__((vector_size(16)));
typedef double vector_doubles __attribute__((vector_size(16)));
#define VWORD vector_words
#define VDOUBLE vector_doubles
#define LIST sl_kernels_neon
#define ISA "neon"
/* A hint: the CPU may allocate the lines all the same. */
/* clang-format off */
#define NT_STORE(p, v, w)                        \
  __asm__ volatile("stnp %q0, %q1, [%2]"         \
                   :                             \
                   : "w"(v), "w"(w), "r"(p)      \
                   : "memory")
/* clang-format on */
#define NT_END() __asm__ volatile("dmb ish" ::: "memory")
#include "core/memory/kernel_template.h"

#elif defined(__arm__) && defined(__ARM_NEON)
#include <arm_neon.h>

enum { STEP = 64 };

static uint64_t read_x1(const struct sl_kernel_work *w) {
  uint64x2_t s0 = vdupq_n_u64(0), s1 = s0, s2 = s0, s3 = s0;
  for (size_t repeat = w->repeats; repeat; repeat--) {
    for (size_t i = 0; i < w->bytes; i += STEP) {
      const uint64_t *at = (const uint64_t *)(const void *)(w->a + i);
      __builtin_prefetch(w->a + i + 512);
      s0 = vaddq_u64(s0, vld1q_u64(at));
      s1 = vaddq_u64(s1, vld1q_u64(at + 2));
      s2 = vaddq_u64(s2, vld1q_u64(at + 4));
      s3 = vaddq_u64(s3, vld1q_u64(at + 6));
      SL_BARRIER();
    }
  }
  const uint64x2_t sum = vaddq_u64(vaddq_u64(s0, s1), vaddq_u64(s2, s3));
  return vgetq_lane_u64(sum, 0) + vgetq_lane_u64(sum, 1);
}

static uint64_t read_x4(const struct sl_kernel_work *w) {
  const size_t part = w->bytes / 4;
  uint64x2_t sums[4] = {vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0),
                        vdupq_n_u64(0)};
  for (size_t repeat = w->repeats; repeat; repeat--) {
    for (size_t i = 0; i < part; i += 32) {
      SL_UNROLL(4)
      for (size_t s = 0; s < 4; s++) {
        const uint64_t *at =
            (const uint64_t *)(const void *)(w->a + s * part + i);
        sums[s] = vaddq_u64(sums[s], vld1q_u64(at));
        sums[s] = vaddq_u64(sums[s], vld1q_u64(at + 2));
      }
      SL_BARRIER();
    }
  }
  const uint64x2_t sum =
      vaddq_u64(vaddq_u64(sums[0], sums[1]), vaddq_u64(sums[2], sums[3]));
  return vgetq_lane_u64(sum, 0) + vgetq_lane_u64(sum, 1);
}

static uint64_t write_x1(const struct sl_kernel_work *w) {
  const uint64x2_t value = vdupq_n_u64(w->value);
  for (size_t repeat = w->repeats; repeat; repeat--) {
    for (size_t i = 0; i < w->bytes; i += STEP) {
      uint64_t *to = (uint64_t *)(void *)(w->dst + i);
      for (size_t u = 0; u < 8; u += 2)
        vst1q_u64(to + u, value);
      SL_BARRIER();
    }
  }
  return 0;
}

static inline __attribute__((always_inline)) uint64_t copy(
    const struct sl_kernel_work *w, int ahead) {
  for (size_t repeat = w->repeats; repeat; repeat--) {
    for (size_t i = 0; i < w->bytes; i += STEP) {
      const uint64_t *from = (const uint64_t *)(const void *)(w->a + i);
      uint64_t *to = (uint64_t *)(void *)(w->dst + i);
      if (ahead) __builtin_prefetch(w->a + i + 512);
      const uint64x2_t v0 = vld1q_u64(from), v1 = vld1q_u64(from + 2);
      const uint64x2_t v2 = vld1q_u64(from + 4), v3 = vld1q_u64(from + 6);
      vst1q_u64(to, v0);
      vst1q_u64(to + 2, v1);
      vst1q_u64(to + 4, v2);
      vst1q_u64(to + 6, v3);
      SL_BARRIER();
    }
  }
  return 0;
}

static uint64_t copy_x1(const struct sl_kernel_work *w) { return copy(w, 0); }
static uint64_t copy_x1p(const struct sl_kernel_work *w) { return copy(w, 1); }

const struct sl_kernel sl_kernels_neon[] = {
    {"neonx1p", "neon", SL_MEMORY_READ, SL_BUS_PLAIN, read_x1},
    {"neonx4", "neon", SL_MEMORY_READ, SL_BUS_PLAIN, read_x4},
    {"neonx1", "neon", SL_MEMORY_WRITE, SL_BUS_ALLOCATE, write_x1},
    {"neonx1", "neon", SL_MEMORY_COPY, SL_BUS_ALLOCATE, copy_x1},
    {"neonx1p", "neon", SL_MEMORY_COPY, SL_BUS_ALLOCATE, copy_x1p},
    {NULL, NULL, SL_MEMORY_READ, SL_BUS_PLAIN, NULL}};
#else
const struct sl_kernel sl_kernels_neon[] = {{0}};
#endif
