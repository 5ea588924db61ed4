/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_STAMP_KERNEL_H
#define STORLUA_CORE_IO_STAMP_KERNEL_H

/* The contents of a stamped sector, in words.  This is the on-disk format:
 * every kernel writes these bytes, and a test holds a known sector.
 *
 *   R(s, k)  one AES round: MixColumns(ShiftRows(SubBytes(s))) xor k
 *   A, B     the first 32 bytes of the fraction of pi
 *   H0, H1   bytes 0..15 and 16..31 of the sector: its header
 *
 *   mix(x)   x *= SL_STAMP_MULTIPLY; x ^= x >> 32      (64 bits)
 *   check    the low 32 bits of
 *            mix(address ^ mix(target+writer+zero ^ mix(run+generation ^
 *                magic)))
 *            where a+b is the little-endian u64 of those fields in order
 *   P        R(R(H1, A), 0): the same for all sectors of one call
 *   K        R(R(P xor H0, B), A)
 *   bytes 16i .. 16i+15, i = 2 .. 31:
 *            R(K xor C, K)    where bytes 0, 4, 8, 12 of C are i, the rest 0
 *
 * Why so: H0 holds the check, so sectors that differ in any field differ in
 * it; P spreads each field of H1 over 16 bytes before H0 is added, so the two
 * cannot cancel; two more rounds spread the sum over all of K.  The counter is
 * one byte of what each column of the round is made of: all bytes of a block
 * change with it, and the scalar kernel looks up four words per block instead
 * of 16. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/io/stamp.h"

/* With the semantics of sl_stamp_fill and sl_stamp_compare. */
struct sl_stamp_kernel {
  const char *name;
  void (*fill)(void *data, size_t sectors, const struct sl_stamp *first);
  size_t (*compare)(const void *data, size_t sectors,
                    const struct sl_stamp *first);
};

/* One unit each.  What the build's architecture lacks has NULL functions. */
extern const struct sl_stamp_kernel sl_stamp_scalar;
extern const struct sl_stamp_kernel sl_stamp_aesni;
extern const struct sl_stamp_kernel sl_stamp_vaes;
extern const struct sl_stamp_kernel sl_stamp_armv8;

#define SL_STAMP_MULTIPLY UINT64_C(0xd6e8feb86659fd93)
#define SL_STAMP_A                                                          \
  {                                                                         \
    0x24, 0x3f, 0x6a, 0x88, 0x85, 0xa3, 0x08, 0xd3, 0x13, 0x19, 0x8a, 0x2e, \
        0x03, 0x70, 0x73, 0x44                                              \
  }
#define SL_STAMP_B                                                          \
  {                                                                         \
    0xa4, 0x09, 0x38, 0x22, 0x29, 0x9f, 0x31, 0xd0, 0x08, 0x2e, 0xfa, 0x98, \
        0xec, 0x4e, 0x6c, 0x89                                              \
  }

static inline uint64_t sl_stamp_mix(uint64_t x) {
  x *= SL_STAMP_MULTIPLY;
  return x ^ (x >> 32);
}

/* The parts of the header that one call has in common. */
struct sl_stamp_common {
  uint64_t run_generation; /* bytes 16..23 as a little-endian number */
  uint64_t target_writer;  /* bytes 24..31 */
  uint64_t check;          /* of the above, before the address */
};

static inline struct sl_stamp_common sl_stamp_common(
    const struct sl_stamp *stamp) {
  struct sl_stamp_common c;
  c.run_generation = stamp->run | (uint64_t)stamp->generation << 32;
  c.target_writer = stamp->target | (uint64_t)stamp->writer << 32;
  c.check = sl_stamp_mix(c.target_writer ^
                         sl_stamp_mix(c.run_generation ^ SL_STAMP_MAGIC));
  return c;
}

/* Bytes 0..7 as a little-endian number: magic and check. */
static inline uint64_t sl_stamp_magic_check(const struct sl_stamp_common *c,
                                            uint64_t address) {
  return SL_STAMP_MAGIC | sl_stamp_mix(address ^ c->check) << 32;
}

#endif
