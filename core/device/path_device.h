/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_PATH_DEVICE_H
#define STORLUA_CORE_DEVICE_PATH_DEVICE_H

/* Which block devices does the data behind a path lie on?
 *
 * Answered from the mount the path is on and the device of its source, never
 * from the file's st_dev: on btrfs and overlay that is a number of its own.
 * Looking up a path may block in its file system: for job threads. */

#include <stdbool.h>

#include "core/base/error.h"
#include "core/device/mounts.h"
#include "core/device/sysfs.h"

enum { SL_PATH_DEVICES_MAX = 32, SL_PATH_REASON_BYTES = 192 };

struct sl_path_device {
  bool is_node;                 /* the path is itself a block device */
  struct sl_mounts mounts;      /* owns the strings of `mount` */
  const struct sl_mount *mount; /* NULL for a node */
  unsigned count; /* 0: no single block device, `reason` says why */
  struct sl_device_number devices[SL_PATH_DEVICES_MAX]; /* more than one: the
                         members of a file system that spans them */
  char reason[SL_PATH_REASON_BYTES];
};

/* Follows links.  The path must exist.  `system` may be NULL; with a mount
 * table of its own the mount is found by name, the ids being others.  Release
 * `found` after success. */
int sl_path_device_find(const char *path, const struct sl_system *system,
                        struct sl_path_device *found, struct sl_error *e);

void sl_path_device_release(struct sl_path_device *found);

#endif
