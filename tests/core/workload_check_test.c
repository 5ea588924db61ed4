/* SPDX-License-Identifier: MIT */
/* What is refused before anything is touched, and whether the hint says so. */
#include "core/workload_rig.h"

static struct sl_workload_spec spec;

static void refused(const char *text) {
  struct sl_error e = {0};
  CHECK_EQ(sl_workload_check(&spec, &e), -EINVAL);
  CHECK_EQ(e.code, -EINVAL);
  if (!strstr(e.hint, text)) printf("  the hint is: %s\n", e.hint);
  CHECK(strstr(e.hint, text) != NULL);
  spec = rig_spec(SL_READ);
}

static void sane_specs_pass(void) {
  struct sl_error e = {0};
  for (int operation = SL_READ; operation <= SL_MIXED; operation++) {
    spec = rig_spec((enum sl_operation)operation);
    CHECK_EQ(sl_workload_check(&spec, &e), 0);
  }
}

static void records_and_ranges(void) {
  spec = rig_spec(SL_READ);
  spec.record_bytes = 0;
  refused("record_bytes is 0");
  spec.record_bytes = UINT64_C(1) << 40;
  refused("1099511627776");
  spec.range_bytes = 100;
  refused("range_bytes 100 is smaller than record_bytes 4096");
  spec.limit_bytes = 4095;
  refused("limit_bytes 4095 is smaller");
  spec.range_offset = UINT64_MAX;
  refused("past the largest file");
  spec.range_offset = INT64_MAX;
  spec.range_bytes = 8192;
  refused("past the largest file");
}

static void stamps_need_sectors(void) {
  spec = rig_spec(SL_READ);
  spec.verify = true;
  spec.record_bytes = 1000;
  refused("whole sectors");
  spec.verify = true;
  spec.range_offset = 4;
  refused("range_offset 4");
  spec.verify = true;
  spec.identity.generation = 0;
  refused("generation 0");
  spec.record_bytes = 1000; /* nothing is stamped, nothing compared */
  CHECK_EQ(sl_workload_check(&spec, NULL), 0);
}

static void engines_and_paths(void) {
  spec = rig_spec(SL_READ);
  spec.engine = NULL;
  refused("engine is missing");
  spec.target.path = NULL;
  refused("path");
  spec.target.path = "";
  refused("path");
  spec.queue_depth = 4;
  refused("queue_depth 4");
}

static void operations(void) {
  spec = rig_spec(SL_MIXED);
  spec.read_percent = 101;
  refused("read_percent is 101");
  spec = rig_spec(SL_WRITE);
  spec.verify = true;
  refused("reads nothing");
  spec = rig_spec(SL_MIXED);
  spec.verify = true;
  spec.stamp = false;
  refused("must write stamps");
  spec = rig_spec(SL_MIXED);
  spec.verify = spec.continue_on_error = true;
  refused("continue_on_error");
  spec.order = SL_ORDER_STRIDED;
  spec.stride_records = 0;
  refused("stride_records is 0");
  spec.flush = SL_FLUSH_EVERY;
  refused("flush_every is 0");
}

static void limits(void) {
  spec = rig_spec(SL_READ);
  spec.limit_ns = -1;
  refused("negative");
  spec.interval_ns = 10;
  refused("1 ms");
  spec.bad_kept = 65;
  refused("bad_kept 65");
}

static void legal_ranges(void) {
  struct sl_legal legal[] = {
      {.offset = 0, .length = 1024, .generation_min = 1, .generation_max = 1},
      {.offset = 512, .length = 512, .generation_min = 1, .generation_max = 1}};
  spec = rig_spec(SL_READ);
  spec.legal = legal;
  spec.legal_count = 2;
  refused("legal range 2 at 512 overlaps");
  legal[1].offset = 1000;
  spec.legal = legal;
  spec.legal_count = 2;
  refused("whole sectors");
  legal[1].offset = 1024;
  legal[1].generation_min = 2;
  spec.legal = legal;
  spec.legal_count = 2;
  refused("generation_min 2");
  legal[1].generation_max = 2;
  spec.legal = legal;
  spec.legal_count = 2;
  CHECK_EQ(sl_workload_check(&spec, NULL), 0);
}

int main(void) {
  strcpy(rig_file, "/nowhere/data"); /* is not opened */
  RUN(sane_specs_pass);
  RUN(records_and_ranges);
  RUN(stamps_need_sectors);
  RUN(engines_and_paths);
  RUN(operations);
  RUN(limits);
  RUN(legal_ranges);
  return TEST_DONE();
}
