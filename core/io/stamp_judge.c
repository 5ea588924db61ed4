/* SPDX-License-Identifier: MIT */
/* What is wrong with a sector.  A damaged one is compared with every sector
 * that could have stood there: each legal generation, the ones next to them,
 * what its own header says, and the blank ones. */
#include "core/io/stamp_kernel.h"

enum {
  LEGAL_MAX = 8, /* of a wider range: the newest and the oldest */
  CANDIDATES = LEGAL_MAX + 8,
  PROOF_BYTES = 8, /* magic and check: a beginning that is no accident */
  TAIL_BYTES = 16  /* an end that is no accident */
};

struct candidate {
  unsigned char data[SL_SECTOR_BYTES];
  bool legal;
  bool stamped;
  unsigned prefix; /* bytes that match at the beginning */
  unsigned suffix; /* where the matching end begins; 512 when none does */
  unsigned bits;
};

struct candidates {
  unsigned count;
  struct candidate list[CANDIDATES];
};

const char *sl_damage_name(enum sl_damage damage) {
  static const char *const names[SL_DAMAGE_KINDS] = {
      "none", "stale", "newer", "address", "run",
      "zero", "ones",  "torn",  "flips",   "garbage"};
  return (unsigned)damage < SL_DAMAGE_KINDS ? names[damage] : "unknown";
}

static uint64_t load_little(const unsigned char *at, unsigned bytes) {
  uint64_t v = 0;
  for (unsigned i = bytes; i-- > 0;)
    v = v << 8 | at[i];
  return v;
}

/* The fields of the header; true when magic, check and the zero are right. */
static bool read_header(const unsigned char *sector, struct sl_stamp *stamp) {
  stamp->address = load_little(sector + 8, 8);
  stamp->run = (uint32_t)load_little(sector + 16, 4);
  stamp->generation = (uint32_t)load_little(sector + 20, 4);
  stamp->target = (uint32_t)load_little(sector + 24, 4);
  stamp->writer = (uint16_t)load_little(sector + 28, 2);
  struct sl_stamp_common common = sl_stamp_common(stamp);
  return load_little(sector, 8) ==
             sl_stamp_magic_check(&common, stamp->address) &&
         load_little(sector + 30, 2) == 0;
}

static bool all_bytes(const unsigned char *data, size_t size,
                      unsigned char value) {
  while (size && data[size - 1] == value)
    size--;
  return size == 0;
}

static void measure(struct candidate *c, const unsigned char *data) {
  c->prefix = 0;
  while (c->prefix < SL_SECTOR_BYTES && data[c->prefix] == c->data[c->prefix])
    c->prefix++;
  c->suffix = SL_SECTOR_BYTES;
  while (c->suffix > 0 && data[c->suffix - 1] == c->data[c->suffix - 1])
    c->suffix--;
  c->bits = 0;
  for (unsigned i = c->prefix; i < c->suffix; i++)
    c->bits += (unsigned)__builtin_popcount(data[i] ^ c->data[i]);
}

static void add_stamp(struct candidates *all, const unsigned char *data,
                      const struct sl_stamp *stamp, bool legal) {
  struct candidate *c = &all->list[all->count];
  sl_stamp_fill(c->data, 1, stamp);
  for (unsigned i = 0; i < all->count; i++) /* legal ones come first */
    if (memcmp(all->list[i].data, c->data, SL_STAMP_BYTES) == 0) return;
  c->legal = legal;
  c->stamped = true;
  measure(c, data);
  all->count++;
}

static void add_blank(struct candidates *all, const unsigned char *data,
                      int value, bool legal) {
  struct candidate *c = &all->list[all->count++];
  memset(c->data, value, sizeof c->data);
  c->legal = legal;
  c->stamped = false;
  measure(c, data);
}

static void collect(struct candidates *all, const unsigned char *data,
                    const struct sl_stamp *expected, uint32_t min, uint32_t max,
                    bool zero_ok, const struct sl_stamp *raw) {
  struct sl_stamp stamp = *expected;
  all->count = 0;
  for (uint32_t n = 0; n < LEGAL_MAX && n <= max - min; n++) {
    /* newest, oldest, the second newest, … */
    stamp.generation = n % 2 ? min + n / 2 : max - n / 2;
    add_stamp(all, data, &stamp, true);
  }
  stamp.generation = raw->generation;
  add_stamp(all, data, &stamp, false);
  if (min > 0) {
    stamp.generation = min - 1;
    add_stamp(all, data, &stamp, false);
  }
  if (max < UINT32_MAX) {
    stamp.generation = max + 1;
    add_stamp(all, data, &stamp, false);
  }
  add_stamp(all, data, raw, false);
  add_blank(all, data, 0x00, zero_ok);
  add_blank(all, data, 0xff, false);
}

/* The candidate with the fewest differing bits; only legal ones if asked.  The
 * first one always is. */
static const struct candidate *nearest(const struct candidates *all,
                                       bool only_legal) {
  const struct candidate *best = &all->list[0];
  for (unsigned i = 1; i < all->count; i++) {
    const struct candidate *c = &all->list[i];
    if (only_legal ? !c->legal : !c->stamped && !c->legal) continue;
    if (c->bits < best->bits) best = c;
  }
  return best;
}

static unsigned differing(const struct candidate *a, const struct candidate *b,
                          unsigned from, unsigned to) {
  unsigned n = 0;
  for (unsigned i = from; i < to; i++)
    n += a->data[i] != b->data[i];
  return n;
}

/* Is it the beginning of one candidate and the end of another?  Each must
 * explain bytes that the other does not, or a flipped byte would pass. */
static const struct candidate *torn_pair(const struct candidates *all) {
  for (unsigned a = 0; a < all->count; a++) {
    const struct candidate *head = &all->list[a];
    for (unsigned b = 0; b < all->count; b++) {
      const struct candidate *tail = &all->list[b];
      if (a == b || head->prefix < tail->suffix) continue;
      unsigned at = head->prefix;
      if (differing(head, tail, 0, at) >= 2 &&
          differing(head, tail, at, SL_SECTOR_BYTES) >= 2)
        return head;
    }
  }
  return NULL;
}

/* Is it the beginning of one candidate and then something unknown, dense to
 * the end?  A damaged stretch in the middle is not a tear. */
static const struct candidate *torn_from_unknown(const struct candidates *all) {
  const struct candidate *best = NULL;
  for (unsigned i = 0; i < all->count; i++) {
    const struct candidate *c = &all->list[i];
    unsigned tail = SL_SECTOR_BYTES - c->prefix;
    if (!c->stamped || c->prefix < PROOF_BYTES) continue;
    if (c->suffix + TAIL_BYTES <= SL_SECTOR_BYTES) continue;
    if (c->bits < tail * 2) continue; /* a quarter; half is expected */
    if (!best || c->prefix > best->prefix) best = c;
  }
  return best;
}

static enum sl_damage judge_intact(const struct sl_stamp *found,
                                   const struct sl_stamp *expected,
                                   uint32_t min, uint32_t max) {
  if (found->run != expected->run || found->target != expected->target ||
      found->writer != expected->writer)
    return SL_DAMAGE_RUN;
  if (found->address != expected->address) return SL_DAMAGE_ADDRESS;
  if (found->generation < min) return SL_DAMAGE_STALE;
  return found->generation > max ? SL_DAMAGE_NEWER : SL_DAMAGE_NONE;
}

static enum sl_damage judge_damaged(const struct candidates *all,
                                    const struct candidate **from) {
  const struct candidate *c = nearest(all, false);
  const struct candidate *torn = torn_pair(all);
  /* three bits are rather flips than a tear of which so little shows */
  if (c && c->bits <= (torn ? 3 : SL_FLIPS_MAX)) {
    *from = c;
    return SL_DAMAGE_FLIPS;
  }
  if (!torn) torn = torn_from_unknown(all);
  if (!torn) return SL_DAMAGE_GARBAGE;
  *from = torn;
  return SL_DAMAGE_TORN;
}

void sl_stamp_judge(const void *data, const struct sl_stamp *expected,
                    const struct sl_legal *legal, struct sl_verdict *verdict) {
  uint32_t min = legal ? legal->generation_min : expected->generation;
  uint32_t max = legal ? legal->generation_max : expected->generation;
  bool zero_ok = legal && legal->zero_ok;
  struct sl_stamp raw;
  memset(verdict, 0, sizeof *verdict);
  if (max < min) max = min;
  verdict->has_header = read_header(data, &raw);
  if (verdict->has_header) verdict->found = raw;

  struct candidates all;
  collect(&all, data, expected, min, max, zero_ok, &raw);
  const struct candidate *from = nearest(&all, true);
  if (verdict->has_header && sl_stamp_compare(data, 1, &raw) == 1)
    verdict->damage = judge_intact(&raw, expected, min, max);
  else if (all_bytes(data, SL_SECTOR_BYTES, 0x00))
    verdict->damage = zero_ok ? SL_DAMAGE_NONE : SL_DAMAGE_ZERO;
  else if (all_bytes(data, SL_SECTOR_BYTES, 0xff))
    verdict->damage = SL_DAMAGE_ONES;
  else
    verdict->damage = judge_damaged(&all, &from);
  bool good = verdict->damage == SL_DAMAGE_NONE;
  verdict->first_bad = good ? SL_SECTOR_BYTES : from->prefix;
  verdict->bits = good ? 0 : from->bits;
}
