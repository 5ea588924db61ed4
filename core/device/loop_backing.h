/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_LOOP_BACKING_H
#define STORLUA_CORE_DEVICE_LOOP_BACKING_H

/* What lies behind a loop device.  Any thread; opens the device's node, which
 * does no I/O. */

#include <stdbool.h>
#include <stdint.h>

#include "core/device/sysfs.h"

struct sl_loop_backing {
  char path[SL_SYSFS_PATH_BYTES]; /* without the kernel's " (deleted)" */
  bool is_deleted;      /* no file of that name is the one behind the device */
  int direct;           /* 1: the backing file is read past the page cache, 0:
                           through it (cached twice), -1 unknown */
  int64_t offset_bytes; /* into the file; -1 unknown */
  int64_t size_limit_bytes; /* 0: to its end; -1 unknown */
};

/* What the driver itself holds, which no renaming can mislead. */
struct sl_loop_file {
  struct sl_device_number file_device; /* st_dev of the file */
  uint64_t inode;
  bool is_block;                 /* the file is a block device, … */
  struct sl_device_number block; /* … this one */
};

/* Asks the loop device `node`; a negative errno when it does not answer. */
int sl_loop_file_read(const char *node, struct sl_loop_file *file);

/* `directory` is the sysfs directory of the whole loop device, `node` its
 * "/dev/loopN" or NULL.  -ENOENT when it is not a loop device or nothing is
 * attached. */
int sl_loop_backing_read(const char *directory, const char *node,
                         struct sl_loop_backing *loop);

/* Calls found(user, "loop1") for each loop device over the file, by its st_dev
 * and inode: no other name of the file misleads, except where this user may
 * not ask the device; there the name that the kernel shows is looked up. */
void sl_loop_each_over(struct sl_device_number file_device, uint64_t inode,
                       void (*found)(void *user, const char *name), void *user);

#endif
