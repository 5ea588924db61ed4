/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_MOUNTS_H
#define STORLUA_CORE_DEVICE_MOUNTS_H

/* The mount table, as /proc/self/mountinfo has it.  Any thread; a table
 * belongs to who read it. */

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct sl_mount {
  int id;
  int parent;            /* may name a mount that is not in the table */
  unsigned major, minor; /* of the superblock; 0:N where no device is behind */
  const char *root;      /* directory of the file system that is mounted */
  const char *point;     /* where it is seen */
  const char *options;   /* of this mount: "rw,relatime" */
  const char *type;      /* "ext4", "fuse.sshfs" */
  const char *source;    /* "/dev/mmcblk0p2", "/dev/root", "none"; may be "" */
  const char *super_options; /* of the file system; may be "" */
};

struct sl_mounts {
  struct sl_mount *list; /* in the order of the file */
  size_t count;
  char *text; /* what the strings point into; private */
};

/* Reads `path` (NULL: /proc/self/mountinfo), octal escapes decoded.  A table
 * that changed while it was read is read again: -EAGAIN when it never holds
 * still, -EBADMSG when a line is not one of a mount table. */
int sl_mounts_read(struct sl_mounts *mounts, const char *path,
                   struct sl_error *e);
void sl_mounts_release(struct sl_mounts *mounts);

/* NULL when the table has none. */
const struct sl_mount *sl_mounts_by_id(const struct sl_mounts *mounts, int id);

/* The mount an absolute path without links and dots leads to, found by names
 * alone: what covers what is respected.  NULL when the table is empty. */
const struct sl_mount *sl_mounts_by_path(const struct sl_mounts *mounts,
                                         const char *path);

/* False when another mount lies over it, so that no path leads there. */
bool sl_mounts_is_reachable(const struct sl_mounts *mounts,
                            const struct sl_mount *mount);

/* Id of the mount an open file is on, from /proc/self/fdinfo (Linux 3.15); an
 * O_PATH descriptor will do.  A negative errno when it cannot be told. */
int sl_mount_id_of_fd(int fd);

#endif
