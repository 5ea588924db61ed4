/* SPDX-License-Identifier: MIT */
/* Ends of devices, full file systems, signals, records that one system call
 * cannot move, files that change under the run. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "core/workload_rig.h"

static void the_end_of_a_device_is_an_end(void) {
  if (geteuid() != 0) SKIP("loop devices need root");
  rig_open(".");
  char device[64];
  CHECK(rig_loop(MIB, 512, device, sizeof device));
  struct sl_grant *grant = rig_grant(device);
  CHECK(grant != NULL);
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  struct sl_workload_result *r = rig_result;
  spec.target.path = device;
  spec.record_bytes = 64 * KIB;
  /* the last record has 4 KiB of room: that much is written, then ENOSPC */
  spec.range_offset = 4 * KIB;
  spec.range_bytes = 2 * MIB;
  spec.flush = SL_FLUSH_END;
  RIG_RUN(&spec, SL_END_OF_DEVICE);
  CHECK_EQ(r->write.bytes, MIB - 4 * KIB);
  CHECK_EQ(r->write.operations, 16);
  CHECK_EQ(r->write.short_calls, 1);
  CHECK_EQ(r->write.calls, 17);
  CHECK_EQ(r->errors_total, 0);
  CHECK_EQ(r->error.code, 0);
  CHECK_EQ(r->flushes, 1);
  CHECK_EQ(r->file_bytes_after, MIB);
  CHECK_EQ(r->next_visit, 15); /* whole ones */

  struct sl_workload_spec read = spec;
  read.operation = SL_READ;
  read.verify = true;
  RIG_RUN(&read, SL_END_OF_DEVICE);
  CHECK_EQ(r->read.bytes, MIB - 4 * KIB);
  CHECK_EQ(r->read.short_calls, 1);
  CHECK_EQ(r->read.calls, 17);
  CHECK_EQ(r->verified_sectors, (MIB - 4 * KIB) / 512);
  CHECK_EQ(r->bad_sectors, 0);

  /* no other order leaves the device */
  const enum sl_order_kind orders[] = {SL_ORDER_BACKWARD, SL_ORDER_RANDOM,
                                       SL_ORDER_STRIDED};
  for (size_t i = 0; i < 3; i++) {
    read.order = orders[i];
    read.limit_records = 1000;
    RIG_RUN(&read, SL_END_OF_DEVICE);
    CHECK_EQ(r->read.operations, 16);
    CHECK_EQ(r->read.calls, 16);
    CHECK_EQ(r->read.bytes, MIB - 4 * KIB);
    CHECK_EQ(r->bad_sectors, 0);
  }
  read.target.direct = true;
  read.order = SL_ORDER_SEQUENTIAL;
  RIG_RUN(&read, SL_END_OF_DEVICE);
  CHECK(r->is_direct);
  CHECK_EQ(r->read.bytes, MIB - 4 * KIB);
  sl_gate_close(grant);
  rig_loop_end(device);
  rig_close();
}

static void a_full_file_system_is_counted_to_the_byte(void) {
  rig_open("/tmp");
  if (!rig_mount("tmpfs", "size=1500k")) {
    rig_close();
    SKIP("mounting needs root");
  }
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.record_bytes = MIB;
  spec.range_bytes = 8 * MIB;
  spec.flush = SL_FLUSH_END;
  spec.continue_on_error = true; /* a full disk is an end all the same */
  RIG_RUN(&spec, SL_END_NO_SPACE);
  struct sl_workload_result *r = rig_result;
  CHECK_EQ(r->write.bytes, 1500 * KIB);
  CHECK_EQ(r->file_bytes_after, 1500 * KIB);
  CHECK_EQ(r->write.operations, 2);
  CHECK_EQ(r->write.short_calls, 1);
  CHECK_EQ(r->write.calls, 3);
  CHECK_EQ(r->error.code, -ENOSPC);
  CHECK_EQ(r->error.offset, 1500 * KIB);
  CHECK_EQ(r->errors_total, 0);
  CHECK_EQ(r->next_visit, 1);
  CHECK_EQ(r->flushes, 1);
  /* what was written is there */
  struct sl_workload_spec read = rig_spec(SL_READ);
  read.verify = true;
  RIG_RUN(&read, SL_END_COMPLETE);
  CHECK_EQ(r->read.bytes, 1500 * KIB);
  CHECK_EQ(r->bad_sectors, 0);
  rig_unmount();
  rig_close();
}

static void a_file_that_shrinks_ends_the_read(void) {
  rig_open("/dev/shm");
  rig_write(MIB, 1);
  struct sl_workload_spec spec = rig_spec(SL_READ);
  spec.range_bytes = 2 * MIB; /* asked for more than there is */
  RIG_RUN(&spec, SL_END_OF_DEVICE);
  CHECK_EQ(rig_result->read.bytes, MIB);
  CHECK_EQ(rig_result->read.operations, 256);
  CHECK_EQ(rig_result->read.calls, 257); /* the last one said 0 */
  spec.order = SL_ORDER_RANDOM;
  RIG_RUN(&spec, SL_END_OF_DEVICE);
  CHECK_EQ(rig_result->read.bytes, MIB);
  rig_close();
}

/* --- signals --- */

static atomic_ulong signals_seen;
static atomic_bool storm_over;

static void on_signal(int number) {
  (void)number;
  atomic_fetch_add(&signals_seen, 1);
}

static void *storm(void *victim) {
  while (!atomic_load(&storm_over)) {
    pthread_kill(*(pthread_t *)victim, SIGCHLD);
    usleep(50);
  }
  return NULL;
}

static void a_storm_of_signals_changes_nothing(void) {
  rig_open(".");
  struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART */
  struct sigaction before;
  sigaction(SIGCHLD, &action, &before);
  pthread_t thread, self = pthread_self();
  atomic_store(&storm_over, false);
  CHECK_EQ(pthread_create(&thread, NULL, storm, &self), 0);
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.record_bytes = 256 * KIB;
  spec.range_bytes = 16 * MIB;
  spec.rate_bytes_s = UINT64_C(256) * MIB; /* sleeps are interrupted too */
  spec.flush = SL_FLUSH_EVERY;
  spec.flush_every = 16;
  RIG_RUN(&spec, SL_END_COMPLETE);
  struct sl_workload_result *r = rig_result;
  CHECK_EQ(r->write.bytes, 16 * MIB);
  CHECK_EQ(r->write.operations, 64);
  CHECK_EQ(r->flushes, 4);
  CHECK_EQ(r->errors_total, 0);
  CHECK_EQ(r->file_bytes_after, 16 * MIB);
  spec.operation = SL_READ;
  spec.verify = true;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(r->read.bytes, 16 * MIB);
  CHECK_EQ(r->bad_sectors, 0);
  CHECK_EQ(r->errors_total, 0);
  atomic_store(&storm_over, true);
  pthread_join(thread, NULL);
  sigaction(SIGCHLD, &before, NULL);
  CHECK(atomic_load(&signals_seen) > 0);
  rig_close();
}

/* --- what the kernel counted --- */

static uint64_t proc_io(const char *field) {
  char line[128];
  uint64_t value = 0;
  size_t length = strlen(field);
  FILE *file = fopen("/proc/thread-self/io", "re");
  if (!file) return 0;
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, field, length) == 0 && line[length] == ':') {
      value = strtoull(line + length + 1, NULL, 10);
    }
  }
  fclose(file);
  return value;
}

static void bytes_and_calls_are_what_the_kernel_saw(void) {
  if (access("/proc/thread-self/io", R_OK) != 0) SKIP("no /proc/self/io");
  rig_open("/dev/shm");
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.range_bytes = 3 * MIB + 512;
  uint64_t bytes = proc_io("wchar"), calls = proc_io("syscw");
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(proc_io("wchar") - bytes, rig_result->write.bytes);
  CHECK_EQ(proc_io("syscw") - calls, rig_result->write.calls);
  CHECK_EQ(rig_result->write.calls, 769);
  rig_close();
}

static uint64_t available_bytes(void) {
  char line[128];
  unsigned long long kib = 0;
  FILE *file = fopen("/proc/meminfo", "re");
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
  }
  if (file) fclose(file);
  return kib * KIB;
}

/* One write(2) moves 0x7ffff000 bytes at most; a record may be larger. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true; /* too slow, and shadowed eight times */
#else
static const bool is_sanitized = false;
#endif

static void a_record_larger_than_a_system_call(void) {
  const uint64_t record = (UINT64_C(2) << 30) + MIB;
  if (is_sanitized) {
    printf("a record of 2 GiB is left out under a sanitizer\n");
    return;
  }
  if (sizeof(size_t) < 8) SKIP("this machine cannot address the record");
  if (available_bytes() < 3 * record) SKIP("not enough memory");
  rig_open("/tmp");
  if (!rig_mount("tmpfs", "size=3g")) {
    rig_close();
    SKIP("mounting needs root");
  }
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.record_bytes = spec.range_bytes = record;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.operations, 1);
  CHECK_EQ(rig_result->write.bytes, record);
  CHECK_EQ(rig_result->write.calls, 2);
  CHECK_EQ(rig_result->write.short_calls, 1);
  spec.operation = SL_READ;
  spec.verify = true;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->read.bytes, record);
  CHECK_EQ(rig_result->verified_sectors, record / 512);
  CHECK_EQ(rig_result->bad_sectors, 0);
  rig_unmount();
  rig_close();
}

int main(void) {
  RUN(the_end_of_a_device_is_an_end);
  RUN(a_full_file_system_is_counted_to_the_byte);
  RUN(a_file_that_shrinks_ends_the_read);
  RUN(a_storm_of_signals_changes_nothing);
  RUN(bytes_and_calls_are_what_the_kernel_saw);
  RUN(a_record_larger_than_a_system_call);
  return TEST_DONE();
}
