/* SPDX-License-Identifier: MIT */
/* The AES instructions of ARMv8.  AESE adds its key before the S-box and not
 * at the end, so R(s xor k1, k2) is AESMC(AESE(s, k1)) xor k2, and a counter
 * with the key K needs one exclusive or per block.  Empty elsewhere. */
#include "core/io/stamp_kernel.h"

#if defined(__aarch64__) && !defined(__AARCH64EB__) && \
    (defined(__ARM_FEATURE_AES) || defined(__ARM_FEATURE_CRYPTO))
#include <arm_neon.h>

static const unsigned char key_a[16] = SL_STAMP_A;
static const unsigned char key_b[16] = SL_STAMP_B;

struct call {
  struct sl_stamp_common common;
  uint8x16_t h1, p, a, b;
};

/* MixColumns(ShiftRows(SubBytes(s xor key))) */
static inline uint8x16_t half_round(uint8x16_t s, uint8x16_t key) {
  return vaesmcq_u8(vaeseq_u8(s, key));
}

static inline uint8x16_t pair(uint64_t low, uint64_t high) {
  return vreinterpretq_u8_u64(
      vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
}

static inline struct call start(const struct sl_stamp *first) {
  struct call c;
  c.common = sl_stamp_common(first);
  c.h1 = pair(c.common.run_generation, c.common.target_writer);
  c.a = vld1q_u8(key_a);
  c.b = vld1q_u8(key_b);
  c.p = half_round(half_round(c.h1, vdupq_n_u8(0)), c.a);
  return c;
}

static inline uint8x16_t header(const struct call *c, uint64_t address) {
  return pair(sl_stamp_magic_check(&c->common, address), address);
}

static inline uint8x16_t key_of(const struct call *c, uint8x16_t h0) {
  return veorq_u8(half_round(half_round(c->p, h0), c->b), c->a);
}

static inline uint8x16_t body(uint8x16_t k, unsigned i) {
  uint8x16_t counter = vreinterpretq_u8_u32(vdupq_n_u32(i));
  return veorq_u8(half_round(counter, k), k);
}

static void fill(void *data, size_t sectors, const struct sl_stamp *first) {
  struct call c = start(first);
  unsigned char *to = data;
  for (size_t s = 0; s < sectors; s++, to += SL_SECTOR_BYTES) {
    uint8x16_t h0 = header(&c, first->address + s);
    uint8x16_t k = key_of(&c, h0);
    vst1q_u8(to, h0);
    vst1q_u8(to + 16, c.h1);
#pragma GCC unroll 30
    for (unsigned i = 2; i < 32; i++)
      vst1q_u8(to + 16 * i, body(k, i));
  }
}

static size_t compare(const void *data, size_t sectors,
                      const struct sl_stamp *first) {
  struct call c = start(first);
  const unsigned char *at = data;
  for (size_t s = 0; s < sectors; s++, at += SL_SECTOR_BYTES) {
    uint8x16_t h0 = header(&c, first->address + s);
    uint8x16_t k = key_of(&c, h0);
    uint8x16_t bad =
        vorrq_u8(veorq_u8(vld1q_u8(at), h0), veorq_u8(vld1q_u8(at + 16), c.h1));
#pragma GCC unroll 30
    for (unsigned i = 2; i < 32; i++)
      bad = vorrq_u8(bad, veorq_u8(vld1q_u8(at + 16 * i), body(k, i)));
    if (vmaxvq_u8(bad)) return s;
  }
  return sectors;
}

const struct sl_stamp_kernel sl_stamp_armv8 = {"armv8-aes", fill, compare};
#else
const struct sl_stamp_kernel sl_stamp_armv8 = {"armv8-aes", NULL, NULL};
#endif
