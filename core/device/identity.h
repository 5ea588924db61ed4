/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_IDENTITY_H
#define STORLUA_CORE_DEVICE_IDENTITY_H

/* Which unit a block device number stands for, and how it is set up.
 *
 * All from sysfs, and only from attributes that are named here.  What the
 * kernel does not tell is absent: "" or -1, never a guess.  Any thread. */

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/device/loop_backing.h"
#include "core/device/sysfs.h"

enum sl_device_kind {
  SL_DEVICE_DISK,
  SL_DEVICE_PARTITION,
  SL_DEVICE_LOOP,
  SL_DEVICE_EMMC_BOOT, /* mmcblkNbootM: a disk of its own to the kernel */
  SL_DEVICE_EMMC_RPMB, /* never opened: a read fails and fills the log */
  SL_DEVICE_ZRAM,
  SL_DEVICE_RAM,   /* brd */
  SL_DEVICE_MTD,   /* mtdblock */
  SL_DEVICE_MAPPED /* dm-N, mdN, bcacheN: made of other devices */
};
/* "disk", "partition", "emmc-boot", … static. */
const char *sl_device_kind_name(enum sl_device_kind kind);

enum { SL_LABEL_BYTES = 128, SL_UNIT_BYTES = SL_SYSFS_PATH_BYTES + 8 };

struct sl_identity {
  struct sl_device_number number;
  enum sl_device_kind kind;
  char name[SL_KERNEL_NAME_BYTES];     /* "mmcblk0p2", "cciss/c0d0" */
  char node[SL_KERNEL_NAME_BYTES + 8]; /* "/dev/…", "" when there is no node
                                          with this number */
  char parent[SL_KERNEL_NAME_BYTES];   /* whole disk of a partition or boot
                                          area */
  struct sl_device_number parent_number;
  int64_t partition; /* number; -1 when not a partition */

  /* The unit, in the form consent is given in: mmc:<cid>,
   * nvme:<serial>:<namespace>, wwid:<wwid>, loop:<backing path>, zram:<n>,
   * ram:<n>, dm:<uuid>, md:<uuid>, else serial:<vendor>:<model>:<serial> with
   * blanks as _ (USB sticks, virtio).  A partition has that of its disk.  ""
   * when there is no such number. */
  char unit[SL_UNIT_BYTES];
  char vendor[SL_LABEL_BYTES], model[SL_LABEL_BYTES];
  char serial[SL_LABEL_BYTES], wwid[SL_LABEL_BYTES];
  char firmware[SL_LABEL_BYTES];
  char mmc_type[16]; /* "MMC", "SD" */
  char mmc_cid[40], mmc_name[16], mmc_manfid[16], mmc_oemid[16];
  char mmc_date[16];
  bool is_loop_attached;
  struct sl_loop_backing loop; /* of the whole disk; only when attached */

  int64_t disk_sequence; /* changes with every plug-in (Linux 5.15) */
  int64_t size_bytes, start_bytes;
  int64_t logical_block_bytes, physical_block_bytes;
  int64_t read_only, removable, rotational, fua; /* 0, 1 */
  int64_t read_ahead_bytes;
  char write_cache[16]; /* "write back", "write through" */
  char scheduler[32];   /* the active one */
};

/* -ENOENT when the kernel has no such device; everything else is absence. */
int sl_identity_read(const struct sl_system *system,
                     struct sl_device_number device,
                     struct sl_identity *identity, struct sl_error *e);

#endif
