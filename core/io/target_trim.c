/* SPDX-License-Identifier: MIT */
/* Giving blocks back: what it means here, and doing it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/device/gate.h"
#include "core/device/sysfs.h"
#include "core/io/target_private.h"

enum {
  LOOP_MAJOR = 7,
  KEEP_SIZE = 1, /* linux/falloc.h, which old boards may lack */
  PUNCH_HOLE = 2
};
#define BLKDISCARD_NUMBER _IO(0x12, 119)

static int cannot(const struct sl_target *target, const char *why,
                  struct sl_error *e) {
  sl_error_set(e, -EOPNOTSUPP, "trim", target->path, -1);
  sl_error_hint(e, "%s", why);
  return -EOPNOTSUPP;
}

/* An attribute of the queue, also of a partition's disk; -1 unknown. */
static int64_t queue_number(const struct sl_target *target,
                            const char *attribute) {
  struct sl_device_number number = {.major = major((dev_t)target->device),
                                    .minor = minor((dev_t)target->device)};
  static const char *const places[] = {"queue", "../queue"};
  static const struct sl_system real;
  char directory[SL_SYSFS_PATH_BYTES];
  if (sl_sysfs_directory(&real, number, directory) != 0) return -1;
  for (size_t i = 0; i < 2; i++) {
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", places[i], attribute);
    int64_t value = sl_sysfs_number(directory, path);
    if (value >= 0) return value;
  }
  return -1;
}

static int probe_device(const struct sl_target *target,
                        struct sl_trim_facts *facts, struct sl_error *e) {
  if (queue_number(target, "discard_max_bytes") == 0) {
    return cannot(target,
                  "this device has no discard (its "
                  "queue/discard_max_bytes is 0)",
                  e);
  }
  int64_t granularity = queue_number(target, "discard_granularity");
  facts->granularity_bytes = granularity > 0 ? (uint64_t)granularity : 0;
  /* The loop driver punches a hole into its file. */
  facts->is_zero_promised = major((dev_t)target->device) == LOOP_MAJOR ||
                            queue_number(target, "discard_zeroes_data") == 1;
  return 0;
}

/* A hole behind the end of the file changes nothing, and is refused where
 * holes are. */
static int probe_file(const struct sl_target *target,
                      struct sl_trim_facts *facts, struct sl_error *e) {
  struct stat st;
  if (fstat(target->fd, &st) != 0) {
    return sl_error_set(e, -errno, "fstat", target->path, -1);
  }
  uint64_t block = st.st_blksize > 0 ? (uint64_t)st.st_blksize : 4096;
  uint64_t end = ((uint64_t)st.st_size + block - 1) / block * block;
  facts->granularity_bytes = block;
  facts->is_zero_promised = true;
  int code = end > INT64_MAX - block ? 0 : sl_target_trim(target, end, block);
  if (code == -EOPNOTSUPP || code == -ENOSYS) {
    return cannot(target, "this file system punches no holes into files", e);
  }
  return code ? sl_error_set(e, code, "fallocate", target->path, -1) : 0;
}

int sl_target_trim_probe(struct sl_target *target, struct sl_trim_facts *facts,
                         struct sl_error *e) {
  *facts = (struct sl_trim_facts){0};
  if (!target->is_block) return probe_file(target, facts, e);
  struct sl_device_number number = {major(target->device),
                                    minor(target->device)};
  if (!target->exclusive_fd) target->exclusive_fd = sl_gate_duplicate(number);
  return probe_device(target, facts, e);
}

int sl_target_trim(const struct sl_target *target, uint64_t offset,
                   uint64_t bytes) {
  int code;
  if (target->is_block) {
    uint64_t range[2] = {offset, bytes};
    int fd = target->exclusive_fd ? target->exclusive_fd : target->fd;
    code = ioctl(fd, BLKDISCARD_NUMBER, range);
  } else {
    code = fallocate(target->fd, PUNCH_HOLE | KEEP_SIZE, (off_t)offset,
                     (off_t)bytes);
  }
  return code == 0 ? 0 : -errno;
}
