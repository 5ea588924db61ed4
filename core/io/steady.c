/* SPDX-License-Identifier: MIT */
#include "core/io/steady.h"

#include <math.h>

void sl_steady_judge(const struct sl_series_point *points, unsigned count,
                     unsigned percent, struct sl_steady *steady) {
  double sum = 0, least = HUGE_VAL, most = 0, moment = 0;
  double middle = (count - 1) / 2.0;
  for (unsigned i = 0; i < count; i++) {
    double y = (double)points[i].bytes;
    sum += y;
    moment += (i - middle) * y;
    if (y < least) least = y;
    if (y > most) most = y;
  }
  double mean = sum / count;
  /* The sum of the squares of i - middle is n (n^2 - 1) / 12. */
  double slope = moment * 12 / ((double)count * count * count - count);
  steady->is_known = true;
  steady->mean_bytes = mean;
  steady->spread_percent = mean > 0 ? (most - least) / mean * 100 : 0;
  steady->slope_percent = mean > 0 ? fabs(slope) * (count - 1) / mean * 100 : 0;
  /* Nothing at all is no steady rate but a stall. */
  steady->is_reached = mean > 0 && steady->spread_percent <= 2.0 * percent &&
                       steady->slope_percent <= percent;
}
