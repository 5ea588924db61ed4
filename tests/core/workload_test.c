/* SPDX-License-Identifier: MIT */
/* Geometry, counts, limits, passes: what a workload does when all goes well. */
#include "core/io/workload.h"

#include "core/workload_rig.h"

static uint64_t file_size(void) {
  struct stat st;
  return stat(rig_file, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* True when sectors [first, end) of the file carry this generation. */
static bool carries(uint64_t first, uint64_t end, uint32_t generation) {
  int fd = open(rig_file, O_RDONLY | O_CLOEXEC);
  bool right = fd >= 0;
  for (uint64_t sector = first; right && sector < end; sector++) {
    unsigned char data[SL_SECTOR_BYTES];
    struct sl_stamp stamp = rig_stamp(sector * SL_SECTOR_BYTES, generation);
    right = pread(fd, data, sizeof data, (off_t)(sector * SL_SECTOR_BYTES)) ==
                SL_SECTOR_BYTES &&
            sl_stamp_compare(data, 1, &stamp) == 1;
  }
  close(fd);
  return right;
}

static void every_order_reaches_every_record_and_the_tail(void) {
  const enum sl_order_kind orders[] = {SL_ORDER_SEQUENTIAL, SL_ORDER_BACKWARD,
                                       SL_ORDER_RANDOM, SL_ORDER_STRIDED};
  const unsigned sectors[] = {8, 9, 15, 16, 64, 71, 8 * 37, 8 * 37 + 3};
  for (size_t o = 0; o < 4; o++) {
    for (size_t s = 0; s < sizeof sectors / sizeof *sectors; s++) {
      rig_open("/dev/shm");
      uint64_t bytes = sectors[s] * SL_SECTOR_BYTES;
      uint64_t records = (sectors[s] + 7) / 8;
      struct sl_workload_spec spec = rig_spec(SL_WRITE);
      spec.order = orders[o];
      spec.range_bytes = bytes;
      RIG_RUN(&spec, SL_END_COMPLETE);
      CHECK_EQ(rig_result->write.operations, records);
      CHECK_EQ(rig_result->write.calls, records);
      CHECK_EQ(rig_result->write.bytes, bytes);
      CHECK_EQ(rig_result->write.short_calls, 0);
      CHECK_EQ(rig_result->next_visit, records);
      CHECK_EQ(rig_result->passes, 1);
      CHECK_EQ(rig_result->file_bytes_after, bytes);
      CHECK_EQ(file_size(), bytes);
      CHECK(carries(0, sectors[s], 1));
      struct sl_workload_spec read = rig_spec(SL_READ);
      read.order = orders[o];
      read.verify = true;
      RIG_RUN(&read, SL_END_COMPLETE);
      CHECK_EQ(rig_result->read.operations, records);
      CHECK_EQ(rig_result->read.bytes, bytes);
      CHECK_EQ(rig_result->verified_sectors, sectors[s]);
      CHECK_EQ(rig_result->bad_sectors, 0);
      CHECK_EQ(rig_result->write.operations, 0);
      rig_close();
    }
  }
}

static void a_part_of_the_file_leaves_the_rest_alone(void) {
  rig_open("/dev/shm");
  rig_write(64 * KIB, 1);
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.range_offset = 8192;
  spec.range_bytes = 12 * KIB + 512;
  spec.identity.generation = 5;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK(carries(0, 16, 1));
  CHECK(carries(16, 41, 5));
  CHECK(carries(41, 128, 1));
  CHECK_EQ(rig_result->generation_last, 5);
  rig_close();
}

static void passes_write_the_next_generation(void) {
  rig_open("/dev/shm");
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.order = SL_ORDER_RANDOM;
  spec.range_bytes = 10 * 4096;
  spec.limit_records = 35; /* three passes and a half */
  spec.identity.generation = 7;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.operations, 35);
  CHECK_EQ(rig_result->passes, 3);
  CHECK_EQ(rig_result->next_visit, 35);
  CHECK_EQ(rig_result->generation_last, 10);
  struct sl_order order;
  sl_order_init(&order, SL_ORDER_RANDOM, 10, spec.seed, 1);
  for (uint64_t i = 0; i < 10; i++) {
    uint64_t sector = sl_order_at(&order, i) * 8;
    CHECK(carries(sector, sector + 8, i < 5 ? 10 : 9));
  }
  /* the other half, as a continuation */
  spec.first_visit = rig_result->next_visit;
  spec.limit_records = 0;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.operations, 5);
  CHECK_EQ(rig_result->next_visit, 40);
  CHECK(carries(0, 80, 10));
  rig_close();
}

static void limits_end_it(void) {
  rig_open("/dev/shm");
  rig_write(MIB, 1);
  struct sl_workload_spec spec = rig_spec(SL_READ);
  spec.limit_records = 1000;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.operations, 1000);
  spec.limit_bytes = 100 * 4096 + 100; /* never more than that */
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.bytes, 100 * 4096);
  spec.limit_records = spec.limit_bytes = 0;
  spec.limit_ns = 50000000;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK(rig_result->total_ns >= spec.limit_ns);
  CHECK(rig_result->read.operations > 0);
  CHECK_EQ(rig_result->read.bytes, rig_result->read.operations * 4096);
  rig_close();
}

static void times_are_parts_of_the_whole(void) {
  rig_open("/dev/shm");
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.range_bytes = 4 * MIB;
  spec.flush = SL_FLUSH_EVERY;
  spec.flush_every = 100;
  RIG_RUN(&spec, SL_END_COMPLETE);
  struct sl_workload_result *r = rig_result;
  CHECK_EQ(r->flushes, 11); /* 1024 writes: ten, and the rest in the end */
  CHECK_EQ(r->flush_latency.count, 11);
  CHECK_EQ(r->write.latency.count, 1024);
  CHECK_EQ((int64_t)r->write.latency.sum_ns, r->write.io_ns);
  CHECK(r->write.io_ns > 0 && r->fill_ns > 0 && r->open_ns > 0);
  CHECK(r->write.io_ns + r->flush_ns + r->fill_ns <= r->total_ns);
  CHECK(r->boot_start_ns > 0);
  spec.flush = SL_FLUSH_END;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(r->flushes, 1);
  struct sl_workload_spec read = rig_spec(SL_READ);
  read.verify = true;
  read.flush = SL_FLUSH_END;
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK_EQ(r->flushes, 0); /* nothing was written */
  CHECK(r->read.io_ns + r->verify_ns <= r->total_ns);
  rig_close();
}

static void the_series_sums_to_the_total(void) {
  rig_open("/dev/shm");
  rig_write(MIB, 1);
  struct sl_workload_spec spec = rig_spec(SL_READ);
  spec.limit_ns = 60000000;
  spec.interval_ns = 1000000;
  RIG_RUN(&spec, SL_END_COMPLETE);
  uint64_t bytes = 0, operations = 0;
  int64_t slowest = 0;
  CHECK(rig_result->series_count >= 30);
  for (unsigned i = 0; i < rig_result->series_count; i++) {
    const struct sl_series_point *p = &rig_result->series[i];
    bytes += p->bytes;
    operations += p->operations;
    if (p->max_ns > slowest) slowest = p->max_ns;
  }
  CHECK_EQ(bytes, rig_result->read.bytes);
  CHECK_EQ(operations, rig_result->read.operations);
  CHECK_EQ(slowest, rig_result->read.latency.max_ns);
  rig_close();
}

static void a_file_need_not_fit_the_record(void) {
  rig_open("/dev/shm");
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.record_bytes = 1000;
  spec.range_bytes = 10500;
  spec.order = SL_ORDER_BACKWARD;
  RIG_REFUSED(&spec, -EINVAL, "whole sectors");
  spec.stamp = false;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.operations, 11);
  CHECK_EQ(file_size(), 10500);
  /* a stamped range may end inside a sector */
  spec = rig_spec(SL_WRITE);
  spec.range_bytes = 10300;
  RIG_RUN(&spec, SL_END_COMPLETE);
  spec = rig_spec(SL_READ);
  spec.verify = true;
  spec.range_bytes = 10300;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->verified_sectors, 21);
  CHECK_EQ(rig_result->bad_sectors, 0);
  rig_close();
}

static int by_content(const void *a, const void *b) {
  return memcmp(a, b, SL_SECTOR_BYTES);
}

static void filler_never_repeats(void) {
  rig_open("/dev/shm");
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.stamp = false;
  spec.range_bytes = MIB;
  RIG_RUN(&spec, SL_END_COMPLETE);
  unsigned char *data = malloc(MIB);
  int fd = open(rig_file, O_RDONLY | O_CLOEXEC);
  CHECK_EQ(read(fd, data, MIB), MIB);
  close(fd);
  qsort(data, MIB / SL_SECTOR_BYTES, SL_SECTOR_BYTES, by_content);
  int repeated = 0;
  for (size_t i = 1; i < MIB / SL_SECTOR_BYTES; i++) {
    repeated += by_content(data + (i - 1) * SL_SECTOR_BYTES,
                           data + i * SL_SECTOR_BYTES) == 0;
  }
  CHECK_EQ(repeated, 0);
  free(data);
  rig_close();
}

static void the_tail_under_direct_io(void) {
  rig_open("."); /* a disk */
  rig_write(3 * 4096 + 1536, 1);
  struct sl_workload_spec spec = rig_spec(SL_READ);
  spec.target.direct = true;
  spec.verify = true;
  spec.order = SL_ORDER_BACKWARD;
  if (rig_run(&spec) == -EINVAL && strstr(rig_error.hint, "direct")) {
    rig_close();
    SKIP("no direct I/O in the build tree");
  }
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.bytes, 3 * 4096 + 1536);
  CHECK_EQ(rig_result->bad_sectors, 0);
  CHECK_EQ(rig_result->read.short_calls, 0);
  /* an odd end of file is read, not written */
  CHECK_EQ(truncate(rig_file, 3 * 4096 + 100), 0);
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.bytes, 3 * 4096 + 100);
  CHECK_EQ(rig_result->verified_sectors, 25);
  struct sl_workload_spec write = rig_spec(SL_WRITE);
  write.target.direct = true;
  RIG_REFUSED(&write, -EINVAL, "set range_bytes to 12288");
  CHECK_EQ(file_size(), 3 * 4096 + 100);
  spec.record_bytes = 4096 + 256;
  spec.verify = false;
  RIG_REFUSED(&spec, -EINVAL, "record_bytes is 4352");
  rig_close();
}

static void what_does_not_fit_is_refused(void) {
  rig_open("/dev/shm");
  rig_write(2048, 1);
  struct sl_workload_spec spec = rig_spec(SL_READ);
  RIG_REFUSED(&spec, -EINVAL, "2048");
  CHECK(strstr(rig_error.hint, "4096") != NULL);
  spec.range_bytes = 1024;
  RIG_REFUSED(&spec, -EINVAL, "range_bytes 1024 is smaller");
  spec.range_bytes = 0;
  spec.range_offset = 8192; /* behind the end */
  RIG_REFUSED(&spec, -EINVAL, "0 bytes from offset 8192");
  spec = rig_spec(SL_WRITE);
  spec.target.create = false;
  spec.target.path = "/dev/shm/storlua-no-such-file";
  CHECK_EQ(rig_run(&spec), -ENOENT);
  rig_close();
}

int main(void) {
  RUN(every_order_reaches_every_record_and_the_tail);
  RUN(a_part_of_the_file_leaves_the_rest_alone);
  RUN(passes_write_the_next_generation);
  RUN(limits_end_it);
  RUN(times_are_parts_of_the_whole);
  RUN(the_series_sums_to_the_total);
  RUN(a_file_need_not_fit_the_record);
  RUN(filler_never_repeats);
  RUN(the_tail_under_direct_io);
  RUN(what_does_not_fit_is_refused);
  return TEST_DONE();
}
