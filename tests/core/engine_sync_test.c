/* SPDX-License-Identifier: MIT */
/* The synchronous engines on a real disk, in memory, and on a loop device:
 * what one wrote, another must read. */
#include "core/sync_rig.h"

static void write_then_read_by_all(const char *below) {
  for (int w = 0; w < ENGINES; w++) {
    rig_open(below);
    struct sl_workload_spec write = spec_of(engines[w], SL_WRITE);
    write.flush = SL_FLUSH_END;
    uint64_t operations = write.vectors ? 13 : 38;
    RIG_RUN(&write, SL_END_COMPLETE);
    CHECK_EQ(rig_result->write.operations, operations);
    CHECK_EQ(rig_result->write.calls, operations);
    CHECK_EQ(rig_result->write.bytes, FILE_BYTES);
    CHECK_EQ(rig_result->file_bytes_after, FILE_BYTES);
    CHECK_EQ(rig_result->flushes, 1);
    for (int r = 0; r < ENGINES; r++) {
      for (int order = 0; order <= SL_ORDER_STRIDED; order++) {
        struct sl_workload_spec read = spec_of(engines[r], SL_READ);
        read.order = (enum sl_order_kind)order;
        read.verify = true;
        RIG_RUN(&read, SL_END_COMPLETE);
        CHECK_EQ(rig_result->read.bytes, FILE_BYTES);
        CHECK_EQ(rig_result->read.short_calls, 0);
        CHECK_EQ(rig_result->verified_sectors, FILE_BYTES / 512);
        CHECK_EQ(rig_result->bad_sectors, 0);
      }
    }
    struct sl_workload_spec mixed = spec_of(engines[w], SL_MIXED);
    mixed.verify = true;
    mixed.limit_records = 500;
    RIG_RUN(&mixed, SL_END_COMPLETE);
    CHECK_EQ(rig_result->bad_sectors, 0);
    CHECK_EQ(rig_result->read.operations + rig_result->write.operations, 500);
    rig_close();
  }
}

static void in_memory(void) { write_then_read_by_all("/dev/shm"); }
static void on_a_disk(void) { write_then_read_by_all("."); }

static void on_a_loop_device(void) {
  rig_open("/tmp");
  char device[64];
  if (!rig_loop(MIB, 512, device, sizeof device)) {
    rig_close();
    SKIP("no loop device");
  }
  struct sl_grant *grant = rig_grant(device);
  CHECK(grant != NULL);
  for (int i = 0; i < ENGINES; i++) {
    struct sl_workload_spec spec = spec_of(engines[i], SL_WRITE);
    spec.target.path = device;
    spec.range_bytes = 0;
    spec.flush = SL_FLUSH_END;
    spec.identity.generation = (uint32_t)i + 1;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->write.bytes, MIB);
    spec.operation = SL_READ;
    spec.verify = true;
    spec.range_bytes = 2 * MIB; /* more than there is */
    spec.order = SL_ORDER_SEQUENTIAL;
    RIG_RUN(&spec, SL_END_OF_DEVICE);
    CHECK_EQ(rig_result->read.bytes, MIB);
    CHECK_EQ(rig_result->bad_sectors, 0);
  }
  sl_gate_close(grant);
  rig_loop_end(device);
  rig_close();
}

static void notes_and_refusals(void) {
  rig_open("/dev/shm");
  rig_write(64 * KIB, 1);
  struct sl_workload_spec spec = spec_of("stdio", SL_READ);
  spec.range_bytes = 0;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->engine_note_count, 1);
  CHECK_STR(rig_result->engine_notes[0], "page_cache");
  spec.target.direct = true;
  RIG_REFUSED(&spec, -EINVAL, "page cache");
  spec.target.direct = false;
  spec.vectors = 2;
  RIG_REFUSED(&spec, -EINVAL, "one record at a time");
  spec.vectors = 0;
  spec.map_sync = SL_MAP_SYNC_RECORD;
  RIG_REFUSED(&spec, -EINVAL, "map_sync is for engine mmap");
  spec.engine = sl_engine_find("mmap");
  RIG_RUN(&spec, SL_END_COMPLETE);
  spec.target.sync = SL_OPEN_SYNC_FULL;
  RIG_REFUSED(&spec, -EINVAL, "set map_sync");
  spec = spec_of("psync", SL_READ);
  spec.queue_depth = 4;
  RIG_REFUSED(&spec, -EINVAL, "takes 1 at most");
  spec = spec_of("vsync", SL_READ);
  spec.range_bytes = 0;
  spec.vectors = 100; /* more than the file has: one call of what is there */
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.operations, 1);
  CHECK_EQ(rig_result->read.bytes, 64 * KIB);
  rig_close();
}

static void mmap_syncs_each_record(void) {
  rig_open(".");
  for (int sync = 0; sync <= SL_MAP_SYNC_RECORD; sync++) {
    struct sl_workload_spec spec = spec_of("mmap", SL_WRITE);
    spec.map_sync = (enum sl_map_sync)sync;
    spec.record_bytes = 512; /* msync wants pages, records need not be */
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->write.bytes, FILE_BYTES);
  }
  rig_close();
}

int main(void) {
  RUN(in_memory);
  RUN(on_a_disk);
  RUN(on_a_loop_device);
  RUN(notes_and_refusals);
  RUN(mmap_syncs_each_record);
  return TEST_DONE();
}
