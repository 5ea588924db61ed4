/* SPDX-License-Identifier: MIT */
/* AES-NI, 16 bytes at a time; SSE only, since small Atoms have AES without
 * AVX.  Empty elsewhere. */
#include "core/io/stamp_kernel.h"

#if defined(__AES__) && (defined(__x86_64__) || defined(__i386__))
#include <immintrin.h>

static const unsigned char key_a[16] = SL_STAMP_A;
static const unsigned char key_b[16] = SL_STAMP_B;

/* Of blocks 2 .. 31. */
#define EACH(i) \
  { i, i, i, i }
static const uint32_t counter[30][4] __attribute__((aligned(16))) = {
    EACH(2),  EACH(3),  EACH(4),  EACH(5),  EACH(6),  EACH(7),
    EACH(8),  EACH(9),  EACH(10), EACH(11), EACH(12), EACH(13),
    EACH(14), EACH(15), EACH(16), EACH(17), EACH(18), EACH(19),
    EACH(20), EACH(21), EACH(22), EACH(23), EACH(24), EACH(25),
    EACH(26), EACH(27), EACH(28), EACH(29), EACH(30), EACH(31)};
#undef EACH

struct call {
  struct sl_stamp_common common;
  __m128i h1, p, a, b;
};

static inline __m128i load(const void *at) { return _mm_loadu_si128(at); }

static struct call start(const struct sl_stamp *first) {
  struct call c;
  c.common = sl_stamp_common(first);
  c.h1 = _mm_set_epi64x((long long)c.common.target_writer,
                        (long long)c.common.run_generation);
  c.a = load(key_a);
  c.b = load(key_b);
  c.p = _mm_aesenc_si128(_mm_aesenc_si128(c.h1, c.a), _mm_setzero_si128());
  return c;
}

static inline __m128i header(const struct call *c, uint64_t address) {
  return _mm_set_epi64x((long long)address,
                        (long long)sl_stamp_magic_check(&c->common, address));
}

static inline __m128i key_of(const struct call *c, __m128i h0) {
  __m128i k = _mm_aesenc_si128(_mm_xor_si128(c->p, h0), c->b);
  return _mm_aesenc_si128(k, c->a);
}

static inline __m128i body(__m128i k, int i) {
  __m128i s = _mm_xor_si128(k, _mm_load_si128((const void *)counter[i]));
  return _mm_aesenc_si128(s, k);
}

/* The header and key of the next sector are made before the body of this one,
 * so their latency hides behind its rounds. */
static void fill(void *data, size_t sectors, const struct sl_stamp *first) {
  struct call c = start(first);
  __m128i *to = data;
  __m128i next_h0 = header(&c, first->address), next_k = key_of(&c, next_h0);
  for (size_t s = 0; s < sectors; s++, to += 32) {
    __m128i h0 = next_h0, k = next_k;
    next_h0 = header(&c, first->address + s + 1);
    next_k = key_of(&c, next_h0);
    _mm_storeu_si128(to, h0);
    _mm_storeu_si128(to + 1, c.h1);
#pragma GCC unroll 10
    for (int i = 0; i < 30; i++)
      _mm_storeu_si128(to + 2 + i, body(k, i));
  }
}

static size_t compare(const void *data, size_t sectors,
                      const struct sl_stamp *first) {
  struct call c = start(first);
  const __m128i *at = data;
  __m128i next_h0 = header(&c, first->address), next_k = key_of(&c, next_h0);
  for (size_t s = 0; s < sectors; s++, at += 32) {
    __m128i h0 = next_h0, k = next_k;
    next_h0 = header(&c, first->address + s + 1);
    next_k = key_of(&c, next_h0);
    __m128i bad = _mm_xor_si128(load(at), h0);
    __m128i bad1 = _mm_xor_si128(load(at + 1), c.h1);
#pragma GCC unroll 5
    for (int i = 0; i < 30; i += 2) {
      bad = _mm_or_si128(bad, _mm_xor_si128(load(at + 2 + i), body(k, i)));
      bad1 =
          _mm_or_si128(bad1, _mm_xor_si128(load(at + 3 + i), body(k, i + 1)));
    }
    __m128i same = _mm_cmpeq_epi8(_mm_or_si128(bad, bad1), _mm_setzero_si128());
    if (_mm_movemask_epi8(same) != 0xffff) return s;
  }
  return sectors;
}

const struct sl_stamp_kernel sl_stamp_aesni = {"aes-ni", fill, compare};
#else
const struct sl_stamp_kernel sl_stamp_aesni = {"aes-ni", NULL, NULL};
#endif
