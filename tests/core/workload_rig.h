/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_TESTS_CORE_WORKLOAD_RIG_H
#define STORLUA_TESTS_CORE_WORKLOAD_RIG_H

/* A scratch directory, a spec with sane values, and one result at a time, for
 * the tests of core/io. */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/device/gate.h"
#include "core/io/workload.h"
#include "core/test.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

static char rig_dir[256];
static char rig_file[300];
static struct sl_workload_result *rig_result;
static struct sl_error rig_error;

static inline void rig_open(const char *below) {
  snprintf(rig_dir, sizeof rig_dir, "%s/storlua-io-XXXXXX", below);
  if (!mkdtemp(rig_dir)) {
    perror(rig_dir);
    exit(1);
  }
  snprintf(rig_file, sizeof rig_file, "%s/data", rig_dir);
  rig_result = calloc(1, sizeof *rig_result);
  if (!rig_result) exit(1);
}

static inline void rig_close(void) {
  sl_workload_result_release(rig_result);
  free(rig_result);
  rig_result = NULL;
  unlink(rig_file);
  rmdir(rig_dir);
}

static inline struct sl_workload_spec rig_spec(enum sl_operation operation) {
  struct sl_workload_spec spec = {
      .target = {.path = rig_file, .create = operation != SL_READ},
      .engine = sl_engine_find("psync"),
      .operation = operation,
      .read_percent = 50,
      .record_bytes = 4096,
      .stride_records = 7,
      .seed = 42,
      .stamp = true,
      .identity = {.run = 0xcafe, .generation = 1, .target = 3, .writer = 9},
      .bad_kept = 16,
  };
  return spec;
}

/* Runs it into rig_result; what came before is released. */
static inline int rig_run(const struct sl_workload_spec *spec) {
  sl_workload_result_release(rig_result);
  memset(&rig_error, 0, sizeof rig_error);
  int code = sl_workload_run(spec, NULL, NULL, NULL, rig_result, &rig_error);
  if (code != rig_error.code) {
    printf("code %d, error %d\n", code, rig_error.code);
    test_failures++;
  }
  return code;
}

/* Runs what must start, and must end in this way. */
#define RIG_RUN(spec, wanted_end)                                     \
  do {                                                                \
    char text_[SL_ERROR_TEXT_BYTES];                                  \
    if (rig_run(spec) != 0)                                           \
      printf("%s\n", sl_error_text(&rig_error, text_, sizeof text_)); \
    CHECK_EQ(rig_error.code, 0);                                      \
    CHECK_STR(sl_end_name(rig_result->end), sl_end_name(wanted_end)); \
  } while (0)

/* Refused with a hint that has this text in it. */
#define RIG_REFUSED(spec, wanted_code, text)         \
  do {                                               \
    CHECK_EQ(rig_run(spec), wanted_code);            \
    CHECK(strstr(rig_error.hint, text) != NULL);     \
    if (!strstr(rig_error.hint, text))               \
      printf("  the hint is: %s\n", rig_error.hint); \
  } while (0)

/* Writes `bytes` of stamped data of one generation. */
static inline void rig_write(uint64_t bytes, uint32_t generation) {
  struct sl_workload_spec spec = rig_spec(SL_WRITE);
  spec.record_bytes = bytes % MIB == 0 ? MIB : 4096;
  if (bytes < spec.record_bytes) spec.record_bytes = 512;
  spec.range_bytes = bytes;
  spec.identity.generation = generation;
  RIG_RUN(&spec, SL_END_COMPLETE);
  CHECK_EQ(rig_result->write.bytes, bytes);
}

/* Puts `bytes` at `offset` of the file, behind the workload's back. */
static inline void rig_plant(uint64_t offset, const void *data, size_t bytes) {
  int fd = open(rig_file, O_WRONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  CHECK_EQ(pwrite(fd, data, bytes, (off_t)offset), bytes);
  close(fd);
}

static inline struct sl_stamp rig_stamp(uint64_t offset, uint32_t generation) {
  struct sl_stamp stamp = rig_spec(SL_READ).identity;
  stamp.address = offset / SL_SECTOR_BYTES;
  stamp.generation = generation;
  return stamp;
}

/* First line of what a command prints; false when it fails. */
static inline bool rig_command(const char *command, char *line, size_t size) {
  FILE *pipe = popen(command, "re");
  if (!pipe) return false;
  if (line && !fgets(line, (int)size, pipe)) line[0] = '\0';
  if (line) line[strcspn(line, "\n")] = '\0';
  char rest[256];
  while (fgets(rest, sizeof rest, pipe))
    continue;
  return pclose(pipe) == 0;
}

/* A loop device of `bytes` on a fresh sparse file beside rig_file. */
static inline bool rig_loop(uint64_t bytes, unsigned sector_bytes, char *device,
                            size_t size) {
  char command[700], backing[300];
  snprintf(backing, sizeof backing, "%s/backing", rig_dir);
  int fd = open(backing, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) return false;
  close(fd);
  snprintf(command, sizeof command, "losetup -f --show -b %u %s 2>/dev/null",
           sector_bytes, backing);
  return rig_command(command, device, size) && device[0] == '/';
}

/* The safety gate's leave to write to what rig_loop made. */
static inline struct sl_grant *rig_grant(const char *device) {
  struct sl_gate_answer *answer = calloc(1, sizeof *answer);
  struct sl_grant *grant = NULL;
  char unit[400];
  snprintf(unit, sizeof unit, "loop:%s/backing", rig_dir);
  if (rig_dir[0] == '.') { /* the kernel tells the whole path */
    char *here = realpath(rig_dir, NULL);
    snprintf(unit, sizeof unit, "loop:%s/backing", here ? here : "");
    free(here);
  }
  const char *consent = unit;
  struct sl_gate_request request = {
      .path = device, .consents = &consent, .consent_count = 1};
  if (answer) sl_gate_open(&request, answer, &grant, &rig_error);
  if (answer && answer->reason_count)
    fprintf(stderr, "refused: %s\n", answer->reasons[0].text);
  free(answer);
  return grant;
}

static inline void rig_loop_end(const char *device) {
  char command[700];
  snprintf(command, sizeof command, "losetup -d %s", device);
  CHECK(rig_command(command, NULL, 0));
  snprintf(command, sizeof command, "%s/backing", rig_dir);
  unlink(command);
}

/* Mounts a file system of its own on rig_dir; false when not permitted. */
static inline bool rig_mount(const char *type, const char *options) {
  return mount("storlua-test", rig_dir, type, 0, options) == 0;
}

static inline void rig_unmount(void) {
  unlink(rig_file);
  CHECK_EQ(umount2(rig_dir, MNT_DETACH), 0);
}

#endif
