/* SPDX-License-Identifier: MIT */
/* Visits drawn from a distribution or of several sizes: where they go, what
 * is refused, and that stamps still prove what was written. */
#include "core/io/workload_step.h"
#include "core/workload_rig.h"

static struct sl_workload_spec mix_spec(enum sl_operation operation) {
  struct sl_workload_spec spec = rig_spec(operation);
  spec.order = SL_ORDER_RANDOM;
  spec.record_bytes = 64 * KIB;
  spec.size_mix[0].record_bytes = 4 * KIB;
  spec.size_mix[0].percent = 60;
  spec.size_mix[1].record_bytes = 64 * KIB;
  spec.size_mix[1].percent = 40;
  return spec;
}

static struct sl_workload_spec zipf_spec(enum sl_operation operation) {
  struct sl_workload_spec spec = rig_spec(operation);
  spec.order = SL_ORDER_RANDOM;
  spec.distribution.kind = SL_ZIPF;
  spec.distribution.zipf_theta = 1.2;
  return spec;
}

/* Plans a run of the null engine. */
static int plan(struct sl_run *run, struct sl_workload_spec *spec) {
  static struct sl_workload_result result;
  static struct sl_workload_progress progress;
  memset(run, 0, sizeof *run);
  spec->engine = sl_engine_find("null");
  spec->target.path = NULL;
  run->spec = spec;
  run->engine = spec->engine;
  run->result = &result;
  run->progress = &progress;
  run->target.offset_align = 1;
  return sl_run_plan(run, &rig_error);
}

static void sizes_have_their_shares_and_places(void) {
  struct sl_workload_spec spec = mix_spec(SL_READ);
  struct sl_run run;
  spec.range_offset = MIB;
  spec.range_bytes = 100 * 64 * KIB + 12345; /* the rest is left out */
  CHECK_EQ(plan(&run, &spec), 0);
  CHECK_EQ(run.records, 100);
  static unsigned seen[1600], places[16];
  unsigned small = 0, large = 0;
  for (int v = 0; v < 100000; v++) {
    struct sl_step step;
    sl_step_plan(&run, &step);
    uint64_t at = step.offset - MIB;
    CHECK_EQ(at % step.length, 0);
    CHECK(step.offset >= MIB && at + step.length <= 100 * 64 * KIB);
    CHECK_EQ(step.length, step.request);
    if (step.length == 4 * KIB) {
      small++;
      seen[at / (4 * KIB)]++;
      places[at / (4 * KIB) % 16]++;
    } else {
      CHECK_EQ(step.length, 64 * KIB);
      large++;
    }
    sl_step_advance(&run);
  }
  CHECK_EQ(small + large, 100000);
  CHECK(small > 59000 && small < 61000);
  unsigned never = 0;
  for (int i = 0; i < 1600; i++)
    never += seen[i] == 0;
  CHECK_EQ(never, 0);
  for (int i = 0; i < 16; i++)
    CHECK(places[i] > 3400 && places[i] < 4100);
}

/* Each pass touches each of the large records once. */
static void a_mix_keeps_the_order_of_records(void) {
  struct sl_workload_spec spec = mix_spec(SL_READ);
  struct sl_run run;
  spec.range_bytes = 50 * 64 * KIB;
  CHECK_EQ(plan(&run, &spec), 0);
  for (int pass = 0; pass < 3; pass++) {
    unsigned seen[50] = {0};
    for (int i = 0; i < 50; i++) {
      struct sl_step step;
      sl_step_plan(&run, &step);
      CHECK_EQ(step.pass, pass);
      seen[step.offset / (64 * KIB)]++;
      sl_step_advance(&run);
    }
    for (int i = 0; i < 50; i++)
      CHECK_EQ(seen[i], 1);
  }
}

static void a_visit_is_a_pure_function(void) {
  struct sl_workload_spec spec = mix_spec(SL_READ);
  spec.distribution.kind = SL_NORMAL;
  spec.distribution.normal_percent = 20;
  spec.range_bytes = 64 * MIB;
  struct sl_run run, later;
  CHECK_EQ(plan(&run, &spec), 0);
  struct sl_workload_spec from = spec;
  from.first_visit = 777;
  CHECK_EQ(plan(&later, &from), 0);
  for (int v = 0; v < 777; v++)
    sl_step_advance(&run);
  for (int v = 0; v < 5000; v++) {
    struct sl_step a, b;
    sl_step_plan(&run, &a);
    sl_step_plan(&later, &b);
    CHECK_EQ(a.offset, b.offset);
    CHECK_EQ(a.length, b.length);
    sl_step_advance(&run);
    sl_step_advance(&later);
  }
}

/* The hottest record of zipf has its share, and lies anywhere. */
static void ranks_are_scattered(void) {
  struct sl_workload_spec spec = zipf_spec(SL_READ);
  spec.range_bytes = 1000 * 4096;
  struct sl_run run;
  CHECK_EQ(plan(&run, &spec), 0);
  uint64_t first = sl_order_at(&run.order, 0) * 4096;
  unsigned hits = 0;
  for (int v = 0; v < 20000; v++) {
    struct sl_step step;
    sl_step_plan(&run, &step);
    hits += step.offset == first;
    sl_step_advance(&run);
  }
  /* 1 / sum(r^-1.2) is 0.231 */
  CHECK(hits > 4300 && hits < 4950);
}

/* Stamps of several sizes: every sector is of a legal generation. */
static void stamps_of_a_mix_verify(void) {
  rig_open("/tmp");
  rig_write(4 * MIB, 1);
  struct sl_workload_spec write = mix_spec(SL_WRITE);
  write.range_bytes = 4 * MIB;
  write.identity.generation = 2;
  write.limit_records = 200; /* four passes */
  RIG_RUN(&write, SL_END_COMPLETE);
  CHECK_EQ(rig_result->generation_last, 5);
  struct sl_legal legal = {
      .offset = 0, .length = 4 * MIB, .generation_min = 1, .generation_max = 5};
  struct sl_workload_spec read = mix_spec(SL_READ);
  read.verify = true;
  read.legal = &legal;
  read.legal_count = 1;
  read.limit_records = 300;
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK_EQ(rig_result->bad_sectors, 0);
  CHECK_EQ(rig_result->verified_sectors * 512, rig_result->read.bytes);
  CHECK(rig_result->old_sectors > 0);
  rig_plant(0, "damaged", 7);
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK(rig_result->bad_sectors > 0);
  rig_close();
}

static void queued_mixes_and_draws(void) {
  if (sl_engine_probe("io_uring", &rig_error) != 0) SKIP("no io_uring");
  rig_open("/var/tmp");
  rig_write(4 * MIB, 1);
  struct sl_workload_spec spec = mix_spec(SL_READ);
  spec.engine = sl_engine_find("io_uring");
  spec.queue_depth = 16;
  spec.verify = true;
  spec.limit_records = 1000;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.operations, 1000);
  CHECK_EQ(rig_result->bad_sectors, 0);
  spec = zipf_spec(SL_MIXED);
  spec.target.create = spec.stamp = false;
  spec.engine = sl_engine_find("io_uring");
  spec.queue_depth = 16;
  spec.limit_records = 5000;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.operations + rig_result->write.operations, 5000);
  rig_close();
}

static void check_refused(const struct sl_workload_spec *spec,
                          const char *text) {
  struct sl_error e = {0};
  CHECK_EQ(sl_workload_check(spec, &e), -EINVAL);
  if (!strstr(e.hint, text)) printf("  the hint is: %s\n", e.hint);
  CHECK(strstr(e.hint, text) != NULL);
}

static void distributions_refused(void) {
  struct sl_workload_spec spec = zipf_spec(SL_READ);
  CHECK_EQ(sl_workload_check(&spec, NULL), 0);
  spec.distribution.zipf_theta = -1;
  check_refused(&spec, "zipf_theta");
  spec = zipf_spec(SL_READ);
  spec.order = SL_ORDER_BACKWARD;
  check_refused(&spec, "order must be random");
  spec = zipf_spec(SL_MIXED);
  spec.verify = true;
  check_refused(&spec, "cannot verify");
  spec = zipf_spec(SL_WRITE);
  if (sl_engine_find("io_uring")) {
    spec.engine = sl_engine_find("io_uring");
    spec.queue_depth = 8;
    check_refused(&spec, "overtake");
  }
  spec = zipf_spec(SL_READ);
  spec.range_bytes = 8192;
  spec.distribution = (struct sl_distribution_spec){
      .kind = SL_ZONED, .zone_count = 2, .zones = {{50, 10, 0}, {50, 90, 0}}};
  struct sl_run run;
  CHECK_EQ(plan(&run, &spec), -EINVAL);
  CHECK(strstr(rig_error.hint, "smaller than a record") != NULL);
}

static void mixes_refused(void) {
  struct sl_workload_spec spec = mix_spec(SL_READ);
  CHECK_EQ(sl_workload_check(&spec, NULL), 0);
  spec.size_mix[1].percent = 41;
  check_refused(&spec, "101, not 100");
  spec = mix_spec(SL_READ);
  spec.record_bytes = 128 * KIB;
  check_refused(&spec, "largest size 65536");
  spec = mix_spec(SL_READ);
  spec.size_mix[0].record_bytes = 12 * KIB;
  check_refused(&spec, "12288 does not divide");
  spec = mix_spec(SL_READ);
  spec.size_mix[0].record_bytes = 256;
  spec.verify = true;
  check_refused(&spec, "size_mix has 256");
  spec = mix_spec(SL_READ);
  spec.order = SL_ORDER_SEQUENTIAL;
  check_refused(&spec, "order must be random");
  spec = mix_spec(SL_READ);
  spec.engine = sl_engine_find("stdio");
  check_refused(&spec, "records of one size");
  spec = mix_spec(SL_MIXED);
  spec.verify = true;
  check_refused(&spec, "cannot verify");
}

int main(void) {
  RUN(sizes_have_their_shares_and_places);
  RUN(a_mix_keeps_the_order_of_records);
  RUN(a_visit_is_a_pure_function);
  RUN(ranks_are_scattered);
  RUN(stamps_of_a_mix_verify);
  RUN(queued_mixes_and_draws);
  RUN(distributions_refused);
  RUN(mixes_refused);
  return TEST_DONE();
}
