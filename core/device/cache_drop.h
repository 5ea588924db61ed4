/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_CACHE_DROP_H
#define STORLUA_CORE_DEVICE_CACHE_DROP_H

/* Emptying the page cache of one file or device, with the proof.  Blocking:
 * for job threads. */

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

#endif
