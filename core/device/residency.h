/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_RESIDENCY_H
#define STORLUA_CORE_DEVICE_RESIDENCY_H

/* How much of a file or device is in the page cache, and emptying that of one
 * file.  Blocking calls: for job threads. */

#include <stdint.h>

#include "core/base/error.h"

struct sl_residency {
  int64_t resident_bytes; /* -1 unknown */
  int64_t dirty_bytes;    /* -1 unknown (mincore cannot tell) */
  const char *source;     /* "cachestat", "mincore", "unknown"; static */
};

/* Pages of [offset, offset+length) of `fd`; length 0 means to the end.  Tries
 * cachestat (Linux 6.5), then mmap and mincore.  Where neither is permitted
 * the result is unknown, which is not an error. */
void sl_residency_read(int fd, uint64_t offset, uint64_t length,
                       struct sl_residency *residency);

/* fdatasync, then POSIX_FADV_DONTNEED on all of `fd`.  Pages that are mapped
 * or belong to tmpfs stay: ask sl_residency_read. */
int sl_residency_drop(int fd, const char *path, struct sl_error *e);

#endif
