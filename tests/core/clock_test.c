/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"

#include <time.h>

#include "core/test.h"

static void clocks_go_forward(void) {
  int64_t m = sl_monotonic_ns(), b = sl_boottime_ns();
  for (int i = 0; i < 1000; i++) {
    int64_t next = sl_monotonic_ns();
    CHECK(next >= m);
    m = next;
  }
  CHECK(sl_boottime_ns() > b);
  CHECK(b > 0);
}

static void real_clock(void) {
  struct sl_clock clock;
  sl_clock_init_real(&clock);
  int64_t before = sl_boottime_ns();
  int64_t now = sl_clock_now_ns(&clock);
  CHECK(now >= before && now <= sl_boottime_ns());
}

static void virtual_clock(void) {
  struct sl_clock clock;
  sl_clock_init_virtual(&clock);
  CHECK_EQ(sl_clock_now_ns(&clock), 0);
  int64_t hours48 = INT64_C(48) * 3600 * 1000000000;
  sl_clock_advance_to(&clock, hours48);
  CHECK_EQ(sl_clock_now_ns(&clock), hours48);
  sl_clock_advance_to(&clock, 5); /* never back */
  CHECK_EQ(sl_clock_now_ns(&clock), hours48);
}

static void a_deadline_that_is_too_far_is_the_last_moment(void) {
  CHECK_EQ(sl_deadline_ns(1000, 7), 1007);
  CHECK_EQ(sl_deadline_ns(1000, 0), 1000);
  CHECK_EQ(sl_deadline_ns(1000, -7), 1000);
  CHECK_EQ(sl_deadline_ns(1000, INT64_MAX - 1000), INT64_MAX);
  CHECK_EQ(sl_deadline_ns(1000, INT64_MAX - 999), INT64_MAX);
  CHECK_EQ(sl_deadline_ns(0, INT64_MAX), INT64_MAX);
}

static void wall_is_iso_8601_utc(void) {
  char text[SL_WALL_BYTES];
  int year, month, day, hour, minute, second, ms;
  time_t before = time(NULL);
  sl_wall_text(text, sizeof text);
  CHECK_EQ(strlen(text), strlen("2026-11-30T19:47:43.120Z"));
  CHECK_EQ(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &year, &month, &day,
                  &hour, &minute, &second, &ms),
           7);
  struct tm utc = {.tm_year = year - 1900,
                   .tm_mon = month - 1,
                   .tm_mday = day,
                   .tm_hour = hour,
                   .tm_min = minute,
                   .tm_sec = second};
  time_t printed = timegm(&utc);
  CHECK(printed >= before && printed <= time(NULL));
}

static void boot_id(void) {
  char one[SL_BOOT_ID_BYTES], two[SL_BOOT_ID_BYTES];
  sl_boot_id(one, sizeof one);
  CHECK_EQ(strlen(one), 36);
  CHECK(!strchr(one, '\n'));
  CHECK_STR(sl_boot_id(two, sizeof two), one);
}

int main(void) {
  RUN(clocks_go_forward);
  RUN(real_clock);
  RUN(virtual_clock);
  RUN(a_deadline_that_is_too_far_is_the_last_moment);
  RUN(wall_is_iso_8601_utc);
  RUN(boot_id);
  return TEST_DONE();
}
