/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_SIGNATURE_H
#define STORLUA_CORE_DEVICE_SIGNATURE_H

/* What lies on a block device, by its magic numbers.  Reads a few blocks of
 * the device: for job threads. */

#include <stdbool.h>

enum { SL_SIGNATURE_TEXT_BYTES = 256, SL_SIGNATURE_NAME_BYTES = 64 };

struct sl_signature {
  bool is_known; /* it was looked at; else `reason`, and all else is "" */
  char type[SL_SIGNATURE_NAME_BYTES];  /* "ext4", "swap", "LVM2_member" */
  char usage[16];                      /* "filesystem", "raid", "crypto" */
  char label[SL_SIGNATURE_TEXT_BYTES]; /* bytes as they are */
  char uuid[SL_SIGNATURE_NAME_BYTES];
  char table[16]; /* partition table: "gpt", "dos" */
  char partition_uuid[SL_SIGNATURE_NAME_BYTES];  /* of its own entry */
  char partition_label[SL_SIGNATURE_TEXT_BYTES]; /* in that table */
  char reason[SL_SIGNATURE_TEXT_BYTES];
};

/* False: this build has no libblkid, and every answer is "not known". */
bool sl_signature_is_built(void);

/* Looks at an open device.  More than one signature that claim the whole
 * device leave it not known; sl_signature_is_empty then still says no. */
void sl_signature_read(int fd, struct sl_signature *signature);

/* The same by node; a device that cannot be opened is not known. */
void sl_signature_read_node(const char *node, struct sl_signature *signature);

/* Looked at, and nothing known was found. */
bool sl_signature_is_empty(const struct sl_signature *signature);

#endif
