/* SPDX-License-Identifier: MIT */
#include "core/base/distribution.h"

#include <math.h>
#include <string.h>

#include "core/base/order.h"

#define SALT UINT64_C(0x646973747269)
#define TWO_PI 6.283185307179586476925

uint64_t sl_visit_stream(uint64_t seed, uint64_t salt, uint64_t visit) {
  uint64_t state = seed ^ (salt * UINT64_C(0xd1342543de82ef95));
  state = sl_random_next(&state) + visit;
  return sl_random_next(&state);
}

/* In (0, 1]: its logarithm is finite. */
static double unit(uint64_t *state) {
  return (double)((sl_random_next(state) >> 11) + 1) * 0x1p-53;
}

const char *sl_distribution_check(const struct sl_distribution_spec *spec) {
  if (spec->kind == SL_ZIPF &&
      !(spec->zipf_theta > 0 && spec->zipf_theta <= 10)) {
    return "zipf_theta must be above 0 and 10 at most";
  }
  if (spec->kind == SL_PARETO && !(spec->pareto_h > 0 && spec->pareto_h < 1)) {
    return "pareto_h must be above 0 and below 1";
  }
  if (spec->kind == SL_NORMAL &&
      (spec->normal_percent < 1 || spec->normal_percent > 100)) {
    return "normal_percent must be from 1 to 100";
  }
  if (spec->kind != SL_ZONED) return NULL;
  if (spec->zone_count < 1 || spec->zone_count > SL_ZONES_MAX) {
    return "zoned needs from 1 to 16 zones";
  }
  uint64_t visits = 0, range = 0;
  bool in_bytes = spec->zones[0].range_bytes;
  for (unsigned i = 0; i < spec->zone_count; i++) {
    if ((spec->zones[i].range_percent == 0) != in_bytes ||
        (spec->zones[i].range_bytes != 0) != in_bytes) {
      return "a zone has no range, or one in percent and one in bytes";
    }
    visits += spec->zones[i].visit_percent;
    range += spec->zones[i].range_percent;
  }
  if (visits != 100) return "the visit_percent of the zones are not 100";
  if (range != 100 && !in_bytes)
    return "the range_percent of the zones are not 100";
  return NULL;
}

/* The integral of x^-theta, zero at x = 1: (x^(1-theta) - 1) / (1-theta),
 * written so that it stays exact near theta = 1, where it is log x. */
static double integral(double theta, double x) {
  double l = log(x), t = (1 - theta) * l;
  return fabs(t) > 1e-8 ? expm1(t) / (1 - theta) : l * (1 + t / 2);
}

static double integral_inverse(double theta, double y) {
  double t = y * (1 - theta);
  if (t < -1) t = -1; /* rounding */
  return exp(fabs(t) > 1e-8 ? log1p(t) / (1 - theta) : y * (1 - t / 2));
}

static void init_zipf(struct sl_distribution *d) {
  double n = (double)d->records;
  d->low = integral(d->theta, 1.5) - 1;
  d->high = integral(d->theta, n + 0.5);
  d->squeeze = 2 - integral_inverse(
                       d->theta, integral(d->theta, 2.5) - pow(2, -d->theta));
}

/* A point under the curve x^-theta is drawn by inverting its integral, and
 * its abscissa rounded to k.  It counts unless it lies in the part of the
 * curve's area around k that exceeds k^-theta; `squeeze` decides most cases
 * without computing that. */
static uint64_t zipf(const struct sl_distribution *d, uint64_t *state) {
  for (;;) {
    double u = d->high + unit(state) * (d->low - d->high);
    double x = integral_inverse(d->theta, u);
    double k = floor(x + 0.5);
    if (k < 1) k = 1;
    if (k > (double)d->records) k = (double)d->records;
    if (k - x <= d->squeeze ||
        u >= integral(d->theta, k + 0.5) - pow(k, -d->theta)) {
      return (uint64_t)k - 1;
    }
  }
}

static uint64_t pareto(const struct sl_distribution *d, uint64_t *state) {
  uint64_t x = (uint64_t)((double)d->records * pow(unit(state), d->power));
  return x < d->records ? x : d->records - 1;
}

static uint64_t normal(const struct sl_distribution *d, uint64_t *state) {
  for (;;) {
    double radius = sqrt(-2 * log(unit(state)));
    double z = radius * cos(TWO_PI * unit(state));
    double x = floor(d->middle + z * d->deviation);
    if (x >= 0 && x < (double)d->records) return (uint64_t)x;
  }
}

/* The remainder favours small numbers by records / 2^64: nothing. */
static uint64_t zoned(const struct sl_distribution *d, uint64_t *state) {
  unsigned percent = (unsigned)((sl_random_next(state) >> 32) * 100 >> 32);
  unsigned i = 0;
  while (percent >= d->zones[i].until)
    i++;
  return d->zones[i].first + sl_random_next(state) % d->zones[i].records;
}

static bool init_zones(struct sl_distribution *d,
                       const struct sl_distribution_spec *spec,
                       uint64_t record_bytes) {
  unsigned visits = 0, percent = 0;
  uint64_t bytes = 0, first = 0;
  d->zone_count = spec->zone_count;
  for (unsigned i = 0; i < spec->zone_count; i++) {
    const struct sl_zone *zone = &spec->zones[i];
    percent += zone->range_percent;
    bytes += zone->range_bytes;
    /* records * percent / 100 without overflow */
    uint64_t end = zone->range_bytes ? bytes / record_bytes
                                     : d->records / 100 * percent +
                                           d->records % 100 * percent / 100;
    visits += zone->visit_percent;
    d->zones[i].until = visits;
    d->zones[i].first = first;
    d->zones[i].records = end - first;
    if (end == first && zone->visit_percent) return false;
    if (end > d->records || bytes < zone->range_bytes) return false;
    first = end;
  }
  return true;
}

bool sl_distribution_init(struct sl_distribution *d,
                          const struct sl_distribution_spec *spec,
                          uint64_t records, uint64_t record_bytes,
                          uint64_t seed) {
  memset(d, 0, sizeof *d);
  d->kind = spec->kind;
  d->records = records;
  d->seed = seed;
  d->theta = spec->zipf_theta;
  d->middle = (double)records / 2;
  d->deviation = (double)records * spec->normal_percent / 100;
  if (d->kind == SL_ZIPF) init_zipf(d);
  if (d->kind == SL_PARETO)
    d->power = log(spec->pareto_h) / log1p(-spec->pareto_h);
  return d->kind != SL_ZONED || init_zones(d, spec, record_bytes);
}

uint64_t sl_distribution_at(const struct sl_distribution *d, uint64_t visit) {
  uint64_t state = sl_visit_stream(d->seed, SALT, visit);
  switch (d->kind) {
    case SL_UNIFORM:
      return sl_random_next(&state) % d->records;
    case SL_ZIPF:
      return zipf(d, &state);
    case SL_PARETO:
      return pareto(d, &state);
    case SL_NORMAL:
      return normal(d, &state);
    case SL_ZONED:
      return zoned(d, &state);
  }
  return 0;
}
