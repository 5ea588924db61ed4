/* SPDX-License-Identifier: MIT */
/* What a device's queue can do, and which way it is reached. */
#include <stdio.h>
#include <string.h>

#include "core/device/block_list_private.h"

/* The first part of the path in sysfs that tells; the order matters: a USB
 * bridge presents a SCSI disk, and so does SATA. */
static const char *transport_of(const char *directory, const char *name) {
  static const struct {
    const char *part, *transport;
  } shapes[] = {
      {"/usb", "usb"},       {"/mmc_host/", "mmc"},   {"/nvme", "nvme"},
      {"/virtio", "virtio"}, {"/ata", "sata"},        {"/session", "iscsi"},
      {"/rport-", "fc"},     {"/end_device-", "sas"}, {"/mtd", "mtd"},
      {"/vbd-", "xen"},      {"/target", "scsi"}};

  if (strstr(directory, "/devices/virtual/")) return "";
  if (strncmp(name, "mmcblk", 6) == 0) return "mmc";
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    if (strstr(directory, shapes[i].part)) return shapes[i].transport;
  }
  return "";
}

static void read_queue(const char *disk, struct sl_block *block) {
  block->minimum_io_bytes = sl_sysfs_number(disk, "queue/minimum_io_size");
  block->optimal_io_bytes = sl_sysfs_number(disk, "queue/optimal_io_size");
  block->discard_granularity_bytes =
      sl_sysfs_number(disk, "queue/discard_granularity");
  block->discard_max_bytes = sl_sysfs_number(disk, "queue/discard_max_bytes");
  block->write_zeroes_max_bytes =
      sl_sysfs_number(disk, "queue/write_zeroes_max_bytes");
  block->queue_requests = sl_sysfs_number(disk, "queue/nr_requests");
  sl_sysfs_label(disk, "queue/zoned", block->zoned, sizeof block->zoned);
}

void sl_block_read_facts(const struct sl_system *system,
                         struct sl_block *block) {
  char directory[SL_SYSFS_PATH_BYTES];
  const struct sl_identity *id = &block->identity;

  block->alignment_bytes = -1;
  if (sl_sysfs_directory(system, id->number, directory) == 0) {
    block->alignment_bytes = sl_sysfs_number(directory, "alignment_offset");
    if (strncmp(id->name, "dm-", 3) == 0) {
      sl_sysfs_label(directory, "dm/name", block->mapped_name,
                     sizeof block->mapped_name);
    }
  }
  if (id->parent[0] &&
      sl_sysfs_directory(system, id->parent_number, directory) != 0) {
    directory[0] = '\0';
  }
  sl_sysfs_enter(directory);
  read_queue(directory, block);
  sl_sysfs_leave();
  snprintf(block->transport, sizeof block->transport, "%s",
           transport_of(directory, id->name));
}
