/* SPDX-License-Identifier: MIT */
/* When a rate is steady: by hand, and in a run under virtual time. */
#include <math.h>

#include "core/workload_rig.h"

static struct sl_steady judge(const uint64_t *bytes, unsigned count,
                              unsigned percent) {
  struct sl_series_point points[16] = {{0}};
  struct sl_steady steady = {0};
  for (unsigned i = 0; i < count; i++)
    points[i].bytes = bytes[i];
  sl_steady_judge(points, count, percent, &steady);
  return steady;
}

static bool near(double a, double b) { return fabs(a - b) < 1e-9; }

static void flat_and_rising(void) {
  struct sl_steady s = judge((uint64_t[]){100, 100, 100, 100, 100}, 5, 1);
  CHECK(s.is_reached && near(s.mean_bytes, 100));
  CHECK(near(s.spread_percent, 0) && near(s.slope_percent, 0));
  /* A line from 96 to 104: spread 8, slope 8 */
  s = judge((uint64_t[]){96, 98, 100, 102, 104}, 5, 8);
  CHECK(near(s.spread_percent, 8) && near(s.slope_percent, 8));
  CHECK(s.is_reached);
  s = judge((uint64_t[]){104, 102, 100, 98, 96}, 5, 7);
  CHECK(near(s.slope_percent, 8) && !s.is_reached);
  /* Up and down: a spread of 22 without a slope */
  s = judge((uint64_t[]){100, 89, 111, 89, 111, 100}, 6, 10);
  CHECK(near(s.spread_percent, 22) && s.slope_percent < 10);
  CHECK(!s.is_reached);
  s = judge((uint64_t[]){100, 90, 110, 90, 110, 100}, 6, 10);
  CHECK(near(s.spread_percent, 20) && s.is_reached);
}

static void a_stall_is_not_steady(void) {
  struct sl_steady s = judge((uint64_t[]){0, 0, 0, 0, 0}, 5, 100);
  CHECK(s.is_known && !s.is_reached);
}

static struct sl_workload_spec null_spec(void) {
  struct sl_workload_spec spec = rig_spec(SL_READ);
  spec.engine = sl_engine_find("null");
  spec.target.path = NULL;
  spec.range_bytes = 1000 * 4096;
  spec.virtual_op_ns = 1000000;
  spec.limit_ns = INT64_C(600) * 1000000000;
  spec.steady.window_ns = INT64_C(10) * 1000000000;
  spec.steady.percent = 1;
  return spec;
}

static void run_virtual(const struct sl_workload_spec *spec) {
  struct sl_clock clock;
  sl_clock_init_virtual(&clock);
  sl_workload_result_release(rig_result);
  CHECK_EQ(sl_workload_run(spec, NULL, &clock, NULL, rig_result, &rig_error),
           0);
}

static void a_run_ends_when_it_is_steady(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = null_spec();
  run_virtual(&spec);
  CHECK_EQ(rig_result->end, SL_END_COMPLETE);
  CHECK(rig_result->steady.is_reached);
  CHECK_EQ(rig_result->steady.at_ns, INT64_C(10) * 1000000000);
  CHECK_EQ(rig_result->steady.window_ns, INT64_C(10) * 1000000000);
  CHECK_EQ(rig_result->total_ns, INT64_C(10) * 1000000000);
  /* Not before the ramp is over. */
  spec.ramp_ns = INT64_C(30) * 1000000000;
  run_virtual(&spec);
  CHECK(rig_result->steady.is_reached);
  CHECK_EQ(rig_result->total_ns, INT64_C(10) * 1000000000);
  rig_close();
}

static void a_limit_may_come_first(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = null_spec();
  spec.limit_ns = INT64_C(9) * 1000000000;
  run_virtual(&spec);
  CHECK(!rig_result->steady.is_known && !rig_result->steady.is_reached);
  CHECK_EQ(rig_result->total_ns, spec.limit_ns);
  /* One operation lasts 1.5 intervals: some of these see none end. */
  spec = null_spec();
  spec.virtual_op_ns = INT64_C(1500000000);
  run_virtual(&spec);
  CHECK(rig_result->steady.is_known && !rig_result->steady.is_reached);
  CHECK_EQ(rig_result->total_ns, spec.limit_ns);
  rig_close();
}

static void refused(struct sl_workload_spec *spec, const char *text) {
  struct sl_error e = {0};
  CHECK_EQ(sl_workload_check(spec, &e), -EINVAL);
  if (!strstr(e.hint, text)) printf("  the hint is: %s\n", e.hint);
  CHECK(strstr(e.hint, text) != NULL);
  *spec = null_spec();
}

static void what_is_refused(void) {
  struct sl_workload_spec spec = null_spec();
  spec.limit_ns = 0;
  refused(&spec, "needs a limit");
  spec.steady.window_ns = INT64_C(4) * 1000000000;
  refused(&spec, "from 5 to");
  spec.steady.percent = 0;
  refused(&spec, "percent");
}

int main(void) {
  RUN(flat_and_rising);
  RUN(a_stall_is_not_steady);
  RUN(a_run_ends_when_it_is_steady);
  RUN(a_limit_may_come_first);
  RUN(what_is_refused);
  return TEST_DONE();
}
