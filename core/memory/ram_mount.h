/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_RAM_MOUNT_H
#define STORLUA_CORE_MEMORY_RAM_MOUNT_H

/* Mounting file systems that lie in memory, in a mount namespace of our own
 * where the system allows it: what is mounted there goes with the process,
 * also when it is killed. */

#include "core/base/error.h"

/* Gives the calling thread a namespace of its own; threads and processes that
 * it starts from then on share it, those from before do not.  -EPERM without
 * CAP_SYS_ADMIN, -EINVAL where the kernel has none. */
int sl_ram_private(struct sl_error *e);

/* mount(2): nodev, nosuid, noatime.  `options` are those of the file system. */
int sl_ram_mount(const char *source, const char *target, const char *type,
                 const char *options, struct sl_error *e);

/* Unmounts; one that is busy for more than a second is detached (-EBUSY is
 * then not returned: nothing can reach it any more). */
int sl_ram_unmount(const char *target, struct sl_error *e);

#endif
