/* SPDX-License-Identifier: MIT */
/* Several targets in one workload: whose turn it is, what each holds, which
 * one is named. */
#include "core/workload_rig.h"

enum { FILES = 3, PART = 64 * 1024, RECORD = 4096 };

static char paths[FILES][320];
static const char *more[FILES - 1];

static void open_all(void) {
  rig_open("/tmp");
  for (int i = 0; i < FILES; i++) {
    snprintf(paths[i], sizeof paths[i], "%s/part%d", rig_dir, i);
    if (i) more[i - 1] = paths[i];
  }
}

static void close_all(void) {
  for (int i = 0; i < FILES; i++)
    unlink(paths[i]);
  rig_close();
}

static struct sl_workload_spec spec_of(enum sl_operation operation) {
  struct sl_workload_spec spec = rig_spec(operation);
  spec.target.path = paths[0];
  if (operation >= SL_TRIM) spec.target.create = false;
  spec.more_paths = more;
  spec.more_count = FILES - 1;
  spec.range_bytes = PART;
  return spec;
}

static int64_t size_of(int file) {
  struct stat st;
  return stat(paths[file], &st) == 0 ? st.st_size : -1;
}

static void check_each_alone(uint32_t generation) {
  for (int i = 0; i < FILES; i++) {
    struct sl_workload_spec read = rig_spec(SL_READ);
    read.target.path = paths[i];
    read.verify = true;
    read.identity.generation = generation;
    RIG_RUN(&read, SL_END_COMPLETE);
    CHECK_EQ(rig_result->read.bytes, PART);
    CHECK_EQ(rig_result->bad_sectors, 0);
  }
}

static void turns_and_one_after_the_other(void) {
  open_all();
  struct sl_workload_spec spec = spec_of(SL_WRITE);
  spec.limit_records = 4;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(size_of(0), 2 * RECORD);
  CHECK_EQ(size_of(1), RECORD);
  CHECK_EQ(size_of(2), RECORD);
  close_all();
  open_all();
  spec.one_after_other = true;
  spec.limit_records = PART / RECORD + 1;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(size_of(0), PART);
  CHECK_EQ(size_of(1), RECORD);
  CHECK_EQ(size_of(2), 0);
  close_all();
}

/* Each record of each file once in a pass, whatever the engine and order. */
static void a_pass_is_all_of_each(void) {
  static const char *const engines[] = {"psync", "sync", "mmap"};
  for (int e = 0; e < 3; e++) {
    for (int after = 0; after < 2; after++) {
      open_all();
      struct sl_workload_spec spec = spec_of(SL_WRITE);
      spec.engine = sl_engine_find(engines[e]);
      spec.order = SL_ORDER_RANDOM;
      spec.one_after_other = after;
      spec.flush = SL_FLUSH_END;
      RIG_RUN(&spec, SL_END_COMPLETE);
      CHECK_EQ(rig_result->write.bytes, FILES * PART);
      CHECK_EQ(rig_result->passes, 1);
      check_each_alone(1);
      spec.limit_records = 2 * FILES * PART / RECORD;
      RIG_RUN(&spec, SL_END_COMPLETE);
      CHECK_EQ(rig_result->generation_last, 2);
      check_each_alone(2);
      close_all();
    }
  }
}

static void damage_in_one_is_found(void) {
  open_all();
  struct sl_workload_spec spec = spec_of(SL_WRITE);
  RIG_RUN(&spec, SL_END_COMPLETE);
  spec = spec_of(SL_READ);
  spec.order = SL_ORDER_RANDOM;
  spec.verify = true;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->verified_sectors, FILES * PART / 512);
  CHECK_EQ(rig_result->bad_sectors, 0);
  char zeros[512] = {0};
  int fd = open(paths[1], O_WRONLY | O_CLOEXEC);
  CHECK_EQ(pwrite(fd, zeros, 512, 8192), 512);
  close(fd);
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->bad_sectors, 1);
  close_all();
}

static void trims_take_turns_too(void) {
  open_all();
  struct sl_workload_spec spec = spec_of(SL_WRITE);
  RIG_RUN(&spec, SL_END_COMPLETE);
  spec = spec_of(SL_TRIM_WRITE);
  spec.identity.generation = 2;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->trim.bytes, FILES * PART);
  CHECK_EQ(rig_result->write.bytes, FILES * PART);
  check_each_alone(2);
  close_all();
}

static int open_descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 256; fd++)
    count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

static void the_right_one_is_named(void) {
  open_all();
  struct sl_workload_spec spec = spec_of(SL_WRITE);
  RIG_RUN(&spec, SL_END_COMPLETE);
  int before = open_descriptors();
  CHECK_EQ(truncate(paths[2], PART - RECORD), 0);
  spec = spec_of(SL_READ);
  RIG_REFUSED(&spec, -EINVAL, "must be alike");
  CHECK(strstr(rig_error.path, "part2") != NULL);
  CHECK_EQ(unlink(paths[1]), 0);
  CHECK_EQ(rig_run(&spec), -ENOENT);
  CHECK(strstr(rig_error.path, "part1") != NULL);
  CHECK_EQ(open_descriptors(), before);
  close_all();
}

static void what_is_refused(void) {
  open_all();
  struct sl_workload_spec spec = spec_of(SL_READ);
  spec.range_bytes = 0;
  RIG_REFUSED(&spec, -EINVAL, "need range_bytes");
  spec = spec_of(SL_READ);
  spec.engine = sl_engine_find("posixaio");
  RIG_REFUSED(&spec, -EINVAL, "give each a stream");
  close_all();
}

static void what_cannot_run_changes_nothing(void) {
  open_all();
  struct sl_workload_spec spec = spec_of(SL_WRITE);
  spec.more_count = 0;
  RIG_RUN(&spec, SL_END_COMPLETE);
  spec.target.truncate = true;
  spec.target.size_bytes = 100; /* less than a record */
  spec.range_bytes = 0;
  RIG_REFUSED(&spec, -EINVAL, "less than a record");
  CHECK_EQ(size_of(0), PART);
  /* The last one cannot be opened: the first stays, the second is not made. */
  spec = spec_of(SL_WRITE);
  spec.target.truncate = true;
  CHECK_EQ(mkdir(paths[2], 0700), 0);
  RIG_REFUSED(&spec, -EISDIR, "name a file in it");
  CHECK_EQ(size_of(0), PART);
  CHECK_EQ(size_of(1), -1);
  rmdir(paths[2]);
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(size_of(1), PART);
  close_all();
}

int main(void) {
  RUN(turns_and_one_after_the_other);
  RUN(a_pass_is_all_of_each);
  RUN(damage_in_one_is_found);
  RUN(trims_take_turns_too);
  RUN(the_right_one_is_named);
  RUN(what_is_refused);
  RUN(what_cannot_run_changes_nothing);
  return TEST_DONE();
}
