/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_IDENTITY_PRIVATE_H
#define STORLUA_CORE_DEVICE_IDENTITY_PRIVATE_H

/* Shared by the identity*.c files only. */

#include "core/device/identity.h"

/* Fills what a USB disk does not tell of itself but its USB device does.
 * `disk` is the directory of the whole disk, links resolved. */
void sl_identity_read_usb(const char *disk, struct sl_identity *id);

#endif
