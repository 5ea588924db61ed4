/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_BLOCK_LIST_PRIVATE_H
#define STORLUA_CORE_DEVICE_BLOCK_LIST_PRIVATE_H

/* Shared by the block_*.c files only. */

#include "core/device/block_list.h"

/* Limits of the queue, transport, mapped name; identity is read already. */
void sl_block_read_facts(const struct sl_system *system,
                         struct sl_block *block);

/* Labels and UUIDs as udev linked them, for devices that were not probed. */
void sl_blocks_read_links(struct sl_block_list *blocks);

/* The type of what is mounted, for devices that were not probed; space. */
void sl_blocks_read_mounts(struct sl_block_list *blocks, bool space);

struct sl_block *sl_blocks_find(const struct sl_block_list *blocks,
                                struct sl_device_number device);

#endif
