/* SPDX-License-Identifier: MIT */
/* The pattern loops of one instruction set.  A unit defines
 *
 *   VWORD           vector type of 64-bit words
 *   ENGINE, NAME    name of the engine's variable and in texts
 *   NT_STORE(p, v)  optional: a store that bypasses the cache
 *   NT_END()        with it
 *
 * and includes this once; it is no header of its own. */

typedef VWORD word_at __attribute__((may_alias));

enum { V = sizeof(VWORD), VECTORS = SL_PATTERN_BLOCK / V };

static inline __attribute__((always_inline)) bool any(VWORD vector) {
  uint64_t words[V / 8], all = 0;
  __builtin_memcpy(words, &vector, sizeof words);
  for (size_t i = 0; i < V / 8; i++)
    all |= words[i];
  return all != 0;
}

static inline __attribute__((always_inline)) VWORD key_of(
    const struct sl_pattern *p, uint64_t block) {
  return (VWORD){0} + sl_pattern_block_key(p, block);
}

static inline __attribute__((always_inline)) void put(
    unsigned char *to, const struct sl_pattern *p, uint64_t block) {
  const word_at *table = (const word_at *)(const void *)p->table;
  const VWORD key = key_of(p, block);
  for (size_t i = 0; i < VECTORS; i++)
    *(word_at *)(void *)(to + i * V) = table[i] ^ key;
}

static void fill(const struct sl_pattern_run *run, const struct sl_pattern *p) {
  const word_at *table = (const word_at *)(const void *)p->table;
  unsigned char *to = run->data;
  uint64_t block = run->first;
  for (size_t n = 0; n < run->count; n++) {
#ifdef NT_STORE
    const VWORD key = key_of(p, block);
    for (size_t i = 0; i < VECTORS; i++)
      NT_STORE(to + i * V, table[i] ^ key);
#else
    (void)table;
    put(to, p, block);
#endif
    to = run->down ? to - SL_PATTERN_BLOCK : to + SL_PATTERN_BLOCK;
    block = run->down ? block - 1 : block + 1;
  }
#ifdef NT_STORE
  NT_END();
#endif
}

/* Each word is read once, into `found`; true when all are right. */
static inline __attribute__((always_inline)) bool compare(
    const unsigned char *at, const struct sl_pattern *p, uint64_t block,
    uint64_t *found) {
  const word_at *table = (const word_at *)(const void *)p->table;
  word_at *keep = (word_at *)(void *)found;
  const VWORD key = key_of(p, block);
  VWORD bad = {0};
  for (size_t i = 0; i < VECTORS; i++) {
    const VWORD read = *(const volatile word_at *)(const void *)(at + i * V);
    keep[i] = read;
    bad |= read ^ table[i] ^ key;
  }
  return !any(bad);
}

static inline __attribute__((always_inline)) size_t walk(
    const struct sl_pattern_run *run, const struct sl_pattern *p,
    const struct sl_pattern *next, uint64_t *found) {
  unsigned char *at = run->data;
  uint64_t block = run->first;
  uint64_t words[SL_PATTERN_WORDS] __attribute__((aligned(64)));
  for (size_t n = 0; n < run->count; n++) {
    if (!compare(at, p, block, words)) {
      __builtin_memcpy(found, words, sizeof words);
      return n;
    }
    if (next) put(at, next, block);
    at = run->down ? at - SL_PATTERN_BLOCK : at + SL_PATTERN_BLOCK;
    block = run->down ? block - 1 : block + 1;
  }
  return run->count;
}

static size_t check(const struct sl_pattern_run *run,
                    const struct sl_pattern *p,
                    uint64_t found[SL_PATTERN_WORDS]) {
  return walk(run, p, NULL, found);
}

static size_t swap(const struct sl_pattern_run *run, const struct sl_pattern *p,
                   const struct sl_pattern *next,
                   uint64_t found[SL_PATTERN_WORDS]) {
  return walk(run, p, next, found);
}

const struct sl_pattern_engine ENGINE = {NAME, fill, check, swap};
