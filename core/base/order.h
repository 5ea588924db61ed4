/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_ORDER_H
#define STORLUA_CORE_BASE_ORDER_H

/* In which order the records of a range are visited.
 *
 * An order is a pure function from the visit index to the record number, a
 * bijection of 0 .. records-1, with no memory: a run that was cut after k
 * visits knows exactly which records those were.
 *
 * - sequential: i            - backward: records-1-i
 * - random: a permutation from three rounds of odd multiply and xor-shift on
 *   the next power of two, with cycle walking (a test holds it
 *   to the spread of successive pairs and neighbours of a random one)
 * - strided: 0, s, 2s, …, then 1, 1+s, …, so the tail is reached too */

#include <stdint.h>

enum sl_order_kind {
  SL_ORDER_SEQUENTIAL,
  SL_ORDER_BACKWARD,
  SL_ORDER_RANDOM,
  SL_ORDER_STRIDED
};

struct sl_order {
  enum sl_order_kind kind;
  uint64_t records;
  uint64_t stride; /* strided: records between two visits */
  uint64_t mask;   /* random: domain - 1, a power of two less one */
  uint64_t multiply[3];
  uint64_t add[3];
  unsigned shift;
};

/* `records` 1 .. 2^62; `seed` selects the permutation; `stride` at least 1,
 * used by SL_ORDER_STRIDED only (larger than `records` acts as sequential). */
void sl_order_init(struct sl_order *order, enum sl_order_kind kind,
                   uint64_t records, uint64_t seed, uint64_t stride);

/* The record of visit `index`, 0 <= index < records.  Any thread. */
uint64_t sl_order_at(const struct sl_order *order, uint64_t index);

/* Splitmix64 (Steele, Lea, Flood 2014): advances *state, returns 64 random
 * bits.  The project's seed expander. */
uint64_t sl_random_next(uint64_t *state);

#endif
