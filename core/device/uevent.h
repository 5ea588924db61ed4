/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_UEVENT_H
#define STORLUA_CORE_DEVICE_UEVENT_H

/* What the kernel says when a device comes, goes or changes.  The descriptor
 * is watched by the loop; reading never blocks.  One thread. */

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"
#include "core/device/sysfs.h"

struct sl_uevent {
  char action[16];                 /* "add", "remove", "change" */
  char subsystem[32];              /* "block" */
  char name[SL_KERNEL_NAME_BYTES]; /* "mmcblk0p1" */
};

/* A descriptor, or a negative errno: not permitted, or in a network name
 * space that hears no devices. */
int sl_uevent_open(struct sl_error *e);

/* 1 and *event; 0 when there is none now; a negative errno: -ENOBUFS when
 * some were lost. */
int sl_uevent_next(int fd, struct sl_uevent *event, struct sl_error *e);

/* -EBADMSG when it is not a message of the kernel. */
int sl_uevent_parse(const char *data, size_t length, struct sl_uevent *event);

#endif
