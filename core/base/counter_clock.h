/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_COUNTER_CLOCK_H
#define STORLUA_CORE_BASE_COUNTER_CLOCK_H

/* CLOCK_MONOTONIC for somebody who reads it millions of times a second.
 *
 * Where the kernel's clock is the counter of an x86 CPU (clocksource "tsc"),
 * CLOCK_MONOTONIC is a straight line through that counter, bent now and then
 * by NTP.  This clock keeps the line and reads the counter alone: 11 ns
 * instead of 29 on a 2 GHz Xeon.  Its owner anchors it every few milliseconds,
 * which reads both, measures the slope anew, and tells how far off the line
 * was.  A line that was off by more than NTP explains is dropped.
 *
 * Elsewhere, and until the slope is known, it is CLOCK_MONOTONIC itself.
 *
 * One thread per clock. */

#include <stdbool.h>
#include <stdint.h>

#include "core/base/clock.h"

#ifdef __x86_64__
#include <x86intrin.h>
/* Holds the product also after a system call that hung for days. */
__extension__ typedef unsigned __int128 sl_wide;
#endif

struct sl_counter_clock {
  uint64_t slope; /* nanoseconds per count, times 2^32; 0: not in use */
  uint64_t anchor_count;
  uint64_t anchor_width; /* counts in which the anchor was read */
  int64_t anchor_ns;     /* 0: no anchor yet */
  int64_t worst_ns;      /* farthest that the line was off at an anchor */
  unsigned anchors;      /* of a line in use */
  unsigned dropped;      /* lines that were off too far */
  bool is_looked_up;     /* whether the kernel uses the counter */
  bool is_usable;
};

/* Anchors closer together than this do not change the slope, whose error is
 * that of two readings, some 30 ns each, over the time between. */
#define SL_COUNTER_WINDOW_NS INT64_C(5000000)

/* Takes an anchor.  Returns CLOCK_MONOTONIC as read for it.  Between two
 * anchors the clock never goes back; at one it steps onto the true time.  The
 * owner anchors at least every 10 ms of work, and right after anything that
 * took longer. */
int64_t sl_counter_clock_anchor(struct sl_counter_clock *clock);

/* "tsc" when the line was in use, else "monotonic".  Static. */
const char *sl_counter_clock_name(const struct sl_counter_clock *clock);

#ifdef __x86_64__
/* Where the line is at `count`.  A counter that jumped gives any number. */
static inline int64_t sl_counter_clock_at(const struct sl_counter_clock *clock,
                                          uint64_t count) {
  sl_wide since = count - clock->anchor_count;
  uint64_t since_ns = (uint64_t)(since * clock->slope >> 32);
  return (int64_t)((uint64_t)clock->anchor_ns + since_ns);
}
#endif

/* Now, in nanoseconds of CLOCK_MONOTONIC. */
static inline int64_t sl_counter_clock_now_ns(
    const struct sl_counter_clock *clock) {
#ifdef __x86_64__
  if (__builtin_expect(clock->slope != 0, 1)) {
    return sl_counter_clock_at(clock, __rdtsc());
  }
#else
  (void)clock;
#endif
  return sl_monotonic_ns();
}

#endif
