/* SPDX-License-Identifier: MIT */
/* How a workload with a queued engine ends: at the tail, at the end of a
 * device, on a full disk, by errors. */
#include <signal.h>
#include <sys/resource.h>

#include "core/queue_rig.h"

static void the_tail_under_direct_io(void) {
  for (int i = 0; i < ENGINES; i++) {
    if (!have(engines[i])) continue;
    rig_open(".");
    rig_write(13 * 4096 + 1536, 1);
    CHECK_EQ(truncate(rig_file, 13 * 4096 + 100), 0);
    struct sl_workload_spec spec = spec_of(engines[i], SL_READ, 8);
    spec.target.direct = true;
    spec.verify = true;
    if (rig_run(&spec) == -EINVAL && strstr(rig_error.hint, "direct")) {
      rig_close();
      SKIP("no direct I/O in the build tree");
    }
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->read.bytes, 13 * 4096 + 100);
    CHECK_EQ(rig_result->bad_sectors, 0);
    CHECK_EQ(rig_result->read.short_calls, 0);
    rig_close();
  }
}

static void the_end_of_a_device(void) {
  rig_open("/tmp");
  char device[64];
  if (!rig_loop(MIB + 1536, 512, device, sizeof device)) {
    rig_close();
    SKIP("no loop device");
  }
  struct sl_grant *grant = rig_grant(device);
  CHECK(grant != NULL);
  for (int i = 0; i < 2 * ENGINES; i++) {
    if (!have(engines[i / 2])) continue;
    struct sl_workload_spec spec = spec_of(engines[i / 2], SL_WRITE, 16);
    spec.order = i % 2 ? SL_ORDER_SEQUENTIAL : SL_ORDER_BACKWARD;
    spec.target.path = device;
    spec.target.direct = true;
    spec.identity.generation = 1 + (unsigned)i;
    spec.range_bytes = 2 * MIB;
    RIG_RUN(&spec, SL_END_OF_DEVICE);
    CHECK_EQ(rig_result->write.bytes, MIB + 1536);
    CHECK_EQ(rig_result->errors_total, 0);
    spec.operation = SL_READ;
    spec.verify = true;
    RIG_RUN(&spec, SL_END_OF_DEVICE);
    CHECK_EQ(rig_result->read.bytes, MIB + 1536);
    CHECK_EQ(rig_result->bad_sectors, 0);
  }
  sl_gate_close(grant);
  rig_loop_end(device);
  rig_close();
}

static void a_full_disk(void) {
  for (int i = 0; i < ENGINES; i++) {
    if (!have(engines[i])) continue;
    rig_open("/tmp");
    if (!rig_mount("tmpfs", "size=2m")) {
      rig_close();
      SKIP("mounting needs root");
    }
    struct sl_workload_spec spec = spec_of(engines[i], SL_WRITE, 8);
    spec.order = SL_ORDER_SEQUENTIAL;
    spec.record_bytes = 12 * KIB;
    spec.range_bytes = 64 * MIB;
    spec.flush = SL_FLUSH_END;
    RIG_RUN(&spec, SL_END_NO_SPACE);
    CHECK_EQ(rig_result->error.code, -ENOSPC);
    CHECK_EQ(rig_result->write.bytes, 2 * MIB);
    /* later ones may have got the room of an earlier one */
    CHECK(rig_result->next_visit <= 2 * MIB / (12 * KIB));
    rig_unmount();
    rig_close();
  }
}

static void errors_are_counted_truly(void) {
  struct rlimit before, small;
  CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 64 * KIB;
  signal(SIGXFSZ, SIG_IGN);
  for (int i = 0; i < ENGINES; i++) {
    if (!have(engines[i])) continue;
    rig_open("/dev/shm");
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct sl_workload_spec spec = spec_of(engines[i], SL_WRITE, 8);
    spec.range_bytes = 128 * KIB;
    spec.continue_on_error = true;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->write.operations, 16);
    CHECK_EQ(rig_result->errors_total, 16);
    CHECK_EQ(rig_result->error_count, 1);
    CHECK_EQ(rig_result->errors[0].code, -EFBIG);
    CHECK_EQ(rig_result->errors[0].count, 16);
    CHECK_EQ(rig_result->next_visit, 32);
    spec.continue_on_error = false;
    spec.order = SL_ORDER_SEQUENTIAL;
    RIG_RUN(&spec, SL_END_ERROR);
    CHECK_EQ(rig_result->error.code, -EFBIG);
    CHECK(rig_result->errors_total >= 1 && rig_result->errors_total <= 8);
    CHECK_EQ(rig_result->write.bytes, 64 * KIB);
    /* the limit of records is reached while failures are still under way */
    spec.limit_records = 20;
    RIG_RUN(&spec, SL_END_ERROR);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    rig_close();
  }
}

int main(void) {
  RUN(the_tail_under_direct_io);
  RUN(the_end_of_a_device);
  RUN(a_full_disk);
  RUN(errors_are_counted_truly);
  return TEST_DONE();
}
