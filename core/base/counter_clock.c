/* SPDX-License-Identifier: MIT */
#include "core/base/counter_clock.h"

#include <string.h>

#include "core/base/file.h"

/* NTP bends the kernel's clock by at most 500 ppm (adjtimex(2)). */
#define BEND_PER_MILLION 500
/* What is no sign of anything. */
#define SMALL_NS 2000
/* A machine whose counter fails this often has no use for it. */
#define DROPPED_MAX 8

const char *sl_counter_clock_name(const struct sl_counter_clock *clock) {
  return clock->anchors ? "tsc" : "monotonic";
}

#ifdef __x86_64__
/* Of reading both: as often as this, or until it took some 300 ns at most. */
enum { TRIES = 4, NEAR_COUNTS = 1000 };

struct reading {
  uint64_t count, width;
  int64_t ns;
};

/* The counter in the middle of a read of the clock; the closest of some, since
 * an interrupt may fall between. */
static struct reading read_both(void) {
  struct reading best = {.width = UINT64_MAX};
  for (int i = 0; i < TRIES && best.width > NEAR_COUNTS; i++) {
    uint64_t before = __rdtsc();
    int64_t ns = sl_monotonic_ns();
    uint64_t width = __rdtsc() - before;
    if (width >= best.width) continue;
    best = (struct reading){before + width / 2, width, ns};
  }
  return best;
}

static bool kernel_uses_counter(void) {
  char name[32];
  static const char path[] =
      "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  if (sl_file_read(path, name, sizeof name, NULL) <= 0) return false;
  return strcmp(name, "tsc\n") == 0;
}

static int64_t distance_ns(int64_t a, int64_t b) {
  uint64_t distance =
      a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
  return distance > INT64_MAX ? INT64_MAX : (int64_t)distance;
}

/* Whether the line may be used on: it told what the clock says, as nearly as
 * that was read and NTP lets it. */
static bool line_held(struct sl_counter_clock *clock, struct reading now) {
  sl_wide read = (sl_wide)clock->anchor_width + now.width;
  int64_t told_ns = sl_counter_clock_at(clock, now.count);
  int64_t off_ns = distance_ns(told_ns, now.ns);
  int64_t allowed_ns = SMALL_NS + (int64_t)(read * clock->slope >> 32) +
                       (now.ns - clock->anchor_ns) / 1000000 * BEND_PER_MILLION;
  if (off_ns > clock->worst_ns) clock->worst_ns = off_ns;
  return off_ns <= allowed_ns;
}

int64_t sl_counter_clock_anchor(struct sl_counter_clock *clock) {
  struct reading now = read_both();
  int64_t window_ns = now.ns - clock->anchor_ns;
  bool is_first = clock->anchor_ns == 0;
  if (!is_first && window_ns < SL_COUNTER_WINDOW_NS) return now.ns;
  if (clock->slope) {
    clock->anchors++;
    if (!line_held(clock, now)) {
      clock->slope = 0;
      clock->is_usable = ++clock->dropped < DROPPED_MAX;
      is_first = true; /* what lies before tells nothing */
    }
  } else if (!is_first && !clock->is_looked_up) {
    clock->is_usable = kernel_uses_counter();
    clock->is_looked_up = true;
  }
  uint64_t counts = now.count - clock->anchor_count;
  if (!is_first && clock->is_usable && counts) {
    clock->slope = (uint64_t)(((sl_wide)window_ns << 32) / counts);
  }
  clock->anchor_count = now.count;
  clock->anchor_width = now.width;
  clock->anchor_ns = now.ns;
  return now.ns;
}
#else
int64_t sl_counter_clock_anchor(struct sl_counter_clock *clock) {
  (void)clock;
  return sl_monotonic_ns();
}
#endif
