/* SPDX-License-Identifier: MIT */
/* The queued engines must do and count exactly what the synchronous loop
 * does, whatever the depth. */
#include "core/queue_rig.h"
#include "core/run/job.h"

static void every_record_once(const char *engine, unsigned depth) {
  rig_open("/dev/shm");
  for (unsigned sectors = 1; sectors <= 40 * 8; sectors += 7) {
    unsigned records = (sectors + 7) / 8;
    if (sectors < 8) continue;
    struct sl_workload_spec spec = spec_of(engine, SL_WRITE, depth);
    spec.order = (enum sl_order_kind)(sectors % 4);
    spec.range_bytes = sectors * SL_SECTOR_BYTES;
    spec.identity.generation = sectors;
    unlink(rig_file);
    RIG_RUN(&spec, SL_END_COMPLETE);
    struct sl_workload_result *r = rig_result;
    CHECK_EQ(r->write.operations, records);
    CHECK_EQ(r->write.calls, records);
    CHECK_EQ(r->write.bytes, spec.range_bytes);
    CHECK_EQ(r->write.latency.count, records);
    CHECK_EQ(r->next_visit, records);
    CHECK_EQ(r->passes, 1);
    CHECK_EQ(r->file_bytes_after, spec.range_bytes);
    CHECK_EQ(r->generation_last, sectors);
    CHECK(r->write.io_ns > 0 && r->write.io_ns <= r->total_ns);
    spec.operation = SL_READ;
    spec.verify = true;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(r->read.operations, records);
    CHECK_EQ(r->verified_sectors, sectors);
    CHECK_EQ(r->bad_sectors, 0);
  }
  rig_close();
}

static void whatever_the_depth(void) {
  for (int i = 0; i < ENGINES; i++) {
    if (!have(engines[i])) continue;
    for (unsigned depth = 0; depth <= 64; depth = depth ? depth * 4 : 1) {
      every_record_once(engines[i], depth);
    }
  }
}

/* More passes than the depth could hold: a record is never written by two
 * visits at once, so the last generation is what stays. */
static void passes_do_not_overtake(void) {
  for (int i = 0; i < ENGINES; i++) {
    if (!have(engines[i])) continue;
    for (unsigned records = 1; records <= 9; records += 4) {
      rig_open("/dev/shm");
      struct sl_workload_spec spec = spec_of(engines[i], SL_WRITE, 32);
      spec.range_bytes = records * 4096;
      spec.limit_records = records * 50;
      RIG_RUN(&spec, SL_END_COMPLETE);
      CHECK_EQ(rig_result->write.operations, records * 50);
      CHECK_EQ(rig_result->generation_last, 50);
      CHECK_EQ(rig_result->passes, 50);
      struct sl_workload_spec read = spec_of(engines[i], SL_READ, 32);
      read.verify = true;
      read.identity.generation = 50;
      RIG_RUN(&read, SL_END_COMPLETE);
      CHECK_EQ(rig_result->bad_sectors, 0);
      struct sl_workload_spec mixed = spec_of(engines[i], SL_MIXED, 32);
      mixed.verify = true;
      mixed.limit_records = 400;
      mixed.identity.generation = 50;
      RIG_RUN(&mixed, SL_END_COMPLETE);
      CHECK_EQ(rig_result->bad_sectors, 0);
      CHECK_EQ(rig_result->read.operations + rig_result->write.operations, 400);
      rig_close();
    }
  }
}

static void limits_and_flushes(void) {
  for (int i = 0; i < ENGINES; i++) {
    if (!have(engines[i])) continue;
    rig_open("/dev/shm");
    struct sl_workload_spec spec = spec_of(engines[i], SL_WRITE, 16);
    spec.range_bytes = 4 * MIB;
    spec.flush = SL_FLUSH_EVERY;
    spec.flush_every = 100;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->flushes, 11);
    CHECK_EQ(rig_result->write.operations, 1024);
    spec.flush = SL_FLUSH_END;
    spec.limit_bytes = 100 * 4096 + 100;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->flushes, 1);
    CHECK_EQ(rig_result->write.bytes, 100 * 4096);
    struct sl_workload_spec read = spec_of(engines[i], SL_READ, 16);
    read.limit_ns = 50000000;
    read.interval_ns = 1000000;
    RIG_RUN(&read, SL_END_COMPLETE);
    CHECK(rig_result->total_ns >= read.limit_ns);
    CHECK_EQ(rig_result->next_visit, rig_result->read.operations);
    uint64_t sum = 0;
    for (unsigned p = 0; p < rig_result->series_count; p++) {
      sum += rig_result->series[p].bytes;
    }
    CHECK_EQ(sum, rig_result->read.bytes);
    read.ramp_ns = 30000000;
    read.limit_ns = 0;
    read.limit_records = 500;
    RIG_RUN(&read, SL_END_COMPLETE);
    CHECK_EQ(rig_result->read.operations, 500);
    CHECK(rig_result->next_visit > 500);
    CHECK(rig_result->read.io_ns <= rig_result->total_ns);
    read.ramp_ns = 0;
    read.limit_records = 100;
    read.rate_bytes_s = 4096 * 500;
    RIG_RUN(&read, SL_END_COMPLETE);
    CHECK_EQ(rig_result->read.operations, 100);
    CHECK(rig_result->total_ns >= 198000000);
    rig_close();
  }
}

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

static void cancel_ends_it(void) {
  for (int i = 0; i < 2 * ENGINES; i++) {
    const char *engine = engines[i / 2];
    if (!have(engine)) continue;
    rig_open("/dev/shm");
    struct work work = {.spec = spec_of(engine, SL_WRITE, 16)};
    work.spec.range_bytes = MIB;
    work.spec.limit_ns = INT64_C(3600) * 1000000000;
    if (i % 2) work.spec.rate_bytes_s = 4096; /* in the wait for the next */
    struct sl_loop loop;
    struct sl_job *job;
    struct sl_error e;
    CHECK_EQ(sl_loop_init(&loop, 0, &e), 0);
    CHECK_EQ(
        sl_job_start(&loop, &work_class, &work, work_done, &work, &job, &e), 0);
    while (atomic_load(&work.progress.operations) < 1)
      usleep(1000);
    sl_job_cancel(job);
    while (!work.done)
      sl_loop_turn(&loop, 1);
    sl_job_unref(job);
    CHECK_EQ(sl_loop_close(&loop), 0);
    CHECK_EQ(work.code, 0);
    CHECK_STR(sl_end_name(rig_result->end), "cancelled");
    CHECK_EQ(rig_result->write.bytes, rig_result->write.operations * 4096);
    CHECK_EQ(rig_result->next_visit, rig_result->write.operations);
    rig_close();
  }
}

int main(void) {
  RUN(whatever_the_depth);
  RUN(passes_do_not_overtake);
  RUN(limits_and_flushes);
  RUN(cancel_ends_it);
  return TEST_DONE();
}
