/* SPDX-License-Identifier: MIT */
/* The shape of each distribution against its exact law, by chi-square.  The
 * seeds are fixed, so a test that passes once always does; the bound is that
 * of one false alarm in 10^5. */
#include "core/base/distribution.h"

#include <math.h>

#include "core/test.h"

enum { DRAWS = 400000 };

/* The quantile of chi-square for 1e-5 (E. B. Wilson, M. M. Hilferty 1931). */
static double chi_bound(unsigned degrees) {
  double k = 2.0 / (9.0 * degrees);
  return degrees * pow(1 - k + 4.265 * sqrt(k), 3);
}

/* Draws, and compares with `law`, which need not sum up to 1.  Neighbours are
 * put together until 10 or more are expected. */
static void follows(const struct sl_distribution_spec *spec, unsigned n,
                    uint64_t seed, const double *law) {
  struct sl_distribution d;
  CHECK(sl_distribution_init(&d, spec, n, 1, seed));
  unsigned *seen = calloc(n, sizeof *seen);
  if (!seen) exit(1);
  double total = 0, chi = 0, expected = 0, found = 0;
  bool inside = true;
  for (uint64_t v = 0; v < DRAWS; v++) {
    uint64_t at = sl_distribution_at(&d, v);
    inside = inside && at < n;
    if (at < n) seen[at]++;
  }
  CHECK(inside);
  for (unsigned i = 0; i < n; i++)
    total += law[i];
  unsigned cells = 0;
  for (unsigned i = 0; i < n; i++) {
    expected += law[i] / total * DRAWS;
    found += seen[i];
    if (law[i] == 0) CHECK_EQ(seen[i], 0);
    if (expected < 10 && i + 1 < n) continue;
    if (expected > 0) {
      chi += (found - expected) * (found - expected) / expected;
      cells++;
    }
    expected = found = 0;
  }
  if (cells > 1 && chi > chi_bound(cells - 1)) {
    printf("  kind %d, n %u, theta %g: chi-square %.1f, bound %.1f\n",
           (int)spec->kind, n, spec->zipf_theta, chi, chi_bound(cells - 1));
    test_failures++;
  }
  free(seen);
}

static void zipf_is_zipf(void) {
  static const double thetas[] = {0.2, 0.5, 0.9, 0.99, 1, 1.01, 1.2, 2, 10};
  static const unsigned sizes[] = {1, 2, 3, 10, 1000, 5000};
  static double law[5000];
  for (size_t t = 0; t < sizeof thetas / sizeof *thetas; t++) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      for (unsigned i = 0; i < sizes[s]; i++) {
        law[i] = pow(i + 1, -thetas[t]);
      }
      struct sl_distribution_spec spec = {.kind = SL_ZIPF,
                                          .zipf_theta = thetas[t]};
      CHECK(sl_distribution_check(&spec) == NULL);
      follows(&spec, sizes[s], 0x5eed + t, law);
    }
  }
}

/* The first k of n ranks have (k/n)^(log(1-h)/log h) of the visits: with
 * h = 0.2, 80 % go to the first 20 %, 64 % to the first 4 %. */
static void pareto_is_self_similar(void) {
  static const double shares[] = {0.01, 0.2, 0.5, 0.9};
  static const unsigned sizes[] = {1, 2, 10, 1000, 5000};
  static double law[5000];
  for (size_t h = 0; h < sizeof shares / sizeof *shares; h++) {
    double power = log(1 - shares[h]) / log(shares[h]);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      double n = sizes[s];
      for (unsigned i = 0; i < sizes[s]; i++) {
        law[i] = pow((i + 1) / n, power) - pow(i / n, power);
      }
      struct sl_distribution_spec spec = {.kind = SL_PARETO,
                                          .pareto_h = shares[h]};
      CHECK(sl_distribution_check(&spec) == NULL);
      follows(&spec, sizes[s], 0x9a4e + h, law);
    }
  }
}

static double phi(double x) { return erfc(-x / sqrt(2)) / 2; }

static void normal_is_normal(void) {
  static const unsigned percents[] = {1, 10, 30, 100};
  static const unsigned sizes[] = {1, 2, 7, 1000};
  static double law[1000];
  for (size_t p = 0; p < 4; p++) {
    for (size_t s = 0; s < 4; s++) {
      double n = sizes[s], deviation = n * percents[p] / 100;
      for (unsigned i = 0; i < sizes[s]; i++) {
        /* of the upper half by symmetry: there the difference is exact */
        double from = fabs(i - n / 2), to = fabs(i + 1 - n / 2);
        if (i - n / 2 < 0 && i + 1 - n / 2 > 0) {
          law[i] = phi(to / deviation) - phi(-from / deviation);
        } else {
          law[i] = fabs(phi(-to / deviation) - phi(-from / deviation));
        }
        /* Too seldom to be seen, but possible. */
        if (law[i] < 1e-300) law[i] = 1e-300;
      }
      struct sl_distribution_spec spec = {.kind = SL_NORMAL,
                                          .normal_percent = percents[p]};
      CHECK(sl_distribution_check(&spec) == NULL);
      follows(&spec, sizes[s], 77 + p, law);
    }
  }
}

static void zones_have_their_shares(void) {
  struct sl_distribution_spec spec = {
      .kind = SL_ZONED,
      .zone_count = 4,
      .zones = {{60, 10, 0}, {30, 20, 0}, {0, 30, 0}, {10, 40, 0}}};
  static double law[1000];
  CHECK(sl_distribution_check(&spec) == NULL);
  for (unsigned i = 0; i < 1000; i++) {
    law[i] = i < 100 ? 60 / 100. : i < 300 ? 30 / 200. : i < 600 ? 0 : .025;
  }
  follows(&spec, 1000, 1, law);
  /* 7 records: zones of 0-0, 0-2, 2-4, 4-7 */
  struct sl_distribution d;
  CHECK(!sl_distribution_init(&d, &spec, 7, 1, 1));
  spec.zones[0].visit_percent = 0;
  spec.zones[1].visit_percent = 90;
  CHECK(sl_distribution_init(&d, &spec, 7, 1, 1));
  for (uint64_t v = 0; v < 1000; v++) {
    uint64_t at = sl_distribution_at(&d, v);
    CHECK(at < 2 || (at >= 4 && at < 7));
  }
}

/* 100 of 1000 records of 512 bytes get half of the visits, the next 300 the
 * other, and the rest none. */
static void zones_in_bytes(void) {
  struct sl_distribution_spec spec = {
      .kind = SL_ZONED,
      .zone_count = 2,
      .zones = {{50, 0, 100 * 512}, {50, 0, 300 * 512}}};
  struct sl_distribution d;
  CHECK(sl_distribution_check(&spec) == NULL);
  CHECK(sl_distribution_init(&d, &spec, 1000, 512, 1));
  unsigned first = 0;
  for (uint64_t v = 0; v < DRAWS; v++) {
    uint64_t at = sl_distribution_at(&d, v);
    CHECK(at < 400);
    first += at < 100;
  }
  /* 5 standard deviations of a fair coin */
  CHECK(fabs(first - DRAWS / 2.0) < 2.5 * sqrt(DRAWS));
  CHECK(sl_distribution_init(&d, &spec, 400, 512, 1));
  CHECK(!sl_distribution_init(&d, &spec, 399, 512, 1));
  CHECK(!sl_distribution_init(&d, &spec, 1000, 64 * 1024, 1));
  spec.zones[1].range_bytes = UINT64_MAX;
  CHECK(!sl_distribution_init(&d, &spec, 1000, 512, 1));
  spec.zones[1] = (struct sl_zone){50, 50, 0};
  CHECK(strstr(sl_distribution_check(&spec), "in bytes") != NULL);
}

static void uniform_draws(void) {
  struct sl_distribution_spec spec = {.kind = SL_UNIFORM};
  static double law[1000];
  for (unsigned i = 0; i < 1000; i++)
    law[i] = 1;
  follows(&spec, 1000, 5, law);
}

/* Neighbouring visits know nothing of each other: pairs are uniform too. */
static void pairs_are_independent(void) {
  struct sl_distribution_spec spec = {
      .kind = SL_ZONED, .zone_count = 1, .zones = {{100, 100, 0}}};
  struct sl_distribution d;
  static unsigned seen[32][32];
  CHECK(sl_distribution_init(&d, &spec, 32, 1, 3));
  uint64_t before = sl_distribution_at(&d, 0);
  double chi = 0, expected = DRAWS / 1024.0;
  for (uint64_t v = 1; v <= DRAWS; v++) {
    uint64_t at = sl_distribution_at(&d, v);
    seen[before][at]++;
    before = at;
  }
  for (int i = 0; i < 1024; i++) {
    double off = seen[i / 32][i % 32] - expected;
    chi += off * off / expected;
  }
  CHECK(chi < chi_bound(1023));
}

static void pure_and_wide(void) {
  struct sl_distribution_spec spec = {.kind = SL_ZIPF, .zipf_theta = 1.1};
  struct sl_distribution a, b;
  uint64_t n = UINT64_C(1) << 40;
  CHECK(sl_distribution_init(&a, &spec, n, 1, 9));
  CHECK(sl_distribution_init(&b, &spec, n, 1, 10));
  unsigned same = 0;
  for (uint64_t v = 0; v < 1000; v++) {
    uint64_t at = sl_distribution_at(&a, v + UINT64_C(0xffffffff00));
    CHECK(at < n);
    CHECK_EQ(sl_distribution_at(&a, v + UINT64_C(0xffffffff00)), at);
    same += at == sl_distribution_at(&b, v + UINT64_C(0xffffffff00));
  }
  CHECK(same < 100); /* another seed, other draws; rank 1 has 13 % */
}

static void what_is_refused(void) {
  struct sl_distribution_spec spec = {.kind = SL_ZIPF};
  CHECK(strstr(sl_distribution_check(&spec), "zipf_theta") != NULL);
  spec.zipf_theta = (double)NAN;
  CHECK(sl_distribution_check(&spec) != NULL);
  spec = (struct sl_distribution_spec){.kind = SL_PARETO, .pareto_h = 1};
  CHECK(strstr(sl_distribution_check(&spec), "pareto_h") != NULL);
  spec =
      (struct sl_distribution_spec){.kind = SL_NORMAL, .normal_percent = 101};
  CHECK(strstr(sl_distribution_check(&spec), "normal_percent") != NULL);
  spec = (struct sl_distribution_spec){.kind = SL_ZONED};
  CHECK(strstr(sl_distribution_check(&spec), "zones") != NULL);
  spec.zone_count = 2;
  spec.zones[0] = (struct sl_zone){50, 50, 0};
  spec.zones[1] = (struct sl_zone){49, 50, 0};
  CHECK(strstr(sl_distribution_check(&spec), "visit_percent") != NULL);
  spec.zones[1] = (struct sl_zone){50, 51, 0};
  CHECK(strstr(sl_distribution_check(&spec), "range_percent") != NULL);
  spec.zones[1] = (struct sl_zone){50, 0, 0};
  CHECK(strstr(sl_distribution_check(&spec), "no range") != NULL);
}

int main(void) {
  RUN(zipf_is_zipf);
  RUN(pareto_is_self_similar);
  RUN(normal_is_normal);
  RUN(zones_have_their_shares);
  RUN(zones_in_bytes);
  RUN(uniform_draws);
  RUN(pairs_are_independent);
  RUN(pure_and_wide);
  RUN(what_is_refused);
  return TEST_DONE();
}
