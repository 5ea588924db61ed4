/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_CACHE_DROP_H
#define STORLUA_CORE_DEVICE_CACHE_DROP_H

/* Emptying the page cache of one file, one device, or all, with the proof.
 * Always syncs first, for only clean pages go.  Blocking: for job threads. */

#include "core/base/error.h"
#include "core/device/residency.h"

struct sl_cache_drop {
  struct sl_residency before, after;
};

/* Residency of all of `path`, a regular file or block device. */
int sl_cache_residency(const char *path, struct sl_residency *residency,
                       struct sl_error *e);

/* Measures, flushes and drops, measures again.  Pages that stay are in
 * `after`, not an error. */
int sl_cache_drop_file(const char *path, struct sl_cache_drop *drop,
                       struct sl_error *e);

/* The same for a block device with BLKFLSBUF, which also works while it is
 * mounted; the pages of its files are others and stay. */
int sl_cache_drop_device(const char *path, struct sl_cache_drop *drop,
                         struct sl_error *e);

enum sl_cache_kind { /* what the kernel understands by these digits */
                     SL_CACHE_PAGES = 1,
                     SL_CACHE_NAMES = 2, /* dentries and inodes */
                     SL_CACHE_BOTH = 3
};

struct sl_cache_drop_all {
  int64_t cached_before_bytes, cached_after_bytes; /* of the whole system, -1
                         unknown; what is in tmpfs or mapped never goes */
};

/* Writes one digit to `control` (NULL: /proc/sys/vm/drop_caches) on a fresh
 * open: on a kept one the kernel repeats the previous value.  Other values are
 * refused before anything is synced or written. */
int sl_cache_drop_all(int what, const char *control,
                      struct sl_cache_drop_all *drop, struct sl_error *e);

#endif
