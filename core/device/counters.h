/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_COUNTERS_H
#define STORLUA_CORE_DEVICE_COUNTERS_H

/* What the kernel counted for a block device, and the difference of two
 * readings.  The counts are of requests that reached the device's queue, by
 * whoever issued them.  Any thread. */

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/device/sysfs.h"

struct sl_direction_counters {
  uint64_t operations;
  uint64_t merges; /* requests that joined another before it was issued */
  uint64_t bytes;
  uint64_t wait_ns; /* sum over the requests, in steps of a millisecond */
};

struct sl_counters {
  struct sl_direction_counters read, write;
  struct sl_direction_counters discard; /* zero unless has_discard */
  uint64_t flushes, flush_wait_ns;      /* zero unless has_flush */
  uint64_t busy_ns;   /* time with at least one request in flight */
  uint64_t in_flight; /* now; not a difference */
  bool has_discard;   /* Linux 4.18 */
  bool has_flush;     /* Linux 5.5 */
};

/* Reads /sys/dev/block/<device>/stat.  Flushes are counted for whole disks
 * only. */
int sl_counters_read(const struct sl_system *system,
                     struct sl_device_number device,
                     struct sl_counters *counters, struct sl_error *e);

/* after - before.  Counters of 32-bit kernels that wrapped once in between
 * are put right.  -ERANGE when a count went back in another way: the number
 * belongs to another device now. */
int sl_counters_since(const struct sl_counters *before,
                      const struct sl_counters *after,
                      struct sl_counters *difference);

#endif
