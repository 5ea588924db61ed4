/* SPDX-License-Identifier: MIT */
#include "core/base/histogram.h"

#include <string.h>

void sl_histogram_init(struct sl_histogram *h) {
  memset(h, 0, sizeof *h);
  h->min_ns = INT64_MAX;
}

int64_t sl_histogram_low(unsigned bucket) {
  if (bucket < SL_HISTOGRAM_SUB) return bucket;
  unsigned shift = (bucket >> SL_HISTOGRAM_BITS) - 1;
  uint64_t mantissa = SL_HISTOGRAM_SUB | (bucket & (SL_HISTOGRAM_SUB - 1));
  return (int64_t)(mantissa << shift);
}

int64_t sl_histogram_width(unsigned bucket) {
  if (bucket < SL_HISTOGRAM_SUB) return 1;
  return INT64_C(1) << ((bucket >> SL_HISTOGRAM_BITS) - 1);
}

void sl_histogram_merge(struct sl_histogram *to, const struct sl_histogram *h) {
  to->count += h->count;
  to->sum_ns += h->sum_ns;
  if (h->min_ns < to->min_ns) to->min_ns = h->min_ns;
  if (h->max_ns > to->max_ns) to->max_ns = h->max_ns;
  for (unsigned i = 0; i < SL_HISTOGRAM_BUCKETS; i++)
    to->buckets[i] += h->buckets[i];
}

/* ceil(percent / 100 * count) in 1 .. count; 99.9 % of 1000 is 999 although
 * the product of the doubles is a little more. */
static uint64_t nearest_rank(double percent, uint64_t count) {
  double exact = percent * (double)count / 100.0 * (1.0 - 1e-13);
  if (!(exact > 0.0)) return 1;
  if (exact >= (double)count) return count;
  uint64_t rank = (uint64_t)exact;
  if ((double)rank < exact) rank++;
  return rank > count ? count : rank < 1 ? 1 : rank;
}

int64_t sl_histogram_percentile(const struct sl_histogram *h, double percent) {
  if (h->count == 0) return -1;
  uint64_t rank = nearest_rank(percent, h->count);
  if (rank == 1) return h->min_ns;
  if (rank == h->count) return h->max_ns;
  uint64_t before = 0;
  unsigned bucket = 0;
  while (bucket < SL_HISTOGRAM_BUCKETS - 1 &&
         before + h->buckets[bucket] < rank)
    before += h->buckets[bucket++];
  double inside = (double)h->buckets[bucket];
  int64_t value = sl_histogram_low(bucket);
  if (inside > 0)
    value += (int64_t)((double)sl_histogram_width(bucket) *
                       ((double)(rank - before) - 0.5) / inside);
  if (value < h->min_ns) return h->min_ns;
  return value > h->max_ns ? h->max_ns : value;
}
