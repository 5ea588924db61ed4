/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_REACH_H
#define STORLUA_CORE_DEVICE_REACH_H

/* All block devices that a write to one of them may change: itself, the disk
 * of a partition, the partitions of a disk, what a stacked device lies on, a
 * block device behind a loop device.  Partitions beside it are not. */

#include <stdbool.h>

#include "core/device/sysfs.h"

enum { SL_REACH_MAX = 256 };

struct sl_reach {
  unsigned count;
  bool is_cut; /* more than fit: nothing may be concluded */
  struct sl_reached {
    struct sl_device_number number;
    char name[SL_KERNEL_NAME_BYTES]; /* "cciss/c0d0" */
  } list[SL_REACH_MAX];
};

/* Adds `device` and what it reaches; *reach starts zeroed. */
void sl_reach_add(struct sl_reach *reach, const struct sl_system *system,
                  struct sl_device_number device);

/* NULL when it is not reached. */
const struct sl_reached *sl_reach_find(const struct sl_reach *reach,
                                       struct sl_device_number device);

#endif
