/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_BLOCK_LIST_H
#define STORLUA_CORE_DEVICE_BLOCK_LIST_H

/* Every block device of the system, what is on it and who uses it.
 *
 * Numbers and names come from sysfs, uses from the mount table and swaps,
 * what is on a device from libblkid, else from udev's links and the mount
 * table.  What is not known is "" or -1.  A device that cannot be read is in
 * the list with what can be had.  Reads devices: for job threads. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/device/identity.h"
#include "core/device/signature.h"
#include "core/device/use.h"

struct sl_space {
  bool is_known; /* of the file system, asked at a mount that is reachable */
  uint64_t total_bytes, used_bytes, available_bytes;
};

struct sl_block {
  struct sl_identity identity;
  int64_t alignment_bytes; /* offset from the natural alignment; 0 is good */
  int64_t minimum_io_bytes, optimal_io_bytes;
  int64_t discard_granularity_bytes, discard_max_bytes; /* max 0: none */
  int64_t write_zeroes_max_bytes;
  int64_t queue_requests;
  char zoned[16];     /* "none", "host-managed" */
  char transport[16]; /* "mmc", "usb", "sata", "nvme", "virtio", … */
  char mapped_name[SL_LABEL_BYTES]; /* "vg-root", of a dm device */
  struct sl_signature signature;
  struct sl_space space;
};

struct sl_block_list {
  struct sl_block *list; /* by name, a disk before its partitions */
  size_t count;
  struct sl_uses uses; /* of all devices, also of ones not in the list */
};

enum {
  SL_BLOCKS_PROBE = 1, /* read the devices for what is on them */
  SL_BLOCKS_SPACE = 2  /* ask mounted file systems for their space */
};

/* `system` NULL: the real one.  Devices the kernel hides (the paths of a
 * multi-path NVMe) are left out.  Fails where nothing could be listed. */
int sl_block_list_read(const struct sl_system *system, unsigned what,
                       struct sl_block_list *blocks, struct sl_error *e);
void sl_block_list_release(struct sl_block_list *blocks);

#endif
