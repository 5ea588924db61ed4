/* SPDX-License-Identifier: MIT */
#include "core/base/histogram.h"

#include "core/base/order.h"
#include "core/test.h"

enum { SAMPLES = 200000 };

static struct sl_histogram one, two; /* 42 KiB each: not on the stack */

static void buckets_tile_the_range(void) {
  int64_t next = 0;
  for (unsigned b = 0; b < SL_HISTOGRAM_BUCKETS; b++) {
    CHECK_EQ(sl_histogram_low(b), next);
    next += sl_histogram_width(b);
    CHECK_EQ(sl_histogram_bucket(sl_histogram_low(b)), b);
    CHECK_EQ(sl_histogram_bucket(next - 1), b);
  }
  CHECK_EQ(next, INT64_C(1) << SL_HISTOGRAM_TOP);
  CHECK_EQ(sl_histogram_bucket(next), SL_HISTOGRAM_BUCKETS - 1);
  CHECK_EQ(sl_histogram_bucket(INT64_MAX), SL_HISTOGRAM_BUCKETS - 1);
  CHECK_EQ(sl_histogram_bucket(-5), 0);
}

static void empty_and_single(void) {
  sl_histogram_init(&one);
  CHECK_EQ(sl_histogram_percentile(&one, 50), -1);
  sl_histogram_add(&one, 123456789);
  CHECK_EQ(sl_histogram_percentile(&one, 0.001), 123456789);
  CHECK_EQ(sl_histogram_percentile(&one, 50), 123456789);
  CHECK_EQ(sl_histogram_percentile(&one, 100), 123456789);
}

static void nearest_rank(void) {
  sl_histogram_init(&one);
  for (int i = 1; i <= 100; i++)
    sl_histogram_add(&one, i);
  CHECK_EQ(sl_histogram_percentile(&one, 1), 1);
  CHECK_EQ(sl_histogram_percentile(&one, 50), 50);
  CHECK_EQ(sl_histogram_percentile(&one, 50.5), 51);
  CHECK_EQ(sl_histogram_percentile(&one, 99), 99);
  CHECK_EQ(sl_histogram_percentile(&one, 99.9), 100);
  CHECK_EQ(sl_histogram_percentile(&one, 100), 100);
  CHECK_EQ(one.sum_ns, 5050);
}

static void clamped_to_min_and_max(void) {
  sl_histogram_init(&one);
  for (int i = 0; i < 9; i++)
    sl_histogram_add(&one, 1000001);
  for (double p = 1; p <= 100; p++)
    CHECK_EQ(sl_histogram_percentile(&one, p), 1000001);
  sl_histogram_add(&one, INT64_C(1) << 50); /* beyond the last bucket */
  CHECK_EQ(sl_histogram_percentile(&one, 100), INT64_C(1) << 50);
  CHECK_EQ(one.max_ns, INT64_C(1) << 50);
  sl_histogram_add(&one, -3); /* a clock that jumped counts as 0 */
  CHECK_EQ(one.min_ns, 0);
  CHECK_EQ(sl_histogram_percentile(&one, 1), 0);
}

static int compare_ns(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static double uniform(uint64_t *state) {
  return ((double)(sl_random_next(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* e^x and ln x without libm: the core does not link it. */
static double exponential(double x) {
  double term = 1, sum = 1;
  for (int i = 1; i < 60; i++)
    sum += term *= x / i;
  return sum;
}

static double logarithm(double x) {
  int power = 0;
  for (; x < 0.7; x *= 2)
    power--;
  double y = (x - 1) / (x + 1), term = y, sum = 0;
  for (int i = 1; i < 60; i += 2, term *= y * y)
    sum += term / i;
  return 2 * sum + power * 0.69314718055994530942;
}

static double gaussian(uint64_t *state) {
  double sum = 0; /* of twelve: variance 1 */
  for (int i = 0; i < 12; i++)
    sum += uniform(state);
  return sum - 6;
}

static double sample(int shape, uint64_t *state) {
  switch (shape) {
    case 0: /* lognormal around 100 us */
      return 100e3 * exponential(gaussian(state));
    case 1: /* cache hits and misses */
      return uniform(state) < 0.9 ? 80e3 * exponential(0.1 * gaussian(state))
                                  : 10e6 * exponential(0.2 * gaussian(state));
    default: /* exponential, mean 5 us */
      return -5e3 * logarithm(uniform(state));
  }
}

static void percentiles_against_a_sort(void) {
  static const double percents[] = {1, 50, 90, 95, 99, 99.9, 99.99, 99.999};
  static int64_t values[SAMPLES];
  for (int shape = 0; shape < 3; shape++) {
    uint64_t state = 20260 + (uint64_t)shape;
    sl_histogram_init(&one);
    for (int i = 0; i < SAMPLES; i++) {
      values[i] = (int64_t)sample(shape, &state);
      sl_histogram_add(&one, values[i]);
    }
    qsort(values, SAMPLES, sizeof *values, compare_ns);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
      int rank = (int)(percents[i] / 100 * SAMPLES + 0.999999);
      double exact = (double)values[rank - 1];
      double got = (double)sl_histogram_percentile(&one, percents[i]);
      double error = got > exact ? got / exact - 1 : 1 - got / exact;
      if (error > 0.004)
        printf("  shape %d p%g: %g, exact %g\n", shape, percents[i], got,
               exact);
      CHECK(error <= 0.004);
    }
  }
}

static void merge_is_adding(void) {
  static struct sl_histogram both;
  uint64_t state = 9;
  sl_histogram_init(&one);
  sl_histogram_init(&two);
  sl_histogram_init(&both);
  for (int i = 0; i < 10000; i++) {
    int64_t ns = (int64_t)(sl_random_next(&state) % 1000000);
    sl_histogram_add(i % 3 ? &one : &two, ns);
    sl_histogram_add(&both, ns);
  }
  sl_histogram_merge(&one, &two);
  CHECK(memcmp(&one, &both, sizeof both) == 0);
  sl_histogram_init(&two);
  sl_histogram_merge(&one, &two); /* an empty one changes nothing */
  CHECK(memcmp(&one, &both, sizeof both) == 0);
}

int main(void) {
  RUN(buckets_tile_the_range);
  RUN(empty_and_single);
  RUN(nearest_rank);
  RUN(clamped_to_min_and_max);
  RUN(percentiles_against_a_sort);
  RUN(merge_is_adding);
  return TEST_DONE();
}
