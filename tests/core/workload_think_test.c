/* SPDX-License-Identifier: MIT */
/* Pauses between operations.  Nothing here asserts that something was fast. */
#include <sys/resource.h>

#include "core/workload_rig.h"

static const int64_t MS = 1000000;

static struct sl_workload_spec think_spec(void) {
  struct sl_workload_spec spec = rig_spec(SL_READ);
  spec.engine = sl_engine_find("null");
  spec.target.path = NULL;
  spec.range_bytes = MIB;
  spec.think_ns = 100 * MS;
  return spec;
}

static void run_virtual(struct sl_workload_spec *spec) {
  struct sl_clock clock;
  sl_clock_init_virtual(&clock);
  spec->virtual_op_ns = MS;
  CHECK_EQ(sl_workload_run(spec, NULL, &clock, NULL, rig_result, &rig_error),
           0);
}

/* Exact, as time is declared: 10 operations of 1 ms, pauses of 100 ms. */
static void after_some_operations(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = think_spec();
  spec.limit_records = 10;
  spec.think_every = 1;
  run_virtual(&spec);
  CHECK_EQ(rig_result->read.operations, 10);
  CHECK_EQ(rig_result->total_ns, (10 + 9 * 100) * MS);
  CHECK_EQ(rig_result->pace_ns, 9 * 100 * MS);
  CHECK_EQ(rig_result->read.io_ns, 10 * MS);
  spec.think_every = 4; /* after the 4th and the 8th */
  run_virtual(&spec);
  CHECK_EQ(rig_result->total_ns, (10 + 2 * 100) * MS);
  rig_close();
}

static void after_some_time(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = think_spec();
  spec.limit_ns = 1000 * MS;
  spec.think_after_ns = 150 * MS;
  run_virtual(&spec); /* 150 busy, 100 not, four times */
  CHECK_EQ(rig_result->read.operations, 600);
  CHECK_EQ(rig_result->total_ns, 1000 * MS);
  /* A rate catches up after each pause: 500 a second, of which 20 at most are
   * left over from the last one. */
  spec.rate_operations_s = 500;
  run_virtual(&spec);
  CHECK(rig_result->read.operations >= 430);
  CHECK(rig_result->read.operations <= 501);
  spec.rate_operations_s = 0;
  spec.think_every = 50; /* is first */
  run_virtual(&spec);
  CHECK_EQ(rig_result->read.operations, 350);
  rig_close();
}

static int64_t cpu_ns(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 * MS +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* Asleep it uses no CPU, spinning it does. */
static void asleep_or_computing(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = think_spec();
  spec.limit_records = 3;
  spec.think_every = 1;
  int64_t before_ns = cpu_ns();
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK(rig_result->total_ns >= 200 * MS);
  CHECK(cpu_ns() - before_ns < 100 * MS);
  spec.think_spin_ns = spec.think_ns;
  before_ns = cpu_ns();
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK(rig_result->total_ns >= 200 * MS);
  CHECK(cpu_ns() - before_ns > 0);
  rig_close();
}

/* A queue of 8 gets 3 at a time, and is empty in the pauses. */
static void a_queue_drains_first(void) {
  const struct sl_engine *engine = sl_engine_find("posixaio");
  if (!engine) SKIP("no posixaio");
  rig_open("/tmp");
  rig_write(MIB, 1);
  struct sl_workload_spec spec = think_spec();
  spec.engine = engine;
  spec.target.path = rig_file;
  spec.verify = true;
  spec.queue_depth = 8;
  spec.limit_records = 10;
  spec.think_every = 3;
  spec.think_ns = 50 * MS;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.operations, 10);
  CHECK_EQ(rig_result->bad_sectors, 0);
  CHECK(rig_result->pace_ns >= 3 * 50 * MS);
  CHECK(rig_result->total_ns >= rig_result->pace_ns);
  CHECK(rig_result->read.io_ns <= rig_result->total_ns - rig_result->pace_ns);
  rig_close();
}

static void what_is_refused(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = think_spec();
  RIG_REFUSED(&spec, -EINVAL, "needs think_every");
  spec.think_every = 1;
  spec.think_spin_ns = spec.think_ns + 1;
  RIG_REFUSED(&spec, -EINVAL, "part of it");
  spec.think_ns = spec.think_spin_ns = 0;
  RIG_REFUSED(&spec, -EINVAL, "these think_ns");
  rig_close();
}

int main(void) {
  RUN(after_some_operations);
  RUN(after_some_time);
  RUN(asleep_or_computing);
  RUN(a_queue_drains_first);
  RUN(what_is_refused);
  return TEST_DONE();
}
