/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_TARGET_PRIVATE_H
#define STORLUA_CORE_IO_TARGET_PRIVATE_H

/* Shared by target.c and target_direct.c only. */

#include "core/io/target.h"

#define SL_MAGIC_TMPFS UINT32_C(0x01021994)
#define SL_MAGIC_RAMFS UINT32_C(0x858458f6)
#define SL_MAGIC_BTRFS UINT32_C(0x9123683e)

/* Finds the alignment of direct I/O on an opened target whose other members
 * are filled, and sets is_direct, memory_align and offset_align.  The
 * descriptor is readable and has O_DIRECT.  Refuses what only pretends. */
int sl_target_probe_direct(struct sl_target *target, struct sl_error *e);

/* The message for a direct open that the file system answers with EINVAL. */
int sl_target_no_direct(const struct sl_target *target, struct sl_error *e);

#endif
