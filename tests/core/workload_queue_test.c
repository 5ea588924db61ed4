/* SPDX-License-Identifier: MIT */
/* The queued engines must do and count exactly what the synchronous loop
 * does, whatever the depth. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "core/run/job.h"
#include "core/workload_rig.h"

static const char *const engines[] = {"libaio", "posixaio", "io_uring"};
enum { ENGINES = 3 };

static bool have(const char *engine) {
#ifdef __SANITIZE_THREAD__
  /* The C library starts these threads from threads of its own that the
   * sanitizer never saw begin, and it crashes in them. */
  if (strcmp(engine, "posixaio") == 0) return false;
#endif
  return sl_engine_probe(engine, NULL) == 0;
}

static struct sl_workload_spec spec_of(const char *engine,
                                       enum sl_operation operation,
                                       unsigned depth) {
  struct sl_workload_spec spec = rig_spec(operation);
  spec.engine = sl_engine_find(engine);
  spec.queue_depth = depth;
  spec.engine_forced = true; /* the queue is what is tested, also in memory */
  spec.order = SL_ORDER_RANDOM;
  return spec;
}

/* --- each record exactly once --- */

static void every_record_once(const char *engine, unsigned depth) {
  rig_open("/dev/shm");
  for (unsigned sectors = 1; sectors <= 40 * 8; sectors += 7) {
    unsigned records = (sectors + 7) / 8;
    if (sectors < 8) continue;
    struct sl_workload_spec spec = spec_of(engine, SL_WRITE, depth);
    spec.order = (enum sl_order_kind)(sectors % 4);
    spec.range_bytes = sectors * SL_SECTOR_BYTES;
    spec.identity.generation = sectors;
    unlink(rig_file);
    RIG_RUN(&spec, SL_END_COMPLETE);
    struct sl_workload_result *r = rig_result;
    CHECK_EQ(r->write.operations, records);
    CHECK_EQ(r->write.calls, records);
    CHECK_EQ(r->write.bytes, spec.range_bytes);
    CHECK_EQ(r->write.latency.count, records);
    CHECK_EQ(r->next_visit, records);
    CHECK_EQ(r->passes, 1);
    CHECK_EQ(r->file_bytes_after, spec.range_bytes);
    CHECK_EQ(r->generation_last, sectors);
    CHECK(r->write.io_ns > 0 && r->write.io_ns <= r->total_ns);
    spec.operation = SL_READ;
    spec.verify = true;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(r->read.operations, records);
    CHECK_EQ(r->verified_sectors, sectors);
    CHECK_EQ(r->bad_sectors, 0);
  }
  rig_close();
}

static void whatever_the_depth(void) {
  for (int i = 0; i < ENGINES; i++) {
    if (!have(engines[i])) continue;
    for (unsigned depth = 0; depth <= 64; depth = depth ? depth * 4 : 1) {
      every_record_once(engines[i], depth);
    }
  }
}

/* More passes than the depth could hold: a record is never written by two
 * visits at once, so the last generation is what stays. */
static void passes_do_not_overtake(void) {
  for (int i = 0; i < ENGINES; i++) {
    if (!have(engines[i])) continue;
    for (unsigned records = 1; records <= 9; records += 4) {
      rig_open("/dev/shm");
      struct sl_workload_spec spec = spec_of(engines[i], SL_WRITE, 32);
      spec.range_bytes = records * 4096;
      spec.limit_records = records * 50;
      RIG_RUN(&spec, SL_END_COMPLETE);
      CHECK_EQ(rig_result->write.operations, records * 50);
      CHECK_EQ(rig_result->generation_last, 50);
      CHECK_EQ(rig_result->passes, 50);
      struct sl_workload_spec read = spec_of(engines[i], SL_READ, 32);
      read.verify = true;
      read.identity.generation = 50;
      RIG_RUN(&read, SL_END_COMPLETE);
      CHECK_EQ(rig_result->bad_sectors, 0);
      struct sl_workload_spec mixed = spec_of(engines[i], SL_MIXED, 32);
      mixed.verify = true;
      mixed.limit_records = 400;
      mixed.identity.generation = 50;
      RIG_RUN(&mixed, SL_END_COMPLETE);
      CHECK_EQ(rig_result->bad_sectors, 0);
      CHECK_EQ(rig_result->read.operations + rig_result->write.operations, 400);
      rig_close();
    }
  }
}

/* --- limits, flushes, pacing, ramp --- */

static void limits_and_flushes(void) {
  for (int i = 0; i < ENGINES; i++) {
    if (!have(engines[i])) continue;
    rig_open("/dev/shm");
    struct sl_workload_spec spec = spec_of(engines[i], SL_WRITE, 16);
    spec.range_bytes = 4 * MIB;
    spec.flush = SL_FLUSH_EVERY;
    spec.flush_every = 100;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->flushes, 11);
    CHECK_EQ(rig_result->write.operations, 1024);
    spec.flush = SL_FLUSH_END;
    spec.limit_bytes = 100 * 4096 + 100;
    RIG_RUN(&spec, SL_END_COMPLETE);
    CHECK_EQ(rig_result->flushes, 1);
    CHECK_EQ(rig_result->write.bytes, 100 * 4096);
    struct sl_workload_spec read = spec_of(engines[i], SL_READ, 16);
    read.limit_ns = 50000000;
    read.interval_ns = 1000000;
    RIG_RUN(&read, SL_END_COMPLETE);
    CHECK(rig_result->total_ns >= read.limit_ns);
    CHECK_EQ(rig_result->next_visit, rig_result->read.operations);
    uint64_t sum = 0;
    for (unsigned p = 0; p < rig_result->series_count; p++) {
      sum += rig_result->series[p].bytes;
    }
    CHECK_EQ(sum, rig_result->read.bytes);
    read.ramp_ns = 30000000;
    read.limit_ns = 0;
    read.limit_records = 500;
    RIG_RUN(&read, SL_END_COMPLETE);
    CHECK_EQ(rig_result->read.operations, 500);
    CHECK(rig_result->next_visit > 500);
    CHECK(rig_result->read.io_ns <= rig_result->total_ns);
    read.ramp_ns = 0;
    read.limit_records = 100;
    read.rate_bytes_s = 4096 * 500;
    RIG_RUN(&read, SL_END_COMPLETE);
    CHECK_EQ(rig_result->read.operations, 100);
    CHECK(rig_result->total_ns >= 198000000);
    rig_close();
  }
}

struct work {
  struct sl_workload_spec spec;
  struct sl_workload_progress progress;
  int code;
  bool done;
};

static void work_run(struct sl_job *job, void *data) {
  struct work *work = data;
  work->code = sl_workload_run(&work->spec, job, NULL, &work->progress,
                               rig_result, &rig_error);
}

static void work_done(struct sl_job *job, void *user) {
  (void)job;
  ((struct work *)user)->done = true;
}

static const struct sl_job_class work_class = {"workload", work_run, NULL};

static void cancel_ends_it(void) {
  for (int i = 0; i < 2 * ENGINES; i++) {
    const char *engine = engines[i / 2];
    if (!have(engine)) continue;
    rig_open("/dev/shm");
    struct work work = {.spec = spec_of(engine, SL_WRITE, 16)};
    work.spec.range_bytes = MIB;
    work.spec.limit_ns = INT64_C(3600) * 1000000000;
    if (i % 2) work.spec.rate_bytes_s = 4096; /* in the wait for the next */
    struct sl_loop loop;
    struct sl_job *job;
    struct sl_error e;
    CHECK_EQ(sl_loop_init(&loop, 0, &e), 0);
    CHECK_EQ(
        sl_job_start(&loop, &work_class, &work, work_done, &work, &job, &e), 0);
    while (atomic_load(&work.progress.operations) < 1)
      usleep(1000);
    sl_job_cancel(job);
    while (!work.done)
      sl_loop_turn(&loop, 1);
    sl_job_unref(job);
    CHECK_EQ(sl_loop_close(&loop), 0);
    CHECK_EQ(work.code, 0);
    CHECK_STR(sl_end_name(rig_result->end), "cancelled");
    CHECK_EQ(rig_result->write.bytes, rig_result->write.operations * 4096);
    CHECK_EQ(rig_result->next_visit, rig_result->write.operations);
    rig_close();
  }
}

/* --- ends and errors --- */

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

static void what_is_not_there_is_named(void) {
  struct sl_error e = {0};
  CHECK_EQ(sl_engine_probe("psync", &e), 0);
  CHECK_EQ(sl_engine_probe("splice", &e), -ENOSYS);
  CHECK(strstr(e.hint, "no engine splice; engines here: psync, sync"));
  CHECK(sl_engine_probe("posixaio", &e) == 0);
}

/* As a container forbids it. */
static bool forbid_io_uring(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void a_forbidden_engine_names_the_others(void) {
  if (!sl_engine_find("io_uring")) SKIP("built without liburing");
  rig_open("/dev/shm");
  rig_write(64 * KIB, 1);
  pid_t child = fork();
  if (child == 0) {
    struct sl_workload_spec spec = spec_of("io_uring", SL_READ, 4);
    int before = test_failures;
    if (!forbid_io_uring()) _exit(3);
    RIG_REFUSED(&spec, -EPERM, "forbidden");
    CHECK(strstr(rig_error.hint, "engines here: psync") != NULL);
    CHECK(strstr(rig_error.hint, "io_uring, lib") == NULL);
    spec.engine = sl_engine_find("libaio");
    RIG_RUN(&spec, SL_END_COMPLETE);
    fflush(stdout);
    _exit(test_failures == before ? 0 : 1);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  rig_close();
}

static bool has_note(const char *name) {
  for (unsigned i = 0; i < rig_result->engine_note_count; i++) {
    if (strcmp(rig_result->engine_notes[i], name) == 0) return true;
  }
  return false;
}

/* On tmpfs the ring's reads go to threads of the kernel, or a later kernel
 * does without: the note says which. */
static void a_punt_is_noted(void) {
  if (!have("io_uring")) SKIP("no io_uring here");
  rig_open("/dev/shm");
  rig_write(4 * MIB, 1);
  struct sl_workload_spec spec = spec_of("io_uring", SL_READ, 16);
  RIG_RUN(&spec, SL_END_COMPLETE);
  bool noted = has_note("io_uring_punted");
  int fd = open(rig_file, O_RDONLY | O_CLOEXEC);
  char byte;
  struct iovec vector = {&byte, 1};
  bool waits =
      preadv2(fd, &vector, 1, 0, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP;
  close(fd);
  CHECK_EQ(noted, waits);
  rig_close();
}

static void in_memory_psync_is_taken(void) {
  if (!have("io_uring")) SKIP("no io_uring here");
  for (int on_disk = 0; on_disk < 2; on_disk++) {
    rig_open(on_disk ? "/var/tmp" : "/dev/shm");
    rig_write(4 * MIB, 1);
    for (unsigned depth = 1; depth <= 16; depth += 15) {
      struct sl_workload_spec spec = spec_of("io_uring", SL_READ, depth);
      spec.engine_forced = false;
      spec.verify = true;
      RIG_RUN(&spec, SL_END_COMPLETE);
      CHECK_STR(rig_result->engine->name, on_disk ? "io_uring" : "psync");
      CHECK_EQ(rig_result->queue_depth, on_disk ? depth : 1);
      CHECK_EQ(rig_result->read.bytes, 4 * MIB);
      CHECK_EQ(rig_result->bad_sectors, 0);
      CHECK_EQ(has_note("psync_taken"), !on_disk);
    }
    rig_close();
  }
}

int main(void) {
  RUN(in_memory_psync_is_taken);
  RUN(a_punt_is_noted);
  RUN(whatever_the_depth);
  RUN(passes_do_not_overtake);
  RUN(limits_and_flushes);
  RUN(cancel_ends_it);
  RUN(the_tail_under_direct_io);
  RUN(the_end_of_a_device);
  RUN(a_full_disk);
  RUN(errors_are_counted_truly);
  RUN(what_is_not_there_is_named);
  RUN(a_forbidden_engine_names_the_others);
  return TEST_DONE();
}
