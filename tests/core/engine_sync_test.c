/* SPDX-License-Identifier: MIT */
/* The synchronous engines on a real disk, in memory, and on a loop device:
 * what one wrote, another must read; what goes wrong is said with its place. */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/io/bus_guard.h"
#include "core/workload_rig.h"

static const char *const engines[] = {"psync", "sync", "vsync", "stdio",
                                      "mmap"};
enum { ENGINES = 5, FILE_BYTES = 37 * 4096 + 1536 };

static struct sl_workload_spec spec_of(const char *engine,
                                       enum sl_operation operation) {
  struct sl_workload_spec spec = rig_spec(operation);
  spec.engine = sl_engine_find(engine);
  if (strcmp(engine, "vsync") == 0) spec.vectors = 3;
  spec.range_bytes = FILE_BYTES;
  spec.order = SL_ORDER_RANDOM;
  return spec;
}

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

/* --- faults --- */

/* Each engine says that the disk is full, and where. */
static void fill_up(void) {
  for (int i = 0; i < ENGINES; i++) {
    struct sl_workload_spec spec = spec_of(engines[i], SL_WRITE);
    spec.order = SL_ORDER_SEQUENTIAL;
    spec.vectors = 0;
    spec.range_bytes = 64 * MIB;
    spec.record_bytes = 12 * KIB; /* the end is inside a record */
    unlink(rig_file);
    RIG_RUN(&spec, SL_END_NO_SPACE);
    CHECK_EQ(rig_result->error.code, -ENOSPC);
    uint64_t written = rig_result->write.bytes;
    CHECK(written > 0);
    CHECK_EQ(rig_result->error.offset, written);
    if (strcmp(engines[i], "stdio") == 0) { /* part of it was only buffered */
      CHECK(rig_result->file_bytes_after + spec.record_bytes > written);
      if (rig_result->file_bytes_after < written) {
        written = rig_result->file_bytes_after;
      }
    }
    struct sl_workload_spec read = spec_of(engines[i], SL_READ);
    read.order = SL_ORDER_SEQUENTIAL;
    read.vectors = 0;
    read.verify = true;
    read.range_bytes = written / 4096 * 4096;
    RIG_RUN(&read, SL_END_COMPLETE);
    CHECK_EQ(rig_result->bad_sectors, 0);
  }
}

static void a_full_tmpfs(void) {
  rig_open("/tmp");
  if (!rig_mount("tmpfs", "size=2m")) {
    rig_close();
    SKIP("mounting needs root");
  }
  fill_up();
  rig_unmount();
  rig_close();
}

static void a_full_ext4(void) {
  rig_open("/tmp");
  char device[64], command[700];
  if (!rig_loop(8 * MIB, 512, device, sizeof device)) {
    rig_close();
    SKIP("no loop device");
  }
  snprintf(command, sizeof command,
           "mkfs.ext4 -q -O ^has_journal %s 2>/dev/null", device);
  CHECK(rig_command(command, NULL, 0));
  char at[400];
  snprintf(at, sizeof at, "%s/mnt", rig_dir);
  CHECK_EQ(mkdir(at, 0700), 0);
  bool mounted = mount(device, at, "ext4", 0, NULL) == 0;
  CHECK(mounted);
  if (mounted) {
    snprintf(rig_file, sizeof rig_file, "%.280s/data", at);
    fill_up();
    unlink(rig_file);
    CHECK_EQ(umount2(at, MNT_DETACH), 0);
  }
  snprintf(rig_file, sizeof rig_file, "%s/data", rig_dir);
  rmdir(at);
  rig_loop_end(device);
  rig_close();
}

static struct sl_workload_progress progress;

static void *cutter(void *arg) {
  while (atomic_load(&progress.operations) < 100)
    usleep(1000);
  CHECK_EQ(truncate(arg, 20 * 4096), 0);
  return NULL;
}

/* The file is cut under a mapping; psync sees the end, so does mmap. */
static void a_file_cut_under_the_mapping(void) {
  for (int i = 0; i < 2; i++) {
    rig_open("/dev/shm");
    rig_write(FILE_BYTES / 4096 * 4096, 1);
    struct sl_workload_spec spec = spec_of("mmap", i ? SL_WRITE : SL_READ);
    spec.order = SL_ORDER_SEQUENTIAL;
    spec.limit_ns = INT64_C(20000000000);
    spec.range_bytes = 0;
    pthread_t thread;
    memset(&progress, 0, sizeof progress);
    CHECK_EQ(pthread_create(&thread, NULL, cutter, rig_file), 0);
    CHECK_EQ(
        sl_workload_run(&spec, NULL, NULL, &progress, rig_result, &rig_error),
        0);
    pthread_join(thread, NULL);
    CHECK_STR(sl_end_name(rig_result->end),
              sl_end_name(i ? SL_END_ERROR : SL_END_OF_DEVICE));
    if (i) {
      CHECK_EQ(rig_result->error.code, -EFAULT);
      CHECK(rig_result->error.offset >= 20 * 4096);
      CHECK_EQ(rig_result->errors[0].offset, rig_result->error.offset);
    }
    rig_close();
  }
}

static volatile sig_atomic_t seen;
static void on_bus(int number) {
  seen = number;
  _exit(42);
}

/* A SIGBUS that is not ours still reaches who handled it before, or kills. */
static void other_faults_are_not_swallowed(void) {
  for (int handled = 0; handled < 2; handled++) {
    pid_t child = fork();
    if (child == 0) {
      setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
      signal(SIGBUS, handled ? on_bus : SIG_DFL);
      struct sl_bus_guard guard;
      sl_bus_guard_open(&guard);
      raise(SIGBUS);
      raise(SIGBUS); /* the default was put back */
      _exit(1);
    }
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (handled) {
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    } else {
      CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    }
  }
  struct sl_bus_guard a, b;
  struct sigaction before, now;
  sigaction(SIGBUS, NULL, &before);
  sl_bus_guard_open(&a);
  sl_bus_guard_open(&b);
  sl_bus_guard_close(&b);
  sigaction(SIGBUS, NULL, &now);
  CHECK(now.sa_sigaction != before.sa_sigaction);
  sl_bus_guard_close(&a);
  sigaction(SIGBUS, NULL, &now);
  CHECK(now.sa_sigaction == before.sa_sigaction);
}

static void every_limit_of_a_size_is_an_error(void) {
  rig_open("/dev/shm");
  struct rlimit before, small;
  CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 64 * KIB;
  signal(SIGXFSZ, SIG_IGN);
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int i = 0; i < ENGINES - 1; i++) {
    struct sl_workload_spec spec = spec_of(engines[i], SL_WRITE);
    spec.order = SL_ORDER_SEQUENTIAL;
    RIG_RUN(&spec, SL_END_ERROR);
    CHECK_EQ(rig_result->error.code, -EFBIG);
    CHECK_EQ(rig_result->error.offset, 64 * KIB);
    CHECK_EQ(rig_result->write.bytes, 64 * KIB);
  }
  struct sl_workload_spec spec = spec_of("mmap", SL_WRITE);
  CHECK_EQ(unlink(rig_file), 0);
  CHECK_EQ(rig_run(&spec), -EFBIG); /* refused before the first record */
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  rig_close();
}

int main(void) {
  RUN(in_memory);
  RUN(on_a_disk);
  RUN(on_a_loop_device);
  RUN(notes_and_refusals);
  RUN(mmap_syncs_each_record);
  RUN(a_full_tmpfs);
  RUN(a_full_ext4);
  RUN(a_file_cut_under_the_mapping);
  RUN(other_faults_are_not_swallowed);
  RUN(every_limit_of_a_size_is_an_error);
  return TEST_DONE();
}
