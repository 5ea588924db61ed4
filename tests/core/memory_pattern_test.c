/* SPDX-License-Identifier: MIT */
/* Every engine writes what sl_pattern_word says and sees every flipped bit. */
#include "core/memory/pattern.h"

#include "core/test.h"

enum { BLOCKS = 9 };
static unsigned char memory[BLOCKS * SL_PATTERN_BLOCK]
    __attribute__((aligned(4096)));

static struct sl_pattern pattern_of(enum sl_pattern_key key, uint64_t start) {
  struct sl_pattern p = {.key = key, .base = 0x7f0000001000, .seed = start};
  for (unsigned w = 0; w < SL_PATTERN_WORDS; w++)
    p.table[w] = start * (w + 1) * 0x9e3779b97f4a7c15u;
  return p;
}

static struct sl_pattern_run all(bool down) {
  const size_t first = down ? BLOCKS - 1 : 0;
  return (struct sl_pattern_run){memory + first * SL_PATTERN_BLOCK, BLOCKS,
                                 100 + first, down};
}

static uint64_t word_at(size_t block, unsigned word) {
  uint64_t value;
  memcpy(&value, memory + block * SL_PATTERN_BLOCK + 8 * word, 8);
  return value;
}

static bool holds(const struct sl_pattern *p) {
  for (size_t b = 0; b < BLOCKS; b++) {
    for (unsigned w = 0; w < SL_PATTERN_WORDS; w++) {
      if (word_at(b, w) != sl_pattern_word(p, 100 + b, w)) return false;
    }
  }
  return true;
}

static void try_patterns(const struct sl_pattern_engine *e) {
  uint64_t found[SL_PATTERN_WORDS];
  for (int key = SL_KEY_NONE; key <= SL_KEY_RANDOM; key++) {
    for (int down = 0; down < 2; down++) {
      const struct sl_pattern p = pattern_of((enum sl_pattern_key)key, 3);
      const struct sl_pattern q = pattern_of((enum sl_pattern_key)key, 11);
      const struct sl_pattern_run run = all(down != 0);
      memset(memory, 0, sizeof memory);
      e->fill(&run, &p);
      CHECK(holds(&p));
      CHECK_EQ(e->check(&run, &p, found), BLOCKS);
      CHECK_EQ(e->check(&run, &q, found), 0);
      CHECK_EQ(e->swap(&run, &p, &q, found), BLOCKS);
      CHECK(holds(&q));
    }
  }
}

static void try_flips(const struct sl_pattern_engine *e) {
  const struct sl_pattern p = pattern_of(SL_KEY_RANDOM, 5);
  const struct sl_pattern q = pattern_of(SL_KEY_NONE, 7);
  for (unsigned bit = 0; bit < 8 * SL_PATTERN_BLOCK; bit++) {
    const struct sl_pattern_run run = all(bit % 2 != 0);
    uint64_t found[SL_PATTERN_WORDS];
    e->fill(&run, &p);
    const size_t block = 4;
    memory[block * SL_PATTERN_BLOCK + bit / 8] ^= (unsigned char)(1 << bit % 8);
    CHECK_EQ(e->check(&run, &p, found), 4);
    CHECK_EQ(found[bit / 64], word_at(block, bit / 64));
    CHECK(found[bit / 64] != sl_pattern_word(&p, 100 + block, bit / 64));
    /* Swapping stops before it: the evidence stays. */
    CHECK_EQ(e->swap(&run, &p, &q, found), 4);
    CHECK_EQ(word_at(block, bit / 64), found[bit / 64]);
  }
}

static void every_engine(void) {
  for (const char *const *name = sl_pattern_engines(); *name; name++) {
    const struct sl_pattern_engine *e = sl_pattern_engine(*name);
    printf("  %s\n", *name);
    CHECK(e != NULL);
    if (!e) continue;
    try_patterns(e);
    try_flips(e);
  }
  CHECK(sl_pattern_engine("none") == NULL);
}

int main(void) {
  RUN(every_engine);
  return TEST_DONE();
}
