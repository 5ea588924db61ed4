/* SPDX-License-Identifier: MIT */
/* Trim: on files and loop devices, what is left, what is refused. */
#include "core/workload_rig.h"

static struct sl_workload_spec trim_spec(void) {
  struct sl_workload_spec spec = rig_spec(SL_TRIM);
  spec.target.create = spec.stamp = false;
  spec.verify = true;
  spec.record_bytes = 64 * KIB;
  return spec;
}

static void check_range(uint64_t offset, uint64_t bytes, bool zero) {
  int fd = open(rig_file, O_RDONLY | O_CLOEXEC);
  char sector[512], nothing[512] = {0};
  uint64_t wrong = 0;
  for (uint64_t at = offset; at < offset + bytes; at += 512) {
    CHECK_EQ(pread(fd, sector, 512, (off_t)at), 512);
    wrong += (memcmp(sector, nothing, 512) == 0) != zero;
  }
  CHECK_EQ(wrong, 0);
  close(fd);
}

static void a_file_gets_holes(void) {
  rig_open("/var/tmp");
  rig_write(2 * MIB, 1);
  struct stat before, after;
  CHECK_EQ(stat(rig_file, &before), 0);
  struct sl_workload_spec spec = trim_spec();
  spec.range_offset = MIB / 2;
  spec.range_bytes = MIB;
  spec.order = SL_ORDER_RANDOM;
  spec.flush = SL_FLUSH_END;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->trim.operations, 16);
  CHECK_EQ(rig_result->trim.bytes, MIB);
  CHECK_EQ(rig_result->trim.latency.count, 16);
  CHECK_EQ(rig_result->write.operations + rig_result->read.operations, 0);
  CHECK_EQ(rig_result->flushes, 1);
  CHECK(rig_result->trim_facts.is_zero_promised);
  CHECK_EQ(rig_result->verified_sectors, MIB / 512);
  CHECK_EQ(rig_result->zero_sectors, MIB / 512);
  CHECK_EQ(rig_result->bad_sectors, 0);
  CHECK_EQ(stat(rig_file, &after), 0);
  CHECK_EQ(after.st_size, before.st_size);
  CHECK(after.st_blocks < before.st_blocks);
  check_range(0, MIB / 2, false);
  check_range(MIB / 2, MIB, true);
  check_range(MIB + MIB / 2, MIB / 2, false);
  rig_close();
}

/* Draws come back to records; only what was touched is a hole, and all of
 * what is read back is. */
static void drawn_trims_of_several_sizes(void) {
  rig_open("/tmp");
  rig_write(4 * MIB, 1);
  struct sl_workload_spec spec = trim_spec();
  spec.order = SL_ORDER_RANDOM;
  spec.size_mix[0].record_bytes = 4 * KIB;
  spec.size_mix[0].percent = 50;
  spec.size_mix[1].record_bytes = 64 * KIB;
  spec.size_mix[1].percent = 50;
  spec.distribution = (struct sl_distribution_spec){
      .kind = SL_ZONED, .zone_count = 2, .zones = {{100, 50, 0}, {0, 50, 0}}};
  spec.limit_records = 500;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->trim.operations, 500);
  CHECK(rig_result->verified_sectors >= 64 * 8);
  CHECK_EQ(rig_result->bad_sectors, 0);
  check_range(2 * MIB, 2 * MIB, false);
  rig_close();
}

/* Each record is trimmed once and then written once: in the end all of it is
 * there, as if only written. */
static void trim_and_write(void) {
  rig_open("/tmp");
  rig_write(MIB, 1);
  struct sl_workload_spec spec = rig_spec(SL_TRIM_WRITE);
  spec.target.create = false;
  spec.order = SL_ORDER_RANDOM;
  spec.range_bytes = MIB;
  spec.identity.generation = 2;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->trim.operations, 256);
  CHECK_EQ(rig_result->write.operations, 256);
  CHECK_EQ(rig_result->trim.bytes + rig_result->write.bytes, 2 * MIB);
  CHECK_EQ(rig_result->passes, 1);
  CHECK_EQ(rig_result->next_visit, 512);
  CHECK_EQ(rig_result->generation_last, 2);
  struct sl_workload_spec read = rig_spec(SL_READ);
  read.verify = true;
  read.identity.generation = 2;
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK_EQ(rig_result->bad_sectors, 0);
  /* Stopped between the two, the record is a hole; going on writes it. */
  spec.order = SL_ORDER_SEQUENTIAL;
  spec.limit_records = 7;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.operations, 3);
  check_range(3 * 4096, 4096, true);
  check_range(4 * 4096, 4096, false);
  spec.first_visit = 7;
  spec.limit_records = 1;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.bytes, 4096);
  CHECK_EQ(rig_result->trim.operations, 0);
  check_range(3 * 4096, 4096, false);
  /* An odd tail belongs to it too. */
  spec = rig_spec(SL_TRIM_WRITE);
  spec.target.create = spec.stamp = false;
  spec.range_bytes = MIB - 512;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->trim.bytes, MIB - 512);
  CHECK_EQ(rig_result->write.bytes, MIB - 512);
  rig_close();
}

/* Nothing grows and nothing is trimmed behind the end. */
static void the_end_of_a_file(void) {
  rig_open("/tmp");
  rig_write(MIB, 1);
  struct sl_workload_spec spec = trim_spec();
  spec.order = SL_ORDER_BACKWARD;
  spec.range_bytes = 4 * MIB;
  RIG_RUN(&spec, SL_END_OF_DEVICE);
  CHECK_EQ(rig_result->trim.bytes, MIB);
  CHECK_EQ(rig_result->file_bytes_after, MIB);
  rig_close();
}

static void a_loop_device_is_trimmed(void) {
  if (geteuid() != 0) SKIP("loop devices need root");
  char device[64];
  rig_open("/var/tmp");
  if (!rig_loop(8 * MIB, 512, device, sizeof device)) {
    rig_close();
    SKIP("no loop device");
  }
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.target.path = device;
  spec.target.create = false;
  spec.flush = SL_FLUSH_END;
  struct sl_workload_spec trim = trim_spec();
  trim.target.path = device;
  RIG_REFUSED(&trim, SL_REFUSED, ""); /* no grant: nothing is trimmed */
  struct sl_grant *grant = rig_grant(device);
  CHECK(grant != NULL);
  if (grant) {
    RIG_RUN(&spec, SL_END_COMPLETE);
    trim.range_offset = 2 * MIB;
    trim.range_bytes = 4 * MIB;
    trim.target.direct = true;
    RIG_RUN(&trim, SL_END_COMPLETE);
    CHECK_EQ(rig_result->trim.bytes, 4 * MIB);
    CHECK(rig_result->trim_facts.is_zero_promised);
    CHECK_EQ(rig_result->zero_sectors, 4 * MIB / 512);
    spec = rig_spec(SL_READ);
    spec.target.path = device;
    spec.verify = true;
    spec.range_bytes = 2 * MIB;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->bad_sectors, 0);
    spec.range_offset = 6 * MIB;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->bad_sectors, 0);
    /* Pages that are dirty or on their way are no obstacle. */
    spec = rig_spec(SL_TRIM_WRITE);
    spec.target.path = device;
    spec.target.create = false;
    spec.order = SL_ORDER_RANDOM;
    spec.limit_records = 4 * 8 * MIB / 4096;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->trim.operations, 2 * 8 * MIB / 4096);
    sl_gate_close(grant);
  }
  rig_loop_end(device);
  rig_close();
}

/* ramfs punches no holes, so a loop device on it discards nothing. */
static void where_it_cannot_be_had(void) {
  char device[64];
  rig_open("/tmp");
  if (!rig_mount("ramfs", NULL)) {
    rig_close();
    SKIP("mounting needs root");
  }
  rig_write(MIB, 1);
  struct sl_workload_spec spec = trim_spec();
  RIG_REFUSED(&spec, -EOPNOTSUPP, "punches no holes");
  check_range(0, MIB, false);
  if (rig_loop(8 * MIB, 512, device, sizeof device)) {
    struct sl_grant *grant = rig_grant(device);
    CHECK(grant != NULL);
    spec.target.path = device;
    RIG_REFUSED(&spec, -EOPNOTSUPP, "has no discard");
    if (grant) sl_gate_close(grant);
    rig_loop_end(device);
  }
  rig_unmount();
  rig_close();
}

static void refused(struct sl_workload_spec *spec, const char *text) {
  struct sl_error e = {0};
  CHECK_EQ(sl_workload_check(spec, &e), -EINVAL);
  if (!strstr(e.hint, text)) printf("  the hint is: %s\n", e.hint);
  CHECK(strstr(e.hint, text) != NULL);
  *spec = trim_spec();
}

static void what_is_refused(void) {
  struct sl_workload_spec spec = trim_spec();
  CHECK_EQ(sl_workload_check(&spec, NULL), 0);
  spec.stamp = true;
  refused(&spec, "no stamps");
  spec.engine = sl_engine_find("mmap");
  refused(&spec, "does not trim");
  spec.target.create = true;
  refused(&spec, "neither creates");
  spec.continue_on_error = true;
  refused(&spec, "continue_on_error");
  spec.operation = SL_TRIM_WRITE;
  refused(&spec, "reads nothing");
}

int main(void) {
  RUN(a_file_gets_holes);
  RUN(drawn_trims_of_several_sizes);
  RUN(trim_and_write);
  RUN(the_end_of_a_file);
  RUN(a_loop_device_is_trimmed);
  RUN(where_it_cannot_be_had);
  RUN(what_is_refused);
  return TEST_DONE();
}
