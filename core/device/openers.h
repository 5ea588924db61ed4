/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_OPENERS_H
#define STORLUA_CORE_DEVICE_OPENERS_H

/* Other processes that have a block device open, from /proc.  Sees what this
 * process may see, and nodes below /dev only: asking for files elsewhere
 * could wait for a dead server. */

#include <stdbool.h>
#include <sys/types.h>

#include "core/device/sysfs.h"

struct sl_opener {
  pid_t pid;
  char name[32]; /* "qemu-system-x86" */
  bool for_writing;
};

/* The first one for which `wanted` holds of the device's number; writers
 * only, when asked for.  False when there is none. */
bool sl_openers_find(bool (*wanted)(const void *user,
                                    struct sl_device_number number),
                     const void *user, bool writers_only,
                     struct sl_opener *opener);

#endif
