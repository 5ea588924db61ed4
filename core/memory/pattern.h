/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_PATTERN_H
#define STORLUA_CORE_MEMORY_PATTERN_H

/* What an integrity test puts into memory and finds there again.
 *
 * Memory is blocks of 64 words of 64 bits.  Word w of block b is
 * table[w] ^ key(b), which is enough for every pattern and still runs at the
 * speed of memory.  A word is read exactly once when it is compared: what is
 * reported as found is that value, not a second one. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SL_PATTERN_WORDS = 64, SL_PATTERN_BLOCK = 8 * SL_PATTERN_WORDS };

enum sl_pattern_key {
  SL_KEY_NONE,
  SL_KEY_ADDRESS, /* of the block: base + 512 b */
  SL_KEY_RANDOM   /* a function of seed and b */
};

struct sl_pattern {
  uint64_t table[SL_PATTERN_WORDS] __attribute__((aligned(64)));
  enum sl_pattern_key key;
  uint64_t base, seed;
};

uint64_t sl_pattern_word(const struct sl_pattern *pattern, uint64_t block,
                         unsigned word);

/* `count` blocks, the first one at `data` with the number `first`; with
 * `down` the addresses and numbers fall.  `data` is aligned to 64 bytes. */
struct sl_pattern_run {
  unsigned char *data;
  size_t count;
  uint64_t first;
  bool down;
};

struct sl_pattern_engine {
  const char *name;
  void (*fill)(const struct sl_pattern_run *run, const struct sl_pattern *p);
  /* Compares; returns how many blocks were right before the first one that is
   * not, whose words as read are in `found`. */
  size_t (*check)(const struct sl_pattern_run *run, const struct sl_pattern *p,
                  uint64_t found[SL_PATTERN_WORDS]);
  /* The same, and writes `next` into each block that is right. */
  size_t (*swap)(const struct sl_pattern_run *run, const struct sl_pattern *p,
                 const struct sl_pattern *next,
                 uint64_t found[SL_PATTERN_WORDS]);
};

/* The fastest that this CPU has; or that of the name, NULL where it has none
 * such.  The list ends with NULL. */
const struct sl_pattern_engine *sl_pattern_engine(const char *name);
const char *const *sl_pattern_engines(void);

#endif
