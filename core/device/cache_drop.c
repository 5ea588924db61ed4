/* SPDX-License-Identifier: MIT */
#include "core/device/cache_drop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_cached(const char *path, struct sl_error *e) {
  struct stat st;

  /* Not even opened: a FIFO would block, a character device might act. */
  if (stat(path, &st) != 0) return sl_error_set(e, -errno, "stat", path, -1);
  if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)) {
    int code = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    sl_error_set(e, code, "open", path, -1);
    sl_error_hint(e, "only files and block devices have pages of their own");
    return code;
  }
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  return fd >= 0 ? fd : sl_error_set(e, -errno, "open", path, -1);
}

int sl_cache_residency(const char *path, struct sl_residency *residency,
                       struct sl_error *e) {
  int fd = open_cached(path, e);
  if (fd < 0) return fd;
  sl_residency_read(fd, 0, 0, residency);
  close(fd);
  return 0;
}

int sl_cache_drop_file(const char *path, struct sl_cache_drop *drop,
                       struct sl_error *e) {
  int fd = open_cached(path, e);
  if (fd < 0) return fd;
  sl_residency_read(fd, 0, 0, &drop->before);
  int code = sl_residency_drop(fd, path, e);
  if (code == 0) sl_residency_read(fd, 0, 0, &drop->after);
  close(fd);
  return code;
}

int sl_cache_drop_device(const char *path, struct sl_cache_drop *drop,
                         struct sl_error *e) {
  struct stat st;

  if (stat(path, &st) != 0) return sl_error_set(e, -errno, "stat", path, -1);
  if (!S_ISBLK(st.st_mode)) {
    sl_error_set(e, -ENOTBLK, "open", path, -1);
    sl_error_hint(e, "a block device has to be named");
    return -ENOTBLK;
  }
  int fd = open_cached(path, e);
  if (fd < 0) return fd;
  int code = 0;
  sl_residency_read(fd, 0, 0, &drop->before);
  if (fsync(fd) != 0) {
    code = sl_error_set(e, -errno, "fsync", path, -1);
  } else if (ioctl(fd, BLKFLSBUF, 0) != 0) {
    code = sl_error_set(e, -errno, "BLKFLSBUF", path, -1);
    sl_error_hint(e, "only root may empty the cache of a device");
  }
  if (code == 0) sl_residency_read(fd, 0, 0, &drop->after);
  close(fd);
  return code;
}
