/* SPDX-License-Identifier: MIT */
#include "core/device/path_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/device/btrfs_members.h"

/* The mount by its id, which no overmount and no bind mount can mislead; by
 * name where the kernel does not tell. */
static const struct sl_mount *mount_of(const struct sl_mounts *mounts, int fd,
                                       const char *path, bool ids_are_ours) {
  const struct sl_mount *mount = NULL;

  if (ids_are_ours) {
    int id = sl_mount_id_of_fd(fd);
    if (id >= 0) mount = sl_mounts_by_id(mounts, id);
  }
  if (mount) return mount;
  char *absolute = realpath(path, NULL);
  if (absolute) mount = sl_mounts_by_path(mounts, absolute);
  free(absolute);
  return mount;
}

static bool is_type(const struct sl_mount *mount, const char *type) {
  return strcmp(mount->type, type) == 0;
}

/* Why a file system with an anonymous number has no block device. */
static const char *nature_of(const struct sl_mount *mount) {
  if (is_type(mount, "tmpfs") || is_type(mount, "ramfs") ||
      is_type(mount, "rootfs")) {
    return "lies in memory";
  }
  if (is_type(mount, "overlay")) return "stacks other file systems";
  if (strncmp(mount->type, "fuse", 4) == 0) {
    return "is served by a user process";
  }
  if (strncmp(mount->type, "nfs", 3) == 0 || is_type(mount, "cifs") ||
      is_type(mount, "smb3") || is_type(mount, "ceph")) {
    return "lies on another machine";
  }
  if (is_type(mount, "9p") || is_type(mount, "virtiofs")) {
    return "lies on the host of this virtual machine";
  }
  if (is_type(mount, "ubifs") || is_type(mount, "jffs2")) {
    return "lies on raw flash";
  }
  return "has no block device of its own";
}

static void devices_of_mount(const struct sl_system *system, const char *path,
                             struct sl_path_device *found) {
  const struct sl_mount *mount = found->mount;

  if (is_type(mount, "btrfs")) {
    int count = sl_btrfs_members(system, path, mount->source, found->devices,
                                 SL_PATH_DEVICES_MAX);
    found->count = count > 0 ? (unsigned)count : 0;
    if (count == -E2BIG) {
      snprintf(found->reason, sizeof found->reason,
               "btrfs with more than %d devices", SL_PATH_DEVICES_MAX);
    } else if (count <= 0) {
      snprintf(found->reason, sizeof found->reason,
               "btrfs, whose member devices cannot be read from sysfs");
    }
  } else if (mount->major != 0) {
    /* Right also where the source says /dev/root or names a node that is
     * gone. */
    found->devices[0] = (struct sl_device_number){mount->major, mount->minor};
    found->count = 1;
  } else {
    snprintf(found->reason, sizeof found->reason,
             "no single block device: %.64s %s", mount->type, nature_of(mount));
  }
}

int sl_path_device_find(const char *path, const struct sl_system *system,
                        struct sl_path_device *found, struct sl_error *e) {
  const char *table = system ? system->mountinfo : NULL;
  struct stat st;

  *found = (struct sl_path_device){0};
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return sl_error_set(e, -errno, "open", path, -1);
  int code = 0;
  if (fstat(fd, &st) != 0) {
    code = sl_error_set(e, -errno, "fstat", path, -1);
  } else if (S_ISBLK(st.st_mode)) {
    found->is_node = true;
    found->devices[0].major = major(st.st_rdev);
    found->devices[0].minor = minor(st.st_rdev);
    found->count = 1;
  } else {
    code = sl_mounts_read(&found->mounts, table, e);
    if (code == 0) {
      found->mount = mount_of(&found->mounts, fd, path, table == NULL);
    }
  }
  close(fd);
  if (code != 0 || found->is_node) return code;
  if (found->mount) {
    devices_of_mount(system, path, found);
  } else {
    snprintf(found->reason, sizeof found->reason,
             "its mount is not in the mount table");
  }
  return 0;
}

void sl_path_device_release(struct sl_path_device *found) {
  sl_mounts_release(&found->mounts);
  found->mount = NULL;
}
