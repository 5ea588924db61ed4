/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_SYSFS_H
#define STORLUA_CORE_DEVICE_SYSFS_H

/* Reading single attributes of sysfs.  Only attributes that are named in this
 * project are ever opened: reading a vendor's node of unknown purpose has
 * reset boards.  Any thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SL_SYSFS_PATH_BYTES = 4096, SL_KERNEL_NAME_BYTES = 64 };

/* Where the system is described; NULL members mean the real one.  Tests give
 * a tree of their own. */
struct sl_system {
  const char *sysfs;     /* "/sys" */
  const char *mountinfo; /* "/proc/self/mountinfo" */
  const char *proc;      /* "/proc" */
};

struct sl_device_number {
  unsigned major, minor;
};
static inline bool sl_same_device(struct sl_device_number a,
                                  struct sl_device_number b) {
  return a.major == b.major && a.minor == b.minor;
}

/* Joins the root of sysfs (or of /proc) and `below`; -ENAMETOOLONG when it
 * does not fit into SL_SYSFS_PATH_BYTES. */
int sl_system_sysfs(const struct sl_system *system, const char *below,
                    char *path);
int sl_system_proc(const struct sl_system *system, const char *below,
                   char *path);

/* The directory of a block device, links resolved:
 * "/sys/devices/…/block/sda/sda1".  -ENOENT when the kernel has none. */
int sl_sysfs_directory(const struct sl_system *system,
                       struct sl_device_number device, char *directory);

/* Between the two, what is read of `directory` is found from there and not
 * from the root each time: most of the cost of reading many attributes.  The
 * string stays as it is meanwhile.  Does not nest; of this thread. */
void sl_sysfs_enter(const char *directory);
void sl_sysfs_leave(void);

/* Reads `attribute` ("size", "queue/scheduler") without its final newline.
 * Returns its length, or a negative errno and "" in `text`. */
ssize_t sl_sysfs_text(const char *directory, const char *attribute, char *text,
                      size_t size);

/* The same for what hardware says of itself: blanks around it cut off. */
ssize_t sl_sysfs_label(const char *directory, const char *attribute, char *text,
                       size_t size);

/* A non-negative number; -1 when absent or anything else. */
int64_t sl_sysfs_number(const char *directory, const char *attribute);

/* The number in `attribute` of the form "8:1"; a negative errno otherwise. */
int sl_sysfs_device(const char *directory, const char *attribute,
                    struct sl_device_number *device);

/* Last part of a path, as it stands in sysfs ("cciss!c0d0"). */
const char *sl_sysfs_name(const char *directory);

#endif
