/* SPDX-License-Identifier: MIT */
#include "core/base/order.h"

#include <stdbool.h>

#include "core/test.h"

static const enum sl_order_kind kinds[] = {
    SL_ORDER_SEQUENTIAL, SL_ORDER_BACKWARD, SL_ORDER_RANDOM, SL_ORDER_STRIDED};

static bool visits_all_once(const struct sl_order *order) {
  uint64_t n = order->records;
  unsigned char *seen = calloc((size_t)n, 1);
  bool good = seen != NULL;
  for (uint64_t i = 0; good && i < n; i++) {
    uint64_t record = sl_order_at(order, i);
    good = record < n && !seen[record];
    if (good) seen[record] = 1;
  }
  free(seen);
  return good;
}

static void check_all_kinds(uint64_t n, uint64_t seed, uint64_t stride) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    struct sl_order order;
    sl_order_init(&order, kinds[k], n, seed, stride);
    if (!visits_all_once(&order))
      printf("  kind %zu, n %" PRIu64 ", seed %" PRIu64 ", stride %" PRIu64
             "\n",
             k, n, seed, stride);
    CHECK(visits_all_once(&order));
  }
}

static void every_record_once(void) {
  for (uint64_t n = 1; n <= 300; n++)
    for (uint64_t seed = 0; seed < 6; seed++)
      check_all_kinds(n, seed, n < 20 ? seed : 1 + seed * 17);
  static const uint64_t large[] = {4095,  4096,  4097,   65535,
                                   65537, 70001, 1000003};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
    check_all_kinds(large[i], 0x5eed + i, 17);
    check_all_kinds(large[i], UINT64_MAX - i, large[i] - 1);
  }
}

static void known_orders(void) {
  struct sl_order order;
  sl_order_init(&order, SL_ORDER_BACKWARD, 5, 0, 1);
  CHECK_EQ(sl_order_at(&order, 0), 4);
  static const uint64_t strided[] = {0, 3, 6, 1, 4, 7, 2, 5};
  sl_order_init(&order, SL_ORDER_STRIDED, 8, 0, 3);
  for (uint64_t i = 0; i < 8; i++)
    CHECK_EQ(sl_order_at(&order, i), strided[i]);
  sl_order_init(&order, SL_ORDER_STRIDED, 8, 0, 9); /* as sequential */
  for (uint64_t i = 0; i < 8; i++)
    CHECK_EQ(sl_order_at(&order, i), i);
}

/* Resumed and repeated runs depend on this very permutation. */
static void random_is_frozen(void) {
  struct sl_order order;
  static const uint64_t wanted[] = {715, 272, 935, 63,  411, 451,
                                    934, 861, 313, 892, 384, 937};
  sl_order_init(&order, SL_ORDER_RANDOM, 1000, 42, 1);
  for (uint64_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    CHECK_EQ(sl_order_at(&order, i), wanted[i]);
  uint64_t state = 1234567; /* published vector of splitmix64 */
  CHECK(sl_random_next(&state) == UINT64_C(6457827717110365317));
  CHECK(sl_random_next(&state) == UINT64_C(3203168211198807973));
}

static void seeds_differ(void) {
  struct sl_order one, two;
  unsigned same = 0;
  sl_order_init(&one, SL_ORDER_RANDOM, 100000, 1, 1);
  sl_order_init(&two, SL_ORDER_RANDOM, 100000, 2, 1);
  for (uint64_t i = 0; i < 100000; i++)
    same += sl_order_at(&one, i) == sl_order_at(&two, i);
  CHECK(same < 20); /* 1 is expected */
}

/* Successive visits are neighbours about twice in a random order, however
 * many records there are. */
static void random_has_few_neighbours(void) {
  static const uint64_t sizes[] = {1000, 65536, 70000, 1000003};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    unsigned neighbours = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
      struct sl_order order;
      sl_order_init(&order, SL_ORDER_RANDOM, sizes[i], seed, 1);
      uint64_t before = sl_order_at(&order, 0);
      for (uint64_t v = 1; v < sizes[i]; v++) {
        uint64_t record = sl_order_at(&order, v);
        neighbours += record == before + 1 || before == record + 1;
        before = record;
      }
    }
    if (neighbours > 40) printf("  n %" PRIu64 ": %u\n", sizes[i], neighbours);
    CHECK(neighbours <= 40); /* 8 are expected */
  }
}

/* Pairs of successive visits fall evenly into a 16 x 16 grid. */
static void random_pairs_are_even(void) {
  static const uint64_t sizes[] = {65536, 70000, 1000003};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint64_t n = sizes[i];
    double cells[16][16] = {{0}}, expected = (double)(n - 1) / 256, chi = 0;
    struct sl_order order;
    sl_order_init(&order, SL_ORDER_RANDOM, n, 7, 1);
    uint64_t before = sl_order_at(&order, 0);
    for (uint64_t v = 1; v < n; v++) {
      uint64_t record = sl_order_at(&order, v);
      cells[before * 16 / n][record * 16 / n]++;
      before = record;
    }
    for (int c = 0; c < 256; c++) {
      double off = cells[c / 16][c % 16] - expected;
      chi += off * off / expected;
    }
    if (chi / 255 > 1.6) printf("  n %" PRIu64 ": chi2/df %f\n", n, chi / 255);
    CHECK(chi / 255 < 1.6);
  }
}

static void largest_range(void) {
  struct sl_order order;
  uint64_t n = UINT64_C(1) << 62;
  sl_order_init(&order, SL_ORDER_RANDOM, n, 3, 1);
  for (uint64_t i = n - 100; i < n; i++)
    CHECK(sl_order_at(&order, i) < n);
  sl_order_init(&order, SL_ORDER_RANDOM, n - 1, 3, 1);
  CHECK(sl_order_at(&order, n - 2) < n - 1);
}

int main(void) {
  RUN(every_record_once);
  RUN(known_orders);
  RUN(random_is_frozen);
  RUN(seeds_differ);
  RUN(random_has_few_neighbours);
  RUN(random_pairs_are_even);
  RUN(largest_range);
  return TEST_DONE();
}
