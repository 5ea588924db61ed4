/* SPDX-License-Identifier: MIT */
/* Damage is planted behind the workload's back and must be found: the right
 * kind, at the right place, and nothing else. */
#include "core/workload_rig.h"

enum { FILE_BYTES = 256 * 1024, BAD_AT = 77 * 512 };

static void planted(const void *data, enum sl_damage wanted) {
  rig_open("/dev/shm");
  rig_write(FILE_BYTES, 4);
  rig_plant(BAD_AT, data, SL_SECTOR_BYTES);
  const enum sl_order_kind orders[] = {SL_ORDER_SEQUENTIAL, SL_ORDER_RANDOM};
  for (size_t i = 0; i < 2; i++) {
    struct sl_workload_spec spec = rig_spec(SL_READ);
    spec.verify = true;
    spec.order = orders[i];
    spec.record_bytes = 16 * KIB;
    spec.identity.generation = 4;
    RIG_RUN(&spec, SL_END_COMPLETE);
    struct sl_workload_result *r = rig_result;
    CHECK_EQ(r->bad_sectors, 1);
    CHECK_EQ(r->damage[wanted], 1);
    CHECK_EQ(r->verified_sectors, FILE_BYTES / SL_SECTOR_BYTES);
    CHECK_EQ(r->bad_count, 1);
    if (r->bad_count != 1) continue;
    CHECK_EQ(r->bad[0].offset, BAD_AT);
    CHECK_STR(sl_damage_name(r->bad[0].verdict.damage), sl_damage_name(wanted));
    CHECK(memcmp(r->bad[0].found, data, SL_SECTOR_BYTES) == 0);
    struct sl_stamp right = rig_stamp(BAD_AT, 4);
    CHECK_EQ(sl_stamp_compare(r->bad[0].wanted, 1, &right), 1);
    CHECK_EQ(r->bad[0].expected.address, BAD_AT / SL_SECTOR_BYTES);
    CHECK_EQ(r->bad[0].expected.generation, 4);
  }
  rig_close();
}

static void planted_stamp(struct sl_stamp stamp, enum sl_damage wanted) {
  unsigned char data[SL_SECTOR_BYTES];
  sl_stamp_fill(data, 1, &stamp);
  planted(data, wanted);
}

static void a_lost_write_is_stale(void) {
  planted_stamp(rig_stamp(BAD_AT, 3), SL_DAMAGE_STALE);
}

static void a_write_from_the_future_is_newer(void) {
  planted_stamp(rig_stamp(BAD_AT, 5), SL_DAMAGE_NEWER);
}

static void a_misdirected_write_has_another_address(void) {
  planted_stamp(rig_stamp(BAD_AT + 8192, 4), SL_DAMAGE_ADDRESS);
}

static void another_run_target_or_writer(void) {
  struct sl_stamp stamp = rig_stamp(BAD_AT, 4);
  stamp.run ^= 1;
  planted_stamp(stamp, SL_DAMAGE_RUN);
  stamp = rig_stamp(BAD_AT, 4);
  stamp.target++;
  planted_stamp(stamp, SL_DAMAGE_RUN);
  stamp = rig_stamp(BAD_AT, 4);
  stamp.writer++;
  planted_stamp(stamp, SL_DAMAGE_RUN);
}

static void blanks(void) {
  unsigned char data[SL_SECTOR_BYTES];
  memset(data, 0, sizeof data);
  planted(data, SL_DAMAGE_ZERO);
  memset(data, 0xff, sizeof data);
  planted(data, SL_DAMAGE_ONES);
}

static void torn_flipped_and_garbage(void) {
  unsigned char right[SL_SECTOR_BYTES], data[SL_SECTOR_BYTES];
  struct sl_stamp stamp = rig_stamp(BAD_AT, 4), old = rig_stamp(BAD_AT, 3);
  sl_stamp_fill(right, 1, &stamp);
  sl_stamp_fill(data, 1, &old);
  memcpy(data, right, 300);
  planted(data, SL_DAMAGE_TORN);
  memcpy(data, right, sizeof data);
  data[400] ^= 0x10;
  planted(data, SL_DAMAGE_FLIPS);
  uint64_t state = 1;
  for (size_t i = 0; i < sizeof data; i++) {
    data[i] = (unsigned char)sl_random_next(&state);
  }
  planted(data, SL_DAMAGE_GARBAGE);
}

static void many_bad_sectors_are_counted_and_the_first_kept(void) {
  rig_open("/dev/shm");
  rig_write(FILE_BYTES, 4);
  unsigned char zero[20 * SL_SECTOR_BYTES] = {0};
  rig_plant(100 * SL_SECTOR_BYTES, zero, sizeof zero);
  struct sl_workload_spec spec = rig_spec(SL_READ);
  spec.verify = true;
  spec.identity.generation = 4;
  spec.bad_kept = 3;
  struct sl_workload_progress progress;
  memset(&progress, 0, sizeof progress);
  sl_workload_result_release(rig_result);
  CHECK_EQ(
      sl_workload_run(&spec, NULL, NULL, &progress, rig_result, &rig_error), 0);
  CHECK_EQ(rig_result->bad_sectors, 20);
  CHECK_EQ(rig_result->damage[SL_DAMAGE_ZERO], 20);
  CHECK_EQ(atomic_load(&progress.bad_sectors), 20);
  CHECK_EQ(rig_result->bad_count, 3);
  for (unsigned i = 0; i < 3; i++) {
    CHECK_EQ(rig_result->bad[i].offset, (100 + i) * SL_SECTOR_BYTES);
  }
  spec.bad_kept = 0;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->bad_sectors, 20);
  CHECK_EQ(rig_result->bad_count, 0);
  rig_close();
}

/* A rewrite from generation 1 to 2 that was cut: both are legal in its range,
 * and the range begins and ends inside records. */
static void legal_ranges_split_records(void) {
  rig_open("/dev/shm");
  rig_write(FILE_BYTES, 1);
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.record_bytes = 512;
  spec.range_offset = 20 * 512;
  spec.range_bytes = 40 * 512;
  spec.identity.generation = 2;
  spec.order = SL_ORDER_RANDOM;
  spec.limit_records = 25;
  RIG_RUN(&spec, SL_END_COMPLETE);

  struct sl_legal legal[] = {{.offset = 10 * 512,
                              .length = 10 * 512,
                              .generation_min = 1,
                              .generation_max = 1},
                             {.offset = 20 * 512,
                              .length = 40 * 512,
                              .generation_min = 1,
                              .generation_max = 2}};
  struct sl_workload_spec read = rig_spec(SL_READ);
  read.verify = true;
  read.record_bytes = 16 * KIB; /* 32 sectors */
  read.legal = legal;
  read.legal_count = 2;
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK_EQ(rig_result->verified_sectors, FILE_BYTES / SL_SECTOR_BYTES);
  CHECK_EQ(rig_result->bad_sectors, 0);
  CHECK_EQ(rig_result->old_sectors, 15);
  /* one sector less is legal: the new ones there are newer than allowed */
  legal[1].generation_max = 1;
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK_EQ(rig_result->damage[SL_DAMAGE_NEWER], 25);
  CHECK_EQ(rig_result->old_sectors, 0);
  /* only the new one is */
  legal[1].generation_min = legal[1].generation_max = 2;
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK_EQ(rig_result->damage[SL_DAMAGE_STALE], 15);
  CHECK_EQ(rig_result->bad_sectors, 15);
  rig_close();
}

/* The first layout was cut: what was not reached is a hole. */
static void zeros_are_legal_where_nothing_was_written(void) {
  rig_open("/dev/shm");
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.target.size_bytes = FILE_BYTES;
  spec.order = SL_ORDER_RANDOM;
  spec.limit_records = 20;
  RIG_RUN(&spec, SL_END_COMPLETE);
  struct sl_legal legal = {.length = FILE_BYTES,
                           .generation_min = 1,
                           .generation_max = 1,
                           .zero_ok = true};
  struct sl_workload_spec read = rig_spec(SL_READ);
  read.verify = true;
  read.legal = &legal;
  read.legal_count = 1;
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK_EQ(rig_result->bad_sectors, 0);
  CHECK_EQ(rig_result->zero_sectors, FILE_BYTES / 512 - 20 * 8);
  CHECK_EQ(rig_result->verified_sectors, FILE_BYTES / 512);
  legal.zero_ok = false;
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK_EQ(rig_result->damage[SL_DAMAGE_ZERO], FILE_BYTES / 512 - 20 * 8);
  CHECK_EQ(rig_result->zero_sectors, 0);
  rig_close();
}

static void a_mixed_run_knows_what_it_wrote(void) {
  rig_open("/dev/shm");
  rig_write(FILE_BYTES, 6);
  struct sl_workload_spec spec = rig_spec(SL_MIXED);
  spec.verify = true;
  spec.order = SL_ORDER_RANDOM;
  spec.identity.generation = 6;
  spec.read_percent = 70;
  spec.limit_records = 64 * 9 + 5;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->bad_sectors, 0);
  CHECK_EQ(rig_result->verified_sectors, rig_result->read.operations * 8);
  CHECK_EQ(rig_result->read.operations + rig_result->write.operations,
           64 * 9 + 5);
  CHECK(rig_result->read.operations > rig_result->write.operations);
  /* a sector of the generation before the run began is now stale */
  unsigned char data[SL_SECTOR_BYTES];
  struct sl_stamp stamp = rig_stamp(0, 5);
  sl_stamp_fill(data, 1, &stamp);
  rig_plant(0, data, sizeof data);
  spec.read_percent = 100;
  spec.order = SL_ORDER_SEQUENTIAL;
  spec.limit_records = 1;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->damage[SL_DAMAGE_STALE], 1);
  rig_close();
}

static void the_part_of_a_sector_at_the_end(void) {
  rig_open("/dev/shm");
  rig_write(8192, 3);
  CHECK_EQ(truncate(rig_file, 8000), 0);
  struct sl_workload_spec spec = rig_spec(SL_READ);
  spec.verify = true;
  spec.identity.generation = 3;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->verified_sectors, 16);
  CHECK_EQ(rig_result->bad_sectors, 0);
  struct sl_legal legal = {
      .length = 8192, .generation_min = 2, .generation_max = 4};
  spec.legal = &legal;
  spec.legal_count = 1;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->bad_sectors, 0);
  CHECK_EQ(rig_result->old_sectors, 16);
  rig_plant(7999, "x", 1);
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->bad_sectors, 1);
  CHECK_EQ(rig_result->damage[SL_DAMAGE_FLIPS], 1);
  if (rig_result->bad_count) CHECK_EQ(rig_result->bad[0].offset, 7680);
  rig_close();
}

int main(void) {
  RUN(a_lost_write_is_stale);
  RUN(a_write_from_the_future_is_newer);
  RUN(a_misdirected_write_has_another_address);
  RUN(another_run_target_or_writer);
  RUN(blanks);
  RUN(torn_flipped_and_garbage);
  RUN(many_bad_sectors_are_counted_and_the_first_kept);
  RUN(legal_ranges_split_records);
  RUN(zeros_are_legal_where_nothing_was_written);
  RUN(a_mixed_run_knows_what_it_wrote);
  RUN(the_part_of_a_sector_at_the_end);
  return TEST_DONE();
}
