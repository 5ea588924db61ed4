/* SPDX-License-Identifier: MIT */
/* Limits in time, pacing, ramp, cancelling, virtual time, the null engine.
 * Nothing here asserts that something was fast. */
#include "core/run/job.h"
#include "core/workload_rig.h"

static struct sl_workload_spec null_spec(void) {
  struct sl_workload_spec spec = rig_spec(SL_READ);
  spec.engine = sl_engine_find("null");
  spec.target.path = NULL;
  spec.range_bytes = 1000 * 4096;
  return spec;
}

static int run_virtual(const struct sl_workload_spec *spec) {
  struct sl_clock clock;
  sl_clock_init_virtual(&clock);
  sl_workload_result_release(rig_result);
  memset(&rig_error, 0, sizeof rig_error);
  return sl_workload_run(spec, NULL, &clock, NULL, rig_result, &rig_error);
}

static void null_moves_nothing_and_counts_all(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = null_spec();
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.operations, 1000);
  CHECK_EQ(rig_result->read.bytes, 1000 * 4096);
  CHECK_EQ(rig_result->resident_before, -1);
  spec.operation = SL_WRITE;
  /* no memory is taken for it */
  spec.record_bytes = UINT64_C(1) << (sizeof(size_t) < 8 ? 31 : 33);
  spec.range_bytes = 8 * spec.record_bytes;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.operations, 8);
  CHECK_EQ(rig_result->generation_last, 1);
  spec.record_bytes++;
  RIG_REFUSED(&spec, -EINVAL, "is above");
  spec.record_bytes--;
  spec.range_bytes = 0;
  RIG_REFUSED(&spec, -EINVAL, "range_bytes is missing");
  spec = null_spec();
  spec.verify = true;
  RIG_REFUSED(&spec, -EINVAL, "no data");
  rig_close();
}

static void virtual_time_is_declared(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = null_spec();
  spec.virtual_op_ns = 1000000;
  spec.limit_ns = INT64_C(3600) * 1000000000;
  spec.record_bytes = 4096;
  CHECK_EQ(run_virtual(&spec), 0);
  struct sl_workload_result *r = rig_result;
  CHECK_EQ(r->read.operations, 3600000);
  CHECK_EQ(r->total_ns, spec.limit_ns);
  CHECK_EQ(r->read.io_ns, spec.limit_ns);
  CHECK_EQ(r->read.latency.min_ns, 1000000);
  CHECK_EQ(r->read.latency.max_ns, 1000000);
  /* 3600 s and a bit do not fit 3600 points of a second */
  CHECK_EQ(r->series_interval_ns, INT64_C(2000000000));
  CHECK_EQ(r->series_count, 1801);
  CHECK_EQ(r->series[0].operations, 1999); /* the 2000th ends in the next */
  CHECK_EQ(r->series[1].operations, 2000);
  uint64_t sum = 0;
  for (unsigned i = 0; i < r->series_count; i++)
    sum += r->series[i].bytes;
  CHECK_EQ(sum, r->read.bytes);
  spec.rate_bytes_s = 4096 * 10; /* ten a second instead of a thousand */
  CHECK_EQ(run_virtual(&spec), 0);
  CHECK_EQ(r->read.operations, 36000);
  CHECK(r->pace_ns > spec.limit_ns / 100 * 98);
  spec.virtual_op_ns = 0;
  CHECK_EQ(run_virtual(&spec), -EINVAL);
  CHECK(strstr(rig_error.hint, "virtual_op_ns") != NULL);
  rig_close();
}

/* Also when points are joined, and after a ramp. */
static void a_series_tells_directions_apart(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = null_spec();
  spec.operation = SL_MIXED;
  spec.read_percent = 30;
  spec.virtual_op_ns = 1000000;
  spec.ramp_ns = INT64_C(10) * 1000000000;
  spec.limit_ns = INT64_C(3700) * 1000000000;
  CHECK_EQ(run_virtual(&spec), 0);
  CHECK(rig_result->series_parts == NULL);
  spec.series_directions = true;
  CHECK_EQ(run_virtual(&spec), 0);
  struct sl_workload_result *r = rig_result;
  CHECK_EQ(r->series_interval_ns, INT64_C(2000000000));
  struct sl_series_part sum[3] = {{0}};
  for (unsigned i = 0; i < r->series_count; i++) {
    const struct sl_series_part *of = r->series_parts[i].of;
    CHECK_EQ(of[SL_OP_READ].operations + of[SL_OP_WRITE].operations,
             r->series[i].operations);
    CHECK_EQ(of[SL_OP_READ].bytes + of[SL_OP_WRITE].bytes, r->series[i].bytes);
    for (int op = 0; op < 3; op++) {
      sum[op].bytes += of[op].bytes;
      sum[op].latency_ns += of[op].latency_ns;
    }
  }
  CHECK(r->read.bytes > 0);
  CHECK_EQ(sum[SL_OP_READ].bytes, r->read.bytes);
  CHECK_EQ(sum[SL_OP_WRITE].bytes, r->write.bytes);
  CHECK_EQ(sum[SL_OP_READ].latency_ns, r->read.io_ns);
  CHECK_EQ(sum[SL_OP_WRITE].latency_ns, r->write.io_ns);
  CHECK_EQ(sum[SL_OP_TRIM].bytes, 0);
  rig_close();
}

static void the_ramp_is_done_but_not_counted(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = null_spec();
  spec.virtual_op_ns = 1000000;
  spec.ramp_ns = 500000000;
  spec.limit_ns = 2000000000;
  CHECK_EQ(run_virtual(&spec), 0);
  CHECK_EQ(rig_result->read.operations, 2000);
  CHECK_EQ(rig_result->total_ns, 2000000000);
  CHECK_EQ(rig_result->next_visit, 2500);
  spec.limit_ns = 0;
  spec.limit_records = 123;
  CHECK_EQ(run_virtual(&spec), 0);
  CHECK_EQ(rig_result->read.operations, 123);
  CHECK_EQ(rig_result->next_visit, 623);
  spec.limit_records = 0;
  spec.limit_bytes = 10 * 4096;
  CHECK_EQ(run_virtual(&spec), 0);
  CHECK_EQ(rig_result->read.bytes, 10 * 4096);
  rig_close();
}

static void pacing_holds_the_rate(void) {
  rig_open("/dev/shm");
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.range_bytes = 100 * 4096;
  spec.limit_records = 100;
  spec.rate_bytes_s = 4096 * 500; /* the last one is due after 198 ms */
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.operations, 100);
  CHECK(rig_result->total_ns >= 198000000);
  CHECK(rig_result->pace_ns > 0);
  CHECK(rig_result->pace_ns <= rig_result->total_ns);
  /* a limit in time also ends a wait that is longer */
  spec.rate_bytes_s = 4096 / 8;
  spec.limit_records = 0;
  spec.limit_ns = 60000000;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.operations, 1);
  CHECK(rig_result->total_ns >= 60000000);
  CHECK(rig_result->total_ns < 8000000000);
  rig_close();
}

static void operations_are_paced_too(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = null_spec();
  spec.virtual_op_ns = 1000;
  spec.limit_ns = 10000000000;
  spec.rate_operations_s = 7; /* a period that is no whole nanosecond */
  CHECK_EQ(run_virtual(&spec), 0);
  CHECK_EQ(rig_result->read.operations, 70);
  spec.rate_bytes_s = 1;
  CHECK_EQ(run_virtual(&spec), -EINVAL);
  CHECK(strstr(rig_error.hint, "one of them") != NULL);
  rig_close();
}

static void one_slow_operation_ends_it(void) {
  rig_open("/tmp");
  struct sl_workload_spec spec = null_spec();
  spec.virtual_op_ns = 5000000;
  spec.limit_ns = 1000000000;
  spec.limit_latency_ns = 5000000; /* not longer than that: fine */
  CHECK_EQ(run_virtual(&spec), 0);
  CHECK_STR(sl_end_name(rig_result->end), "complete");
  CHECK_EQ(rig_result->read.operations, 200);
  spec.limit_latency_ns = 4999999;
  CHECK_EQ(run_virtual(&spec), 0);
  CHECK_STR(sl_end_name(rig_result->end), "too_slow");
  CHECK_EQ(rig_result->read.operations, 1);
  CHECK_EQ(rig_result->error.code, -ETIMEDOUT);
  CHECK_EQ(rig_result->error.offset, 0);
  CHECK(strstr(rig_result->error.hint, "5.0 ms") != NULL);
  CHECK_EQ(rig_result->errors_total, 0);
  rig_close();
  rig_open("/dev/shm"); /* in a queue */
  rig_write(4 * MIB, 1);
  struct sl_workload_spec read = rig_spec(SL_READ);
  read.engine = sl_engine_find("libaio");
  read.queue_depth = 8;
  read.limit_latency_ns = 1;
  RIG_RUN(&read, SL_END_TOO_SLOW);
  CHECK(rig_result->read.operations >= 1);
  CHECK(rig_result->read.operations <= 8);
  rig_close();
}

/* --- as a job --- */

struct work {
  struct sl_workload_spec spec;
  struct sl_workload_progress progress;
  int code;
  bool done;
};

static void work_run(struct sl_job *job, void *data) {
  struct work *work = data;
  work->code = sl_workload_run(&work->spec, job, NULL, &work->progress,
                               rig_result, &rig_error);
}

static void work_done(struct sl_job *job, void *user) {
  (void)job;
  ((struct work *)user)->done = true;
}

static const struct sl_job_class work_class = {"workload", work_run, NULL};

static void run_and_cancel(struct work *work) {
  struct sl_loop loop;
  struct sl_job *job;
  struct sl_error e;
  CHECK_EQ(sl_loop_init(&loop, 0, &e), 0);
  CHECK_EQ(sl_job_start(&loop, &work_class, work, work_done, work, &job, &e),
           0);
  while (atomic_load(&work->progress.operations) < 1)
    usleep(1000);
  struct sl_job_stuck stuck;
  sl_job_stuck(job, &stuck);
  CHECK(atomic_load(&work->progress.started_ns) > 0);
  sl_job_cancel(job);
  while (!work->done)
    sl_loop_turn(&loop, 1);
  sl_job_unref(job);
  CHECK_EQ(sl_loop_close(&loop), 0);
  CHECK_EQ(work->code, 0);
  CHECK_STR(sl_end_name(rig_result->end), "cancelled");
}

static void cancel_ends_an_endless_run(void) {
  rig_open("/dev/shm");
  struct work work = {.spec = rig_spec(SL_WRITE)};
  work.spec.range_bytes = MIB;
  work.spec.limit_ns = INT64_C(3600) * 1000000000;
  work.spec.flush = SL_FLUSH_END;
  run_and_cancel(&work);
  CHECK_EQ(rig_result->write.operations,
           atomic_load(&work.progress.operations));
  CHECK_EQ(rig_result->write.bytes, atomic_load(&work.progress.bytes));
  CHECK_EQ(rig_result->next_visit, rig_result->write.operations);
  CHECK_EQ(rig_result->flushes, 0); /* cancelled means at once */
  rig_close();
}

static void cancel_ends_a_pace(void) {
  rig_open("/dev/shm");
  struct work work = {.spec = rig_spec(SL_WRITE)};
  work.spec.range_bytes = MIB;
  work.spec.rate_bytes_s = 1; /* the second one is due in an hour */
  work.spec.limit_records = 10;
  run_and_cancel(&work);
  CHECK_EQ(rig_result->write.operations, 1);
  rig_close();
}

int main(void) {
  RUN(null_moves_nothing_and_counts_all);
  RUN(virtual_time_is_declared);
  RUN(a_series_tells_directions_apart);
  RUN(the_ramp_is_done_but_not_counted);
  RUN(pacing_holds_the_rate);
  RUN(operations_are_paced_too);
  RUN(one_slow_operation_ends_it);
  RUN(cancel_ends_an_endless_run);
  RUN(cancel_ends_a_pace);
  return TEST_DONE();
}
