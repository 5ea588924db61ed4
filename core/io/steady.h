/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_STEADY_H
#define STORLUA_CORE_IO_STEADY_H

/* When a rate has become steady: the rule of the SNIA Solid State Storage
 * Performance Test Specification (2.0.1), on the points of a series.
 *
 * Over a window of intervals, with m their mean,
 *
 *   spread  the largest less the smallest, in percent of m
 *   slope   how far the line fitted by least squares rises or falls from the
 *           first to the last interval, in percent of m
 *
 * it is steady when spread <= 2 * percent and slope <= percent.  SNIA's own
 * figures, 20 and 10, are percent = 10.  Pure functions. */

#include <stdbool.h>
#include <stdint.h>

struct sl_series_point {
  uint64_t bytes;
  uint64_t operations;
  int64_t max_ns; /* slowest operation of the interval */
};

enum { SL_STEADY_POINTS_MIN = 5 };

struct sl_steady_spec {
  int64_t window_ns; /* 0: do not look.  At least SL_STEADY_POINTS_MIN
                        intervals of the series; when these grow, so does
                        the window. */
  unsigned percent;  /* 1 .. 100 */
};

struct sl_steady {
  bool is_known; /* a whole window was looked at */
  bool is_reached;
  int64_t at_ns; /* end of the window, from the first operation */
  int64_t window_ns;
  double mean_bytes; /* of an interval */
  double spread_percent, slope_percent;
};

/* Judges `count` points, at least SL_STEADY_POINTS_MIN, by their bytes.
 * Sets all but the times. */
void sl_steady_judge(const struct sl_series_point *points, unsigned count,
                     unsigned percent, struct sl_steady *steady);

#endif
