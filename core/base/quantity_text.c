/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "core/base/quantity.h"

static uint64_t magnitude(int64_t v) {
  return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* value / unit in tenths, rounded half up, without overflow. */
static uint64_t tenths(uint64_t value, uint64_t unit) {
  uint64_t rest = value % unit;
  /* rest * 10 fits for every unit up to 2^60 */
  return value / unit * 10 + (rest * 10 + unit / 2) / unit;
}

char *sl_size_text(int64_t bytes, char *text, size_t size) {
  static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
                                      "TiB", "PiB", "EiB"};
  uint64_t value = magnitude(bytes);
  const char *sign = bytes < 0 ? "-" : "";
  unsigned u = 0;
  while (u < 6 && value >> (10 * (u + 1)))
    u++;
  uint64_t unit = UINT64_C(1) << (10 * u);
  if (value % unit == 0) {
    snprintf(text, size, "%s%" PRIu64 " %s", sign, value / unit, units[u]);
    return text;
  }
  uint64_t t = tenths(value, unit);
  if (t >= 10240 && u < 6) { /* 1023.96 KiB rounds to the next unit */
    t = 10;
    u++;
  }
  snprintf(text, size, "%s%" PRIu64 ".%" PRIu64 " %s", sign, t / 10, t % 10,
           units[u]);
  return text;
}

char *sl_duration_text(int64_t ns, char *text, size_t size) {
  const uint64_t second = 1000000000, minute = 60 * second;
  uint64_t v = magnitude(ns);
  const char *sign = ns < 0 ? "-" : "";
  if (v == 0) {
    snprintf(text, size, "0 s");
  } else if (v < 1000) {
    snprintf(text, size, "%s%" PRIu64 " ns", sign, v);
  } else if (v < minute - second / 20) {
    static const struct {
      uint64_t unit, below;
      const char *name;
    } units[] = {{1000, 999950, "us"},
                 {1000000, 999950000, "ms"},
                 {1000000000, UINT64_MAX, "s"}};
    unsigned u = 0;
    while (v >= units[u].below)
      u++;
    uint64_t t = tenths(v, units[u].unit);
    snprintf(text, size, "%s%" PRIu64 ".%" PRIu64 " %s", sign, t / 10, t % 10,
             units[u].name);
  } else {
    uint64_t seconds = (v + second / 2) / second;
    if (seconds < 3600) {
      snprintf(text, size, "%s%" PRIu64 " min %02u s", sign, seconds / 60,
               (unsigned)(seconds % 60));
    } else {
      uint64_t minutes = (v + minute / 2) / minute;
      snprintf(text, size, "%s%" PRIu64 " h %02u min", sign, minutes / 60,
               (unsigned)(minutes % 60));
    }
  }
  return text;
}
