/* SPDX-License-Identifier: MIT */
#include "core/io/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/device/gate.h"
#include "core/io/target_private.h"

static int fail(const struct sl_target *target, int code, const char *op,
                struct sl_error *e) {
  return sl_error_set(e, code, op, target->path, -1);
}

/* A device that is not there must not become a file of that name: all of
 * /dev's own file system is refused, /dev/shm (another one) is not. */
static int refuse_create_in_dev(const struct sl_target *target,
                                struct sl_error *e) {
  char parent[sizeof(target->path)];
  memcpy(parent, target->path, sizeof(parent));
  char *slash = strrchr(parent, '/');
  if (!slash) return 0; /* the working directory */
  slash[slash == parent ? 1 : 0] = '\0';
  char *real = realpath(parent, NULL);
  if (!real) return 0; /* open will say why */
  struct stat dev, at;
  bool below = strcmp(real, "/dev") == 0 || strncmp(real, "/dev/", 5) == 0;
  bool same = stat("/dev", &dev) == 0 && stat(real, &at) == 0 &&
              dev.st_dev == at.st_dev;
  free(real);
  if (!below || !same) return 0;
  fail(target, -ENOENT, "open", e);
  sl_error_hint(e, "there is no such device, and no file is created in /dev");
  return -ENOENT;
}

/* Looks before it opens: opening a FIFO would block, and opening some
 * character devices does something. */
static int check_kind(struct sl_target *target,
                      const struct sl_target_spec *spec, struct sl_error *e) {
  struct stat st;
  if (stat(target->path, &st) != 0) {
    int code = -errno;
    if (code == -ENOENT && spec->create) return refuse_create_in_dev(target, e);
    return fail(target, code, "open", e);
  }
  if (S_ISDIR(st.st_mode)) {
    fail(target, -EISDIR, "open", e);
    sl_error_hint(e, "name a file in it");
    return -EISDIR;
  }
  if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)) {
    fail(target, -EINVAL, "open", e);
    sl_error_hint(e, "neither a regular file nor a block device");
    return -EINVAL;
  }
  target->is_block = S_ISBLK(st.st_mode);
  return 0;
}

static int open_flags(const struct sl_target_spec *spec) {
  /* Write targets are opened for reading too: the probe of direct I/O and
   * cachestat(2) need it.  Without O_TRUNC: what is there is lost only when
   * all checks have passed. */
  int flags = O_CLOEXEC | (spec->write ? O_RDWR : O_RDONLY);
  if (spec->direct) flags |= O_DIRECT;
  if (spec->sync == SL_OPEN_SYNC_DATA) flags |= O_DSYNC;
  if (spec->sync == SL_OPEN_SYNC_FULL) flags |= O_SYNC;
  return flags;
}

static int open_path(const char *path, int flags) {
  int fd;
  do {
    fd = open(path, flags, 0644);
  } while (fd < 0 && errno == EINTR);
  return fd < 0 ? -errno : fd;
}

/* Made apart from being opened: with O_DIRECT some kernels make the file and
 * then refuse to open it. */
static int make(struct sl_target *target) {
  int fd = open_path(target->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC);
  if (fd < 0) return fd;
  target->is_new = true;
  close(fd);
  return 0;
}

/* Negative errno or the descriptor. */
static int open_or_make(struct sl_target *target,
                        const struct sl_target_spec *spec) {
  int flags = open_flags(spec);
  int fd = open_path(target->path, flags);
  if (fd != -ENOENT || !spec->create || target->is_block) return fd;
  int code = make(target);
  if (code == 0) return open_path(target->path, flags);
  /* Another stream made it meanwhile, or a symlink leads to no file yet. */
  return code == -EEXIST ? open_path(target->path, flags | O_CREAT) : code;
}

/* Nobody else has begun to use it: it is still empty. */
static void remove_new(struct sl_target *target) {
  struct stat st;
  if (target->is_new && stat(target->path, &st) == 0 && S_ISREG(st.st_mode) &&
      st.st_size == 0) {
    unlink(target->path);
  }
  target->is_new = false;
}

static int open_failed(const struct sl_target *target,
                       const struct sl_target_spec *spec, int code,
                       struct sl_error *e) {
  if (code == -EINVAL && spec->direct) return sl_target_no_direct(target, e);
  fail(target, code, "open", e);
  if (code == -EROFS) sl_error_hint(e, "the file system is read-only");
  if (code == -EPERM && target->is_block) {
    sl_error_hint(e,
                  "forbidden to root too: a device cgroup or a "
                  "write-protected device");
  }
  if (code == -ETXTBSY) sl_error_hint(e, "it is a program or swap in use");
  return code;
}

/* What the kernel says about the opened target. */
static int describe(struct sl_target *target, struct sl_error *e) {
  struct stat st;
  if (fstat(target->fd, &st) != 0) return fail(target, -errno, "fstat", e);
  target->is_block = S_ISBLK(st.st_mode);
  if (target->is_block) {
    off_t end = lseek(target->fd, 0, SEEK_END);
    if (end < 0) return fail(target, -errno, "lseek", e);
    target->size_bytes = (uint64_t)end;
    target->device = (uint64_t)st.st_rdev;
    return 0;
  }
  target->size_bytes = (uint64_t)st.st_size;
  target->device = (uint64_t)st.st_dev;
  struct statfs fs;
  if (fstatfs(target->fd, &fs) == 0) {
    target->filesystem_magic = (uint32_t)fs.f_type; /* signed on 32 bits */
  }
  target->is_ram = target->filesystem_magic == SL_MAGIC_TMPFS ||
                   target->filesystem_magic == SL_MAGIC_RAMFS;
  return 0;
}

/* What resizing will do, and the size after it. */
static int plan_size(struct sl_target *target,
                     const struct sl_target_spec *spec, struct sl_error *e) {
  if (!spec->write || target->is_block) return 0;
  target->empties = spec->truncate;
  if (spec->truncate) target->size_bytes = 0;
  if (!spec->create || spec->size_bytes <= target->size_bytes) return 0;
  if (spec->size_bytes > INT64_MAX) {
    fail(target, -EFBIG, "ftruncate", e);
    sl_error_hint(e, "size_bytes is %llu",
                  (unsigned long long)spec->size_bytes);
    return -EFBIG;
  }
  target->grows = true;
  target->size_bytes = spec->size_bytes;
  return 0;
}

int sl_target_resize(struct sl_target *target, struct sl_error *e) {
  target->is_new = false;
  if (target->empties && ftruncate(target->fd, 0) != 0) {
    return fail(target, -errno, "ftruncate", e);
  }
  if (target->grows && ftruncate(target->fd, (off_t)target->size_bytes) != 0) {
    int code = fail(target, -errno, "ftruncate", e);
    sl_error_hint(e, "size_bytes is %llu",
                  (unsigned long long)target->size_bytes);
    return code;
  }
  return 0;
}

int sl_target_open(struct sl_target *target, const struct sl_target_spec *spec,
                   struct sl_error *e) {
  memset(target, 0, sizeof(*target));
  target->fd = -1;
  target->memory_align = target->offset_align = 1;
  size_t length = strlen(spec->path);
  if (length >= sizeof(target->path)) {
    sl_error_set(e, -ENAMETOOLONG, "open", spec->path, -1);
    sl_error_hint(e, "the kernel takes paths of %zu bytes at most",
                  sizeof(target->path) - 1);
    return -ENAMETOOLONG;
  }
  memcpy(target->path, spec->path, length + 1);
  int code = check_kind(target, spec, e);
  if (code) return code;

  target->fd = open_or_make(target, spec);
  if (target->fd < 0) {
    code = open_failed(target, spec, target->fd, e);
    target->fd = -1;
    remove_new(target);
    return code;
  }
  code = describe(target, e);
  if (!code && spec->write) code = sl_gate_check(target->fd, target->path, e);
  if (!code) code = plan_size(target, spec, e);
  if (!code && spec->direct) code = sl_target_probe_direct(target, e);
  if (code) sl_target_close(target, NULL);
  return code;
}

int sl_target_check_alignment(const struct sl_target *target,
                              uint64_t record_bytes, uint64_t range_offset,
                              struct sl_error *e) {
  uint32_t align = target->offset_align;
  if (align <= 1) return 0;
  bool record_fits = record_bytes % align == 0;
  if (record_fits && range_offset % align == 0) return 0;
  fail(target, -EINVAL, "alignment", e);
  sl_error_hint(
      e, "direct I/O here needs multiples of %u bytes: %s is %llu", align,
      record_fits ? "range_offset" : "record_bytes",
      (unsigned long long)(record_fits ? range_offset : record_bytes));
  return -EINVAL;
}

int sl_target_close(struct sl_target *target, struct sl_error *e) {
  if (target->fd < 0) return 0;
  int fd = target->fd;
  target->fd = -1;
  if (target->exclusive_fd) close(target->exclusive_fd);
  target->exclusive_fd = 0;
  remove_new(target);
  /* After EINTR the descriptor is gone on Linux; closing again could hit
   * another thread's file. */
  if (close(fd) == 0 || errno == EINTR) return 0;
  return fail(target, -errno, "close", e);
}
