/* SPDX-License-Identifier: MIT */
/* VAES on 512-bit registers: a sector is eight of them, the first of which
 * carries the header in its lower half.  Empty elsewhere. */
#include "core/io/stamp_kernel.h"

#if defined(__VAES__) && defined(__AVX512F__) && defined(__x86_64__)
#include <immintrin.h>

static const unsigned char key_a[16] = SL_STAMP_A;
static const unsigned char key_b[16] = SL_STAMP_B;

struct call {
  struct sl_stamp_common common;
  __m128i h1, p, a, b;
  __m512i counter[8];
};

/* Block i of the sector has the counter i, so register r has 4r .. 4r+3. */
static inline __m512i counter_of(int r) {
  __m512i i = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
  i = _mm512_add_epi64(i, _mm512_set1_epi64(4 * r));
  return _mm512_or_si512(i, _mm512_slli_epi64(i, 32)); /* in each column */
}

static inline struct call start(const struct sl_stamp *first) {
  struct call c;
  c.common = sl_stamp_common(first);
  c.h1 = _mm_set_epi64x((long long)c.common.target_writer,
                        (long long)c.common.run_generation);
  c.a = _mm_loadu_si128((const void *)key_a);
  c.b = _mm_loadu_si128((const void *)key_b);
  c.p = _mm_aesenc_si128(_mm_aesenc_si128(c.h1, c.a), _mm_setzero_si128());
#pragma GCC unroll 8
  for (int r = 0; r < 8; r++)
    c.counter[r] = counter_of(r);
  return c;
}

static inline __m128i header(const struct call *c, uint64_t address) {
  return _mm_set_epi64x((long long)address,
                        (long long)sl_stamp_magic_check(&c->common, address));
}

/* The key of the sector in all four lanes. */
static inline __m512i key_of(const struct call *c, __m128i h0) {
  __m128i k = _mm_aesenc_si128(_mm_xor_si128(c->p, h0), c->b);
  return _mm512_broadcast_i32x4(_mm_aesenc_si128(k, c->a));
}

static inline __m512i body(const struct call *c, __m512i k, int r) {
  __m512i s = _mm512_xor_si512(k, c->counter[r]);
  return _mm512_aesenc_epi128(s, k);
}

/* Register 0: the header, then blocks 2 and 3. */
static inline __m512i with_header(__m512i blocks, __m128i h0, __m128i h1) {
  __m512i header = _mm512_inserti32x4(_mm512_castsi128_si512(h0), h1, 1);
  return _mm512_mask_blend_epi64(0xf0, header, blocks);
}

/* As in the AES-NI kernel, the next key is made before this body. */
static void fill(void *data, size_t sectors, const struct sl_stamp *first) {
  struct call c = start(first);
  unsigned char *to = data;
  __m128i next_h0 = header(&c, first->address);
  __m512i next_k = key_of(&c, next_h0);
  for (size_t s = 0; s < sectors; s++, to += SL_SECTOR_BYTES) {
    __m128i h0 = next_h0;
    __m512i k = next_k;
    next_h0 = header(&c, first->address + s + 1);
    next_k = key_of(&c, next_h0);
    _mm512_storeu_si512(to, with_header(body(&c, k, 0), h0, c.h1));
#pragma GCC unroll 8
    for (int r = 1; r < 8; r++)
      _mm512_storeu_si512(to + 64 * r, body(&c, k, r));
  }
}

static size_t compare(const void *data, size_t sectors,
                      const struct sl_stamp *first) {
  struct call c = start(first);
  const unsigned char *at = data;
  __m128i next_h0 = header(&c, first->address);
  __m512i next_k = key_of(&c, next_h0);
  for (size_t s = 0; s < sectors; s++, at += SL_SECTOR_BYTES) {
    __m128i h0 = next_h0;
    __m512i k = next_k;
    next_h0 = header(&c, first->address + s + 1);
    next_k = key_of(&c, next_h0);
    __m512i bad = _mm512_xor_si512(_mm512_loadu_si512(at),
                                   with_header(body(&c, k, 0), h0, c.h1));
#pragma GCC unroll 8
    for (int r = 1; r < 8; r++) /* 0xf6: bad | (memory ^ body) */
      bad = _mm512_ternarylogic_epi64(bad, _mm512_loadu_si512(at + 64 * r),
                                      body(&c, k, r), 0xf6);
    if (_mm512_test_epi64_mask(bad, bad)) return s;
  }
  return sectors;
}

const struct sl_stamp_kernel sl_stamp_vaes = {"vaes", fill, compare};
#else
const struct sl_stamp_kernel sl_stamp_vaes = {"vaes", NULL, NULL};
#endif
