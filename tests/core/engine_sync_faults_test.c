/* SPDX-License-Identifier: MIT */
/* Faults under the synchronous engines: a full disk, a cut file, SIGBUS, a
 * limit of size.  Each is said with its place. */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/io/bus_guard.h"
#include "core/sync_rig.h"

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
  RUN(a_full_tmpfs);
  RUN(a_full_ext4);
  RUN(a_file_cut_under_the_mapping);
  RUN(other_faults_are_not_swallowed);
  RUN(every_limit_of_a_size_is_an_error);
  return TEST_DONE();
}
