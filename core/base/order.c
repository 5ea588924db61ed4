/* SPDX-License-Identifier: MIT */
#include "core/base/order.h"

#include <string.h>

uint64_t sl_random_next(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

void sl_order_init(struct sl_order *order, enum sl_order_kind kind,
                   uint64_t records, uint64_t seed, uint64_t stride) {
  memset(order, 0, sizeof *order);
  order->kind = kind;
  order->records = records;
  order->stride = stride && stride < records ? stride : 1;
  unsigned bits = 0;
  while (bits < 63 && (UINT64_C(1) << bits) < records)
    bits++;
  order->mask = (UINT64_C(1) << bits) - 1;
  order->shift = bits / 2 + 1;
  for (int i = 0; i < 3; i++) {
    order->multiply[i] = sl_random_next(&seed) | 1;
    order->add[i] = sl_random_next(&seed);
  }
}

/* Odd multiplication, addition and x ^= x >> s are bijections of the domain,
 * so is their product.  Multiplying carries low bits up, the shift brings
 * high bits down. */
static inline uint64_t mix(const struct sl_order *order, uint64_t x, int i) {
  x = (x * order->multiply[i] + order->add[i]) & order->mask;
  return x ^ x >> order->shift;
}

/* Written out: a loop costs a third more instructions per record. */
static inline uint64_t scramble(const struct sl_order *order, uint64_t x) {
  return mix(order, mix(order, mix(order, x, 0), 1), 2);
}

static uint64_t strided(const struct sl_order *order, uint64_t index) {
  /* passes 0 .. extra-1 have one record more than the others */
  uint64_t length = order->records / order->stride;
  uint64_t extra = order->records % order->stride;
  uint64_t longer = extra * (length + 1);
  if (index < longer)
    return index / (length + 1) + index % (length + 1) * order->stride;
  index -= longer;
  return extra + index / length + index % length * order->stride;
}

__attribute__((hot)) uint64_t sl_order_at(const struct sl_order *order,
                                          uint64_t index) {
  switch (order->kind) {
    case SL_ORDER_SEQUENTIAL:
      return index;
    case SL_ORDER_BACKWARD:
      return order->records - 1 - index;
    case SL_ORDER_STRIDED:
      return strided(order, index);
    case SL_ORDER_RANDOM:
      /* the domain is less than twice as large: two steps on average */
      do {
        index = scramble(order, index);
      } while (index >= order->records);
      return index;
  }
  return index;
}
