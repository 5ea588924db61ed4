/* SPDX-License-Identifier: MIT */
#include "core/base/order.h"
#include "core/io/stamp.h"
#include "core/test.h"

static const struct sl_stamp expected = {
    .address = 4711, .run = 9, .generation = 6, .target = 2, .writer = 1};
/* a rewrite from 5 to 6 that was cut */
static const struct sl_legal rewrite = {
    .length = UINT64_MAX, .generation_min = 5, .generation_max = 6};
/* a first layout that was cut */
static const struct sl_legal layout = {.length = UINT64_MAX,
                                       .generation_min = 6,
                                       .generation_max = 6,
                                       .zero_ok = true};

static void make(unsigned char *sector, uint32_t generation) {
  struct sl_stamp stamp = expected;
  stamp.generation = generation;
  sl_stamp_fill(sector, 1, &stamp);
}

static struct sl_verdict judge(const unsigned char *sector,
                               const struct sl_legal *legal) {
  struct sl_verdict v;
  memset(&v, 0xaa, sizeof v);
  sl_stamp_judge(sector, &expected, legal, &v);
  return v;
}

#define CHECK_DAMAGE(verdict, wanted) \
  CHECK_STR(sl_damage_name((verdict).damage), wanted)

static void noise(unsigned char *data, size_t size, uint64_t seed) {
  for (size_t i = 0; i < size; i++)
    data[i] = (unsigned char)(sl_random_next(&seed) >> 56);
}

static void intact(void) {
  unsigned char s[SL_SECTOR_BYTES];
  make(s, 6);
  struct sl_verdict v = judge(s, NULL);
  CHECK_DAMAGE(v, "none");
  CHECK(v.has_header);
  CHECK_EQ(v.found.generation, 6);
  CHECK_EQ(v.first_bad, SL_SECTOR_BYTES);
  CHECK_EQ(v.bits, 0);
  CHECK_DAMAGE(judge(s, &rewrite), "none");
  make(s, 5);
  CHECK_DAMAGE(judge(s, &rewrite), "none");
  CHECK_DAMAGE(judge(s, NULL), "stale");
  CHECK_EQ(judge(s, NULL).found.generation, 5);
  make(s, 4);
  CHECK_DAMAGE(judge(s, &rewrite), "stale");
  make(s, 7);
  CHECK_DAMAGE(judge(s, &rewrite), "newer");
  CHECK(judge(s, &rewrite).bits > 1500);
  CHECK(judge(s, &rewrite).first_bad < 8);
}

static void foreign(void) {
  unsigned char s[SL_SECTOR_BYTES];
  struct sl_stamp stamp = expected;
  stamp.address++;
  sl_stamp_fill(s, 1, &stamp);
  CHECK_DAMAGE(judge(s, &rewrite), "address");
  CHECK_EQ(judge(s, &rewrite).found.address, 4712);
  for (int field = 0; field < 3; field++) {
    stamp = expected;
    stamp.address += 5; /* another run's sector may lie anywhere */
    if (field == 0) stamp.run++;
    if (field == 1) stamp.target++;
    if (field == 2) stamp.writer++;
    sl_stamp_fill(s, 1, &stamp);
    CHECK_DAMAGE(judge(s, &rewrite), "run");
  }
}

static void blank(void) {
  unsigned char s[SL_SECTOR_BYTES] = {0};
  CHECK_DAMAGE(judge(s, NULL), "zero");
  CHECK_EQ(judge(s, NULL).first_bad, 0);
  struct sl_verdict v = judge(s, &layout);
  CHECK_DAMAGE(v, "none");
  CHECK(!v.has_header);
  s[100] = 0x11; /* a legal sector of zeros with flipped bits */
  CHECK_DAMAGE(judge(s, &layout), "flips");
  CHECK_EQ(judge(s, &layout).bits, 2);
  CHECK_EQ(judge(s, &layout).first_bad, 100);
  CHECK_DAMAGE(judge(s, NULL), "garbage");
  memset(s, 0xff, sizeof s);
  CHECK_DAMAGE(judge(s, NULL), "ones");
  CHECK_DAMAGE(judge(s, &layout), "ones");
}

static void flipped_bits(void) {
  unsigned char s[SL_SECTOR_BYTES];
  for (unsigned bit = 0; bit < SL_SECTOR_BYTES * 8; bit++) {
    make(s, 5 + bit % 2);
    s[bit / 8] ^= (unsigned char)(1u << bit % 8);
    struct sl_verdict v = judge(s, &rewrite);
    CHECK_DAMAGE(v, "flips");
    CHECK_EQ(v.bits, 1);
    CHECK_EQ(v.first_bad, bit / 8);
    CHECK_EQ(v.has_header, bit / 8 >= SL_STAMP_BYTES);
  }
  uint64_t seed = 1;
  for (unsigned bits = 2; bits <= 40; bits++) {
    make(s, 6);
    for (unsigned i = 0; i < bits; i++) /* one bit in each of `bits` bytes */
      s[i * 12 + sl_random_next(&seed) % 12] ^=
          (unsigned char)(1u << sl_random_next(&seed) % 8);
    struct sl_verdict v = judge(s, &rewrite);
    CHECK_DAMAGE(v, bits <= SL_FLIPS_MAX ? "flips" : "garbage");
    CHECK_EQ(v.bits, bits);
  }
}

/* Flips in a sector that is stale or from elsewhere are still told. */
static void flips_of_an_illegal_sector(void) {
  unsigned char s[SL_SECTOR_BYTES];
  make(s, 2);
  s[300] ^= 0x81;
  struct sl_verdict v = judge(s, &rewrite);
  CHECK_DAMAGE(v, "flips");
  CHECK_EQ(v.bits, 2);
  CHECK(v.has_header);
  CHECK_EQ(v.found.generation, 2);
  make(s, 2);
  s[5] ^= 0x20; /* in the check: the other fields still say what it was */
  CHECK_DAMAGE(judge(s, &rewrite), "flips");
  CHECK_EQ(judge(s, &rewrite).bits, 1);
}

/* First `at` bytes of one sector, the rest of another. */
static struct sl_verdict tear(const unsigned char *head,
                              const unsigned char *tail, unsigned at,
                              const struct sl_legal *legal) {
  unsigned char s[SL_SECTOR_BYTES];
  memcpy(s, head, at);
  memcpy(s + at, tail + at, SL_SECTOR_BYTES - at);
  return judge(s, legal);
}

static void torn_between_generations(void) {
  unsigned char older[SL_SECTOR_BYTES], newer[SL_SECTOR_BYTES];
  make(older, 5);
  make(newer, 6);
  for (unsigned at = 8; at <= 508; at++) {
    struct sl_verdict v = tear(newer, older, at, &rewrite);
    CHECK_DAMAGE(v, "torn");
    CHECK(v.first_bad >= at && v.first_bad < at + 16);
    CHECK_EQ(v.has_header, at > 20); /* 5 and 6 differ in that byte */
    v = tear(older, newer, at, &rewrite);
    CHECK_DAMAGE(v, "torn");
    v = tear(newer, older, at, NULL); /* the older one is not legal */
    CHECK_DAMAGE(v, "torn");
  }
  /* the header of one write, the body of another */
  struct sl_verdict v = tear(newer, older, SL_STAMP_BYTES, &rewrite);
  CHECK_EQ(v.first_bad, SL_STAMP_BYTES);
  CHECK_EQ(v.found.generation, 6);
}

static void torn_with_other_contents(void) {
  unsigned char one[SL_SECTOR_BYTES], two[SL_SECTOR_BYTES];
  make(one, 6);
  for (unsigned at = 8; at <= 480; at += 4) {
    memset(two, 0, sizeof two);
    CHECK_DAMAGE(tear(one, two, at, &layout), "torn");
    CHECK_DAMAGE(tear(two, one, at, &layout), "torn");
    memset(two, 0xff, sizeof two);
    CHECK_DAMAGE(tear(one, two, at, NULL), "torn");
    noise(two, sizeof two, at);
    struct sl_verdict v = tear(one, two, at, NULL);
    CHECK_DAMAGE(v, "torn");
    CHECK(v.first_bad >= at && v.first_bad <= at + 2);
    struct sl_stamp other = expected;
    other.address += 8;
    sl_stamp_fill(two, 1, &other);
    CHECK_DAMAGE(tear(one, two, at, NULL), "torn");
    if (at >= SL_STAMP_BYTES) CHECK_DAMAGE(tear(two, one, at, NULL), "torn");
  }
}

static void garbage(void) {
  unsigned char s[SL_SECTOR_BYTES];
  for (uint64_t seed = 0; seed < 200; seed++) {
    noise(s, sizeof s, seed);
    struct sl_verdict v = judge(s, &rewrite);
    CHECK_DAMAGE(v, "garbage");
    CHECK(!v.has_header);
    make(s, 6); /* noise in the middle is no tear */
    noise(s + 100, 200, seed);
    v = judge(s, &rewrite);
    CHECK_DAMAGE(v, "garbage");
    CHECK(v.has_header);
    CHECK(v.first_bad >= 100 && v.first_bad < 105);
  }
  memset(s, 0x5a, sizeof s);
  CHECK_DAMAGE(judge(s, NULL), "garbage");
}

static void wide_and_extreme_ranges(void) {
  unsigned char s[SL_SECTOR_BYTES];
  struct sl_legal all = {.generation_max = UINT32_MAX};
  make(s, 123456789);
  CHECK_DAMAGE(judge(s, &all), "none");
  s[400] ^= 4;
  CHECK_DAMAGE(judge(s, &all), "flips");
  CHECK_EQ(judge(s, &all).bits, 1);
  make(s, UINT32_MAX);
  CHECK_DAMAGE(judge(s, &all), "none");
}

static void names(void) {
  CHECK_STR(sl_damage_name(SL_DAMAGE_NONE), "none");
  CHECK_STR(sl_damage_name(SL_DAMAGE_GARBAGE), "garbage");
  CHECK_STR(sl_damage_name(SL_DAMAGE_KINDS), "unknown");
}

int main(void) {
  RUN(intact);
  RUN(foreign);
  RUN(blank);
  RUN(flipped_bits);
  RUN(flips_of_an_illegal_sector);
  RUN(torn_between_generations);
  RUN(torn_with_other_contents);
  RUN(garbage);
  RUN(wide_and_extreme_ranges);
  RUN(names);
  return TEST_DONE();
}
