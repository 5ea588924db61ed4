/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_CHAIN_H
#define STORLUA_CORE_DEVICE_CHAIN_H

/* Everything a failure of one device may be reported under: the device, its
 * disk, what a mapped or loop device lies on, and the hosts they hang on
 * ("mmc0", "mmc0:0001", "nvme0", "2:0:0:0", "ata3", "1-1.2").
 * Looking into the file behind a loop device may block: for job threads. */

#include <stdbool.h>

#include "core/device/sysfs.h"

enum { SL_CHAIN_MAX = 64 };

struct sl_chain_link {
  char name[SL_KERNEL_NAME_BYTES]; /* as the kernel prints it */
  bool is_block;                   /* has a number; false: a host */
  struct sl_device_number number;
};

struct sl_chain {
  unsigned count;
  bool is_cut; /* more links than fit */
  struct sl_chain_link links[SL_CHAIN_MAX];
};

/* Adds `device` and all it lies on; *chain starts zeroed.  For a whole disk
 * its partitions too.  A device the kernel does not know adds nothing. */
void sl_chain_add(struct sl_chain *chain, const struct sl_system *system,
                  struct sl_device_number device);

/* Adds one name, with or without a number, that was found before or is given
 * by hand. */
void sl_chain_add_name(struct sl_chain *chain, const char *name);
void sl_chain_add_block(struct sl_chain *chain, const char *name,
                        struct sl_device_number number);

/* The name that stands in `text` as a word of its own: "sda" is not in
 * "sda2", but is in "jbd2/sda-8".  NULL when none does; else it belongs to the
 * chain. */
const char *sl_chain_find(const struct sl_chain *chain, const char *text);

bool sl_chain_has_number(const struct sl_chain *chain,
                         struct sl_device_number number);

#endif
