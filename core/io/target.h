/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_TARGET_H
#define STORLUA_CORE_IO_TARGET_H

/* An opened file or block device on which a workload runs. */

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

enum sl_open_sync {
  SL_OPEN_SYNC_NONE,
  SL_OPEN_SYNC_DATA, /* O_DSYNC */
  SL_OPEN_SYNC_FULL  /* O_SYNC */
};

struct sl_target_spec {
  const char *path; /* borrowed */
  bool write;
  bool create; /* regular files only; never in /dev */
  bool truncate;
  bool direct; /* O_DIRECT; refused where it cannot be had */
  enum sl_open_sync sync;
  uint64_t size_bytes; /* create: the size the file is to reach; 0 none.
                          Not preallocated: a hole until written. */
};

enum { SL_TARGET_PATH_BYTES = 4096 }; /* as PATH_MAX, with the NUL */

struct sl_target {
  int fd; /* -1 when closed */
  /* For discards, 0 none: under somebody's exclusive access the kernel drops
   * cached pages only for whom has it, and says EBUSY to others when one is
   * dirty. */
  int exclusive_fd;
  bool is_block;
  bool is_direct;            /* O_DIRECT is in effect, not merely accepted */
  bool is_ram;               /* tmpfs, ramfs: no medium behind it */
  bool is_new;               /* made by this open, nothing is in it yet */
  bool empties, grows;       /* what sl_target_resize does */
  uint64_t size_bytes;       /* of the device; of a file once it is resized */
  uint32_t memory_align;     /* for O_DIRECT; 1 when not direct */
  uint32_t offset_align;     /* of offset and length; 1 when not direct */
  uint64_t filesystem_magic; /* statfs f_type; 0 for a block device */
  uint64_t device;           /* st_dev, or st_rdev of a block device */
  char path[SL_TARGET_PATH_BYTES];
};

/* Opens and finds out, and changes nothing yet.  Direct I/O alignment comes
 * from statx(DIOALIGN), else from trying 512, the logical block size and 4096
 * on a read.  Opening a path below /dev never creates a file.  Fails with a
 * hint when O_DIRECT is asked for and cannot be had (ramfs, tmpfs before and
 * after 6.6), when the path is a directory, read-only, or not there; with
 * SL_REFUSED when the safety gate (core/device/gate.h) refuses a block device
 * without a grant, or a file behind a loop device, that is to be written. */
int sl_target_open(struct sl_target *target, const struct sl_target_spec *spec,
                   struct sl_error *e);

/* Empties and grows the file as the spec said, once all else is known to be
 * possible. */
int sl_target_resize(struct sl_target *target, struct sl_error *e);

/* -EINVAL with the alignment in the hint unless record and range fit it. */
int sl_target_check_alignment(const struct sl_target *target,
                              uint64_t record_bytes, uint64_t range_offset,
                              struct sl_error *e);

/* Bytes of [offset, offset+length) that no medium holds, so that reading them
 * is no I/O: holes, and extents that were allocated but never written (these
 * only if `unwritten` is set: dirty pages may lie over them).  -1 when the
 * file system does not tell, or for a device. */
int64_t sl_target_unbacked(const struct sl_target *target, uint64_t offset,
                           uint64_t length, bool unwritten);

/* What a trim of this target does. */
struct sl_trim_facts {
  bool is_zero_promised;      /* a trimmed sector reads as zeros: for a file,
                                 for a loop device, and where an old kernel
                                 says so (discard_zeroes_data).  False: it may
                                 read as anything. */
  uint64_t granularity_bytes; /* what is no whole multiple of it is not freed;
                                 0 unknown */
};

/* Finds out; -EOPNOTSUPP with a hint when the target cannot be trimmed.
 * Changes no data. */
int sl_target_trim_probe(struct sl_target *target, struct sl_trim_facts *facts,
                         struct sl_error *e);

/* BLKDISCARD, or a hole punched into a file whose size stays.  0 or -errno. */
int sl_target_trim(const struct sl_target *target, uint64_t offset,
                   uint64_t bytes);

/* Closes; reports a failing close (a delayed write error).  Removes a file
 * that the open made and that was never resized. */
int sl_target_close(struct sl_target *target, struct sl_error *e);

#endif
