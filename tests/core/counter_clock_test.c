/* SPDX-License-Identifier: MIT */
#include "core/base/counter_clock.h"

#include <time.h>

#include "core/test.h"

/* A machine that is busy may stop us between any two readings, so all that is
 * asked is to lie between two of CLOCK_MONOTONIC, give or take what NTP bends
 * in some milliseconds. */
#define NEAR_NS 20000

static void pass(int64_t ns) {
  int64_t until_ns = sl_monotonic_ns() + ns;
  while (sl_monotonic_ns() < until_ns) {
  }
}

static void check_near(const struct sl_counter_clock *clock) {
  int64_t before_ns = sl_monotonic_ns();
  int64_t now_ns = sl_counter_clock_now_ns(clock);
  int64_t after_ns = sl_monotonic_ns();
  CHECK(now_ns >= before_ns - NEAR_NS);
  CHECK(now_ns <= after_ns + NEAR_NS);
}

static void without_an_anchor_it_is_the_clock(void) {
  struct sl_counter_clock clock = {0};
  check_near(&clock);
  CHECK_STR(sl_counter_clock_name(&clock), "monotonic");
}

static void an_anchor_tells_the_time(void) {
  struct sl_counter_clock clock = {0};
  for (int i = 0; i < 4; i++) {
    int64_t before_ns = sl_monotonic_ns();
    int64_t now_ns = sl_counter_clock_anchor(&clock);
    CHECK(now_ns >= before_ns && now_ns <= sl_monotonic_ns());
    pass(SL_COUNTER_WINDOW_NS / 2);
  }
}

/* Whether the kernel's own clock is the counter is another question. */
static struct sl_counter_clock in_use(void) {
  struct sl_counter_clock clock = {.is_looked_up = true, .is_usable = true};
  sl_counter_clock_anchor(&clock);
  pass(SL_COUNTER_WINDOW_NS);
  sl_counter_clock_anchor(&clock);
  return clock;
}

#ifdef __x86_64__
static void the_line_stays_with_the_clock(void) {
  struct sl_counter_clock clock = in_use();
  CHECK(clock.slope);
  for (int i = 0; i < 5; i++) {
    pass(SL_COUNTER_WINDOW_NS);
    check_near(&clock);
    sl_counter_clock_anchor(&clock);
    check_near(&clock);
  }
  CHECK_EQ(clock.dropped, 0);
  CHECK_EQ(clock.anchors, 5);
  CHECK(clock.worst_ns < NEAR_NS);
  CHECK_STR(sl_counter_clock_name(&clock), "tsc");
}

static void between_anchors_it_never_goes_back(void) {
  struct sl_counter_clock clock = in_use();
  int64_t last_ns = sl_counter_clock_now_ns(&clock);
  for (int i = 0; i < 100000; i++) {
    int64_t now_ns = sl_counter_clock_now_ns(&clock);
    CHECK(now_ns >= last_ns);
    last_ns = now_ns;
  }
}

static void a_line_that_is_off_is_dropped(void) {
  struct sl_counter_clock clock = in_use();
  clock.slope += clock.slope / 100;
  pass(SL_COUNTER_WINDOW_NS);
  int64_t before_ns = sl_monotonic_ns();
  CHECK(sl_counter_clock_anchor(&clock) >= before_ns);
  CHECK_EQ(clock.slope, 0);
  CHECK_EQ(clock.dropped, 1);
  CHECK(clock.worst_ns >= SL_COUNTER_WINDOW_NS / 100 - NEAR_NS);
  check_near(&clock);
  pass(SL_COUNTER_WINDOW_NS);
  sl_counter_clock_anchor(&clock); /* and measured anew */
  CHECK(clock.slope);
  check_near(&clock);
}

static void a_counter_that_jumps_back_is_found(void) {
  struct sl_counter_clock clock = in_use();
  clock.anchor_count += UINT64_C(1) << 40;
  pass(SL_COUNTER_WINDOW_NS);
  int64_t before_ns = sl_monotonic_ns();
  int64_t now_ns = sl_counter_clock_anchor(&clock);
  CHECK(now_ns >= before_ns && now_ns <= sl_monotonic_ns());
  CHECK_EQ(clock.dropped, 1);
  check_near(&clock);
}

static void one_that_fails_again_and_again_is_given_up(void) {
  struct sl_counter_clock clock = in_use();
  for (int i = 0; i < 20 && clock.is_usable; i++) {
    if (clock.slope) clock.slope *= 2;
    pass(SL_COUNTER_WINDOW_NS);
    sl_counter_clock_anchor(&clock);
  }
  CHECK(!clock.is_usable);
  pass(SL_COUNTER_WINDOW_NS);
  sl_counter_clock_anchor(&clock);
  CHECK_EQ(clock.slope, 0);
  check_near(&clock);
}
#else
static void elsewhere_it_is_the_clock(void) {
  struct sl_counter_clock clock = in_use();
  check_near(&clock);
  CHECK_STR(sl_counter_clock_name(&clock), "monotonic");
}
#endif

int main(void) {
  RUN(without_an_anchor_it_is_the_clock);
  RUN(an_anchor_tells_the_time);
#ifdef __x86_64__
  RUN(the_line_stays_with_the_clock);
  RUN(between_anchors_it_never_goes_back);
  RUN(a_line_that_is_off_is_dropped);
  RUN(a_counter_that_jumps_back_is_found);
  RUN(one_that_fails_again_and_again_is_given_up);
#else
  RUN(elsewhere_it_is_the_clock);
#endif
  return TEST_DONE();
}
