/* SPDX-License-Identifier: MIT */
#include "core/device/residency.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One number on every architecture (Linux 6.5); older headers lack it. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

/* The kernel's struct cachestat_range and struct cachestat. */
struct cachestat_range_wire {
  uint64_t offset;
  uint64_t length;
};

struct cachestat_wire {
  uint64_t cached;
  uint64_t dirty;
  uint64_t writeback;
  uint64_t evicted;
  uint64_t recently_evicted;
};

/* A file of terabytes does not fit a 32-bit address space, so mincore sees it
 * through a window.  The vector of one window lives on the stack. */
enum { WINDOW_BYTES = 64 << 20, WINDOW_PAGES = WINDOW_BYTES / 4096 };

static int read_cachestat(int fd, uint64_t offset, uint64_t length,
                          int64_t page_bytes, struct sl_residency *r) {
  struct cachestat_range_wire range = {.offset = offset, .length = length};
  struct cachestat_wire found = {0};

  if (syscall(SYS_cachestat, fd, &range, &found, 0u) != 0) return -errno;
  r->resident_bytes = (int64_t)found.cached * page_bytes;
  r->dirty_bytes = (int64_t)(found.dirty + found.writeback) * page_bytes;
  r->source = "cachestat";
  return 0;
}

/* Bytes of a regular file or block device, -1 for anything else. */
static int64_t size_of(int fd, const struct stat *st) {
  if (S_ISREG(st->st_mode)) return (int64_t)st->st_size;
  if (S_ISBLK(st->st_mode)) {
    uint64_t bytes;
    if (ioctl(fd, BLKGETSIZE64, &bytes) == 0) return (int64_t)bytes;
  }
  return -1;
}

/* Since 5.2 mincore calls every page resident for who may not write the file:
 * an answer that must not be believed. */
static bool mincore_is_honest(int fd, const struct stat *st) {
  char path[32];

  if (geteuid() == 0 || geteuid() == st->st_uid) return true;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* Resident bytes of one window, or a negative errno. */
static int64_t mincore_window(int fd, uint64_t offset, size_t bytes,
                              size_t page_bytes) {
  unsigned char pages[WINDOW_PAGES];
  size_t count = (bytes + page_bytes - 1) / page_bytes;
  int64_t resident = 0;
  int code = 0;

  void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)offset);
  if (map == MAP_FAILED) return -errno;
  if (mincore(map, bytes, pages) != 0) code = -errno;
  munmap(map, bytes);
  if (code != 0) return code;
  for (size_t i = 0; i < count; i++)
    resident += pages[i] & 1;
  return resident * (int64_t)page_bytes;
}

static int read_mincore(int fd, uint64_t offset, uint64_t length,
                        int64_t page_bytes, struct sl_residency *r) {
  struct stat st;
  int64_t resident = 0;

  if (fstat(fd, &st) != 0) return -errno;
  if (!mincore_is_honest(fd, &st)) return -EPERM;
  int64_t size = size_of(fd, &st);
  if (size < 0) return -EINVAL;

  uint64_t end = (uint64_t)size;
  if (length > 0 && offset < end && length < end - offset) {
    end = offset + length;
  }
  offset -= offset % (uint64_t)page_bytes;
  while (offset < end) {
    uint64_t bytes = end - offset;
    if (bytes > WINDOW_BYTES) bytes = WINDOW_BYTES;
    int64_t found =
        mincore_window(fd, offset, (size_t)bytes, (size_t)page_bytes);
    if (found < 0) return (int)found;
    resident += found;
    offset += bytes;
  }
  r->resident_bytes = resident;
  r->dirty_bytes = -1;
  r->source = "mincore";
  return 0;
}

void sl_residency_read(int fd, uint64_t offset, uint64_t length,
                       struct sl_residency *residency) {
  int64_t page_bytes = sysconf(_SC_PAGESIZE);

  if (length > UINT64_MAX - offset) length = 0; /* the kernel would wrap */
  if (read_cachestat(fd, offset, length, page_bytes, residency) == 0) return;
  if (read_mincore(fd, offset, length, page_bytes, residency) == 0) return;
  residency->resident_bytes = -1;
  residency->dirty_bytes = -1;
  residency->source = "unknown";
}

int sl_residency_drop(int fd, const char *path, struct sl_error *e) {
  int code;

  /* Only clean pages go.  EINVAL and EROFS come from files that cannot be
   * synced because they cannot be written. */
  do {
    code = fdatasync(fd) == 0 ? 0 : -errno;
  } while (code == -EINTR);
  if (code != 0 && code != -EINVAL && code != -EROFS) {
    return sl_error_set(e, code, "fdatasync", path, -1);
  }
  code = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  if (code != 0) return sl_error_set(e, code, "posix_fadvise", path, -1);
  return 0;
}
