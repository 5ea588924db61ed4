/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_BTRFS_MEMBERS_H
#define STORLUA_CORE_DEVICE_BTRFS_MEMBERS_H

/* The devices a mounted btrfs spans, from /sys/fs/btrfs/<id>/devices. */

#include "core/device/sysfs.h"

/* `path`: anything in the file system, asked for its id; may be NULL.
 * `source`: of the mount, used where the id cannot be had: the file system
 * that has it as a member.  Returns how many were written to `devices`, at
 * most `max`; 0 when it cannot be told; -E2BIG when there are more. */
int sl_btrfs_members(const struct sl_system *system, const char *path,
                     const char *source, struct sl_device_number *devices,
                     unsigned max);

#endif
