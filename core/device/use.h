/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_USE_H
#define STORLUA_CORE_DEVICE_USE_H

/* Who uses which block device, always by number: file systems that are
 * mounted, with all their members, journals and logs; swap; devices that are
 * stacked on others; loop devices over block devices.
 *
 * Asks the mount table, sysfs and loop devices: for job threads. */

#include "core/base/error.h"
#include "core/device/mounts.h"
#include "core/device/sysfs.h"

enum sl_use_kind {
  SL_USE_MOUNT,   /* the device of a mounted file system, or one of several */
  SL_USE_JOURNAL, /* log or journal of a mounted file system elsewhere */
  SL_USE_SWAP,
  SL_USE_HOLDER, /* dm, md, bcache: `holder` lies on it */
  SL_USE_LOOP    /* the loop device `holder` reads and writes it */
};

struct sl_use {
  enum sl_use_kind kind;
  struct sl_device_number device;
  const struct sl_mount *mount; /* MOUNT; JOURNAL where it is known */
  char holder[SL_KERNEL_NAME_BYTES];
  struct sl_device_number holder_number;
  int64_t swap_bytes, swap_used_bytes, swap_priority;
};

struct sl_uses {
  struct sl_use *list;
  size_t count, capacity;  /* private */
  struct sl_mounts mounts; /* what `mount` points into */
};

/* "mount", "journal", …; static. */
const char *sl_use_kind_name(enum sl_use_kind kind);

/* Fails only where a use could be overlooked: the mount table or the swaps
 * cannot be read, no memory. */
int sl_uses_read(const struct sl_system *system, struct sl_uses *uses,
                 struct sl_error *e);
void sl_uses_release(struct sl_uses *uses);

/* "is mounted on /mnt (ext4)", "is swap in use".  A holder is followed to
 * what it is used for in turn. */
char *sl_use_text(const struct sl_uses *uses, const struct sl_use *use,
                  char *text, size_t size);

#endif
