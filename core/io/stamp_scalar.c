/* SPDX-License-Identifier: MIT */
/* The kernel for every CPU: one table of 1 KiB.  Columns are 32-bit numbers
 * whose low byte is row 0, on either byte order. */
#include "core/io/stamp_kernel.h"

/* table[x]: column (2s, s, s, 3s) of MixColumns, where s = SubBytes(x). */
static const uint32_t table[256] = {
    0xa56363c6, 0x847c7cf8, 0x997777ee, 0x8d7b7bf6, 0x0df2f2ff, 0xbd6b6bd6,
    0xb16f6fde, 0x54c5c591, 0x50303060, 0x03010102, 0xa96767ce, 0x7d2b2b56,
    0x19fefee7, 0x62d7d7b5, 0xe6abab4d, 0x9a7676ec, 0x45caca8f, 0x9d82821f,
    0x40c9c989, 0x877d7dfa, 0x15fafaef, 0xeb5959b2, 0xc947478e, 0x0bf0f0fb,
    0xecadad41, 0x67d4d4b3, 0xfda2a25f, 0xeaafaf45, 0xbf9c9c23, 0xf7a4a453,
    0x967272e4, 0x5bc0c09b, 0xc2b7b775, 0x1cfdfde1, 0xae93933d, 0x6a26264c,
    0x5a36366c, 0x413f3f7e, 0x02f7f7f5, 0x4fcccc83, 0x5c343468, 0xf4a5a551,
    0x34e5e5d1, 0x08f1f1f9, 0x937171e2, 0x73d8d8ab, 0x53313162, 0x3f15152a,
    0x0c040408, 0x52c7c795, 0x65232346, 0x5ec3c39d, 0x28181830, 0xa1969637,
    0x0f05050a, 0xb59a9a2f, 0x0907070e, 0x36121224, 0x9b80801b, 0x3de2e2df,
    0x26ebebcd, 0x6927274e, 0xcdb2b27f, 0x9f7575ea, 0x1b090912, 0x9e83831d,
    0x742c2c58, 0x2e1a1a34, 0x2d1b1b36, 0xb26e6edc, 0xee5a5ab4, 0xfba0a05b,
    0xf65252a4, 0x4d3b3b76, 0x61d6d6b7, 0xceb3b37d, 0x7b292952, 0x3ee3e3dd,
    0x712f2f5e, 0x97848413, 0xf55353a6, 0x68d1d1b9, 0x00000000, 0x2cededc1,
    0x60202040, 0x1ffcfce3, 0xc8b1b179, 0xed5b5bb6, 0xbe6a6ad4, 0x46cbcb8d,
    0xd9bebe67, 0x4b393972, 0xde4a4a94, 0xd44c4c98, 0xe85858b0, 0x4acfcf85,
    0x6bd0d0bb, 0x2aefefc5, 0xe5aaaa4f, 0x16fbfbed, 0xc5434386, 0xd74d4d9a,
    0x55333366, 0x94858511, 0xcf45458a, 0x10f9f9e9, 0x06020204, 0x817f7ffe,
    0xf05050a0, 0x443c3c78, 0xba9f9f25, 0xe3a8a84b, 0xf35151a2, 0xfea3a35d,
    0xc0404080, 0x8a8f8f05, 0xad92923f, 0xbc9d9d21, 0x48383870, 0x04f5f5f1,
    0xdfbcbc63, 0xc1b6b677, 0x75dadaaf, 0x63212142, 0x30101020, 0x1affffe5,
    0x0ef3f3fd, 0x6dd2d2bf, 0x4ccdcd81, 0x140c0c18, 0x35131326, 0x2fececc3,
    0xe15f5fbe, 0xa2979735, 0xcc444488, 0x3917172e, 0x57c4c493, 0xf2a7a755,
    0x827e7efc, 0x473d3d7a, 0xac6464c8, 0xe75d5dba, 0x2b191932, 0x957373e6,
    0xa06060c0, 0x98818119, 0xd14f4f9e, 0x7fdcdca3, 0x66222244, 0x7e2a2a54,
    0xab90903b, 0x8388880b, 0xca46468c, 0x29eeeec7, 0xd3b8b86b, 0x3c141428,
    0x79dedea7, 0xe25e5ebc, 0x1d0b0b16, 0x76dbdbad, 0x3be0e0db, 0x56323264,
    0x4e3a3a74, 0x1e0a0a14, 0xdb494992, 0x0a06060c, 0x6c242448, 0xe45c5cb8,
    0x5dc2c29f, 0x6ed3d3bd, 0xefacac43, 0xa66262c4, 0xa8919139, 0xa4959531,
    0x37e4e4d3, 0x8b7979f2, 0x32e7e7d5, 0x43c8c88b, 0x5937376e, 0xb76d6dda,
    0x8c8d8d01, 0x64d5d5b1, 0xd24e4e9c, 0xe0a9a949, 0xb46c6cd8, 0xfa5656ac,
    0x07f4f4f3, 0x25eaeacf, 0xaf6565ca, 0x8e7a7af4, 0xe9aeae47, 0x18080810,
    0xd5baba6f, 0x887878f0, 0x6f25254a, 0x722e2e5c, 0x241c1c38, 0xf1a6a657,
    0xc7b4b473, 0x51c6c697, 0x23e8e8cb, 0x7cdddda1, 0x9c7474e8, 0x211f1f3e,
    0xdd4b4b96, 0xdcbdbd61, 0x868b8b0d, 0x858a8a0f, 0x907070e0, 0x423e3e7c,
    0xc4b5b571, 0xaa6666cc, 0xd8484890, 0x05030306, 0x01f6f6f7, 0x120e0e1c,
    0xa36161c2, 0x5f35356a, 0xf95757ae, 0xd0b9b969, 0x91868617, 0x58c1c199,
    0x271d1d3a, 0xb99e9e27, 0x38e1e1d9, 0x13f8f8eb, 0xb398982b, 0x33111122,
    0xbb6969d2, 0x70d9d9a9, 0x898e8e07, 0xa7949433, 0xb69b9b2d, 0x221e1e3c,
    0x92878715, 0x20e9e9c9, 0x49cece87, 0xff5555aa, 0x78282850, 0x7adfdfa5,
    0x8f8c8c03, 0xf8a1a159, 0x80898909, 0x170d0d1a, 0xdabfbf65, 0x31e6e6d7,
    0xc6424284, 0xb86868d0, 0xc3414182, 0xb0999929, 0x772d2d5a, 0x110f0f1e,
    0xcbb0b07b, 0xfc5454a8, 0xd6bbbb6d, 0x3a16162c,
};

static inline uint32_t rotate(uint32_t v, unsigned bits) {
  return v << bits | v >> (32 - bits);
}

/* Rows 0..3 of a column: the byte of `v` at `row`, through the table. */
static inline uint32_t row0(uint32_t v) { return table[v & 255]; }
static inline uint32_t row1(uint32_t v) {
  return rotate(table[v >> 8 & 255], 8);
}
static inline uint32_t row2(uint32_t v) {
  return rotate(table[v >> 16 & 255], 16);
}
static inline uint32_t row3(uint32_t v) { return rotate(table[v >> 24], 24); }

struct block {
  uint32_t c[4];
};

static inline struct block round_of(struct block s, const uint32_t key[4]) {
  struct block out;
  for (unsigned j = 0; j < 4; j++)
    out.c[j] = row0(s.c[j]) ^ row1(s.c[(j + 1) & 3]) ^ row2(s.c[(j + 2) & 3]) ^
               row3(s.c[(j + 3) & 3]) ^ key[j];
  return out;
}

static inline uint32_t little(uint32_t v) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap32(v);
#else
  return v;
#endif
}

static inline void store(unsigned char *at, uint32_t v) {
  v = little(v);
  memcpy(at, &v, sizeof v);
}

static inline uint32_t load(const unsigned char *at) {
  uint32_t v;
  memcpy(&v, at, sizeof v);
  return little(v);
}

static inline void store_block(unsigned char *at, struct block b) {
  for (unsigned j = 0; j < 4; j++)
    store(at + 4 * j, b.c[j]);
}

static inline uint32_t difference(const unsigned char *at, struct block b) {
  return (load(at) ^ b.c[0]) | (load(at + 4) ^ b.c[1]) |
         (load(at + 8) ^ b.c[2]) | (load(at + 12) ^ b.c[3]);
}

static const uint32_t key_a[4] = {0x886a3f24, 0xd308a385, 0x2e8a1913,
                                  0x44737003};
static const uint32_t key_b[4] = {0x223809a4, 0xd0319f29, 0x98fa2e08,
                                  0x896c4eec};
static const uint32_t no_key[4];

struct call {
  struct sl_stamp_common common;
  struct block h1, p;
};

/* What the blocks of one sector have in common.  The counter is in row 0 of
 * each column. */
struct body {
  struct block h0;
  uint32_t row0[4]; /* of the key */
  uint32_t rest[4]; /* of the round, without the bytes of the counter */
};

static struct call start(const struct sl_stamp *first) {
  struct call c;
  c.common = sl_stamp_common(first);
  c.h1.c[0] = (uint32_t)c.common.run_generation;
  c.h1.c[1] = (uint32_t)(c.common.run_generation >> 32);
  c.h1.c[2] = (uint32_t)c.common.target_writer;
  c.h1.c[3] = (uint32_t)(c.common.target_writer >> 32);
  c.p = round_of(round_of(c.h1, key_a), no_key);
  return c;
}

static inline struct body prepare(const struct call *c, uint64_t address) {
  uint64_t first = sl_stamp_magic_check(&c->common, address);
  struct body b = {.h0 = {{(uint32_t)first, (uint32_t)(first >> 32),
                           (uint32_t)address, (uint32_t)(address >> 32)}}};
  struct block k;
  for (unsigned j = 0; j < 4; j++)
    k.c[j] = c->p.c[j] ^ b.h0.c[j];
  k = round_of(round_of(k, key_b), key_a);
  for (unsigned j = 0; j < 4; j++) {
    b.row0[j] = k.c[j] & 255;
    b.rest[j] = row1(k.c[(j + 1) & 3]) ^ row2(k.c[(j + 2) & 3]) ^
                row3(k.c[(j + 3) & 3]) ^ k.c[j];
  }
  return b;
}

static inline struct block block_of(const struct body *b, unsigned i) {
  struct block out;
  for (unsigned j = 0; j < 4; j++)
    out.c[j] = b->rest[j] ^ table[b->row0[j] ^ i];
  return out;
}

static void fill(void *data, size_t sectors, const struct sl_stamp *first) {
  struct call c = start(first);
  unsigned char *to = data;
  for (size_t s = 0; s < sectors; s++, to += SL_SECTOR_BYTES) {
    struct body b = prepare(&c, first->address + s);
    store_block(to, b.h0);
    store_block(to + 16, c.h1);
    for (unsigned i = 2; i < 32; i++)
      store_block(to + 16 * i, block_of(&b, i));
  }
}

static size_t compare(const void *data, size_t sectors,
                      const struct sl_stamp *first) {
  struct call c = start(first);
  const unsigned char *at = data;
  for (size_t s = 0; s < sectors; s++, at += SL_SECTOR_BYTES) {
    struct body b = prepare(&c, first->address + s);
    uint32_t bad = difference(at, b.h0) | difference(at + 16, c.h1);
    for (unsigned i = 2; i < 32; i++)
      bad |= difference(at + 16 * i, block_of(&b, i));
    if (bad) return s;
  }
  return sectors;
}

const struct sl_stamp_kernel sl_stamp_scalar = {"scalar", fill, compare};
