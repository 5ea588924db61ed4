/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_DISTRIBUTION_H
#define STORLUA_CORE_BASE_DISTRIBUTION_H

/* Which record a visit touches when not all are touched equally often.
 *
 * A distribution is a pure function of seed and visit, without memory: each
 * visit draws from a random stream of its own.  Unlike an order it comes back
 * to some records early and to others never.
 *
 * - zipf: rank r = 1 .. n is drawn with a probability in proportion to
 *   r^-theta (Zipf 1949), exactly, by rejection-inversion (W. Hoermann,
 *   G. Derflinger, "Rejection-inversion to generate variates from monotone
 *   discrete distributions", ACM TOMACS 6(3), 1996): no table, so any n.
 *   The draw is r - 1; which record has that rank is for an order to say.
 * - pareto: self-similar, the rule of 80 to 20 in each part again: of the
 *   visits 1-h go to the first h of the ranks, (1-h)^2 to the first h^2, so
 *   that the first x of them get x^(log(1-h)/log h).  By inverting that, after
 *   J. Gray, P. Sundaresan, S. Englert, K. Baclawski, P. J. Weinberger,
 *   "Quickly generating billion-record synthetic databases", SIGMOD 1994.
 *   Ranks as with zipf.
 * - normal: a bell around the middle of the range, cut off at its ends:
 *   record i with a probability in proportion to F((i+1-n/2)/s) -
 *   F((i-n/2)/s), F the normal law, s = normal_percent of n.  By the
 *   transformation of G. E. P. Box and M. E. Muller (1958); what falls
 *   outside of the range is drawn again.
 * - zoned: the range is cut into zones, each with its share of the range and
 *   its share of the visits; uniform inside of a zone.  Zones in bytes may
 *   leave the rest of the range alone. */

#include <stdbool.h>
#include <stdint.h>

enum sl_distribution_kind {
  SL_UNIFORM,
  SL_ZIPF,
  SL_PARETO,
  SL_NORMAL,
  SL_ZONED
};

enum { SL_ZONES_MAX = 16 };

struct sl_zone {
  unsigned visit_percent; /* 0 .. 100; those of all zones are 100 */
  unsigned range_percent; /* 1 .. 100; likewise */
  uint64_t range_bytes;   /* or this, in all zones */
};

struct sl_distribution_spec {
  enum sl_distribution_kind kind;
  double zipf_theta;       /* zipf: above 0, 10 at most */
  double pareto_h;         /* pareto: above 0, below 1 */
  unsigned normal_percent; /* normal: standard deviation, 1 .. 100 */
  unsigned zone_count;
  struct sl_zone zones[SL_ZONES_MAX];
};

struct sl_distribution {
  enum sl_distribution_kind kind;
  uint64_t records;
  uint64_t seed;
  double theta, low, high, squeeze; /* zipf */
  double power;                     /* pareto */
  double middle, deviation;         /* normal */
  unsigned zone_count;
  struct {
    unsigned until; /* sum of the visit percents so far */
    uint64_t first, records;
  } zones[SL_ZONES_MAX];
};

/* What is wrong with the spec, as a static text; NULL when nothing is. */
const char *sl_distribution_check(const struct sl_distribution_spec *spec);

/* `spec` has passed the check; `records` 1 .. 2^53, of `record_bytes`.  False
 * when a zone that is to be visited would have no record, or zones in bytes
 * are more than there are. */
bool sl_distribution_init(struct sl_distribution *distribution,
                          const struct sl_distribution_spec *spec,
                          uint64_t records, uint64_t record_bytes,
                          uint64_t seed);

/* The draw of a visit, 0 .. records-1; of SL_UNIFORM too, each visit for
 * itself.  Any thread. */
uint64_t sl_distribution_at(const struct sl_distribution *distribution,
                            uint64_t visit);

/* A random stream for one purpose (`salt`) of one visit: the state for
 * sl_random_next.  Streams of neighbouring visits have nothing in common. */
uint64_t sl_visit_stream(uint64_t seed, uint64_t salt, uint64_t visit);

#endif
