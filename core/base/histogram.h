/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_HISTOGRAM_H
#define STORLUA_CORE_BASE_HISTOGRAM_H

/* Latency histogram of fixed size: log-linear with 7 bits of precision, from
 * 1 ns to 2^47 ns (39 hours).  Values below 128 are exact; above, a bucket is
 * 1/128 of its power of two wide, so a percentile interpolated in its bucket
 * is within 0.4 %.  Count, sum, minimum and maximum are exact.
 * (Layout after the idea of Tene's HdrHistogram.)
 *
 * One writer.  A reader on another thread merges a copy taken while the
 * writer is quiet; the counters themselves are not atomic. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  SL_HISTOGRAM_BITS = 7,
  SL_HISTOGRAM_SUB = 1 << SL_HISTOGRAM_BITS,
  SL_HISTOGRAM_TOP = 47,
  /* values < 128, then one group of 128 per power of two 2^7 .. 2^46 */
  SL_HISTOGRAM_BUCKETS =
      SL_HISTOGRAM_SUB * (SL_HISTOGRAM_TOP - SL_HISTOGRAM_BITS + 1)
};

struct sl_histogram {
  uint64_t count;
  uint64_t sum_ns; /* 2^64 ns are 584 years of waiting: cannot overflow */
  int64_t min_ns;  /* INT64_MAX when empty */
  int64_t max_ns;  /* 0 when empty */
  uint64_t buckets[SL_HISTOGRAM_BUCKETS];
};

void sl_histogram_init(struct sl_histogram *h);

/* Index of the bucket that holds `ns`; negative values count as 0, values
 * from 2^47 on go into the last bucket. */
static inline unsigned sl_histogram_bucket(int64_t ns) {
  uint64_t v = ns < 0 ? 0 : (uint64_t)ns;
  if (v < SL_HISTOGRAM_SUB) return (unsigned)v;
  if (v >> SL_HISTOGRAM_TOP) return SL_HISTOGRAM_BUCKETS - 1;
  unsigned top = 63u - (unsigned)__builtin_clzll(v);
  unsigned shift = top - SL_HISTOGRAM_BITS;
  return (shift << SL_HISTOGRAM_BITS) + (unsigned)(v >> shift);
}

/* The same value `times` over. */
static inline void sl_histogram_add_times(struct sl_histogram *h, int64_t ns,
                                          uint64_t times) {
  h->count += times;
  h->sum_ns += ns < 0 ? 0 : (uint64_t)ns * times;
  if (ns < h->min_ns) h->min_ns = ns < 0 ? 0 : ns;
  if (ns > h->max_ns) h->max_ns = ns;
  h->buckets[sl_histogram_bucket(ns)] += times;
}

static inline void sl_histogram_add(struct sl_histogram *h, int64_t ns) {
  sl_histogram_add_times(h, ns, 1);
}

/* Smallest value that falls into the bucket, and the width of the bucket. */
int64_t sl_histogram_low(unsigned bucket);
int64_t sl_histogram_width(unsigned bucket);

void sl_histogram_merge(struct sl_histogram *to, const struct sl_histogram *h);

/* Nearest-rank percentile (0 < percent <= 100), interpolated inside the
 * bucket and clamped to [min, max].  Returns -1 when the histogram is empty:
 * no data has no percentile. */
int64_t sl_histogram_percentile(const struct sl_histogram *h, double percent);

#endif
