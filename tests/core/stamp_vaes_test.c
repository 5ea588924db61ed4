/* SPDX-License-Identifier: MIT */
/* The VAES kernel on a CPU that has AVX-512 but no VAES: its one instruction
 * that such a CPU lacks is made of four AES-NI ones, all else is the unit as
 * it ships. */
#include "core/io/stamp_kernel.h"
#include "core/test.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("aes,vaes,avx512f,avx512bw,avx512vl")

static inline __m512i four_rounds(__m512i s, __m512i k) {
#define LANE(i)                                     \
  _mm_aesenc_si128(_mm512_extracti32x4_epi32(s, i), \
                   _mm512_extracti32x4_epi32(k, i))
  __m512i out = _mm512_castsi128_si512(LANE(0));
  out = _mm512_inserti32x4(out, LANE(1), 1);
  out = _mm512_inserti32x4(out, LANE(2), 2);
  return _mm512_inserti32x4(out, LANE(3), 3);
#undef LANE
}
#define _mm512_aesenc_epi128 four_rounds
#define sl_stamp_vaes vaes_by_four
extern const struct sl_stamp_kernel vaes_by_four;
#include "core/io/stamp_vaes.c"
#pragma GCC pop_options

static void same_as_scalar(void) {
  static unsigned char wanted[20 * SL_SECTOR_BYTES];
  static unsigned char memory[20 * SL_SECTOR_BYTES + 64];
  const struct sl_stamp stamp = {UINT64_MAX - 7, 1, 2, 3, 4};
  CHECK(vaes_by_four.fill != NULL);
  for (size_t sectors = 0; sectors <= 20; sectors++) {
    unsigned char *at = memory + sectors;
    sl_stamp_scalar.fill(wanted, sectors, &stamp);
    memset(memory, 0xee, sizeof memory);
    vaes_by_four.fill(at, sectors, &stamp);
    CHECK(memcmp(at, wanted, sectors * SL_SECTOR_BYTES) == 0);
    CHECK_EQ(at[sectors * SL_SECTOR_BYTES], 0xee);
    CHECK_EQ(vaes_by_four.compare(at, sectors, &stamp), sectors);
  }
}

static void compare_sees_every_bit(void) {
  static unsigned char data[2 * SL_SECTOR_BYTES];
  const struct sl_stamp stamp = {5, 1, 2, 3, 4};
  sl_stamp_scalar.fill(data, 2, &stamp);
  for (size_t bit = 0; bit < sizeof data * 8; bit++) {
    data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    CHECK_EQ(vaes_by_four.compare(data, 2, &stamp), bit / 8 / SL_SECTOR_BYTES);
    data[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
}

int main(void) {
  if (!__builtin_cpu_supports("avx512f") ||
      !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("aes")) {
    printf("nothing to do: this CPU has no AVX-512\n");
    return EXIT_SUCCESS;
  }
  RUN(same_as_scalar);
  RUN(compare_sees_every_bit);
  return TEST_DONE();
}
#else
int main(void) {
  printf("nothing to do: not GCC for x86-64\n");
  return TEST_DONE();
}
#endif
