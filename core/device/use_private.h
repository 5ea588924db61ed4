/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_USE_PRIVATE_H
#define STORLUA_CORE_DEVICE_USE_PRIVATE_H

/* Shared by the use*.c files only. */

#include "core/device/use.h"

/* Each adds what it finds; 0 or a negative errno. */
int sl_uses_add(struct sl_uses *uses, const struct sl_use *use);
int sl_uses_add_mounts(struct sl_uses *uses, const struct sl_system *system);
int sl_uses_add_stacked(struct sl_uses *uses, const struct sl_system *system);

/* The number of a node, false when it is not one of a block device. */
bool sl_use_node(const char *node, struct sl_device_number *number);

#endif
