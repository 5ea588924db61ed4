/* SPDX-License-Identifier: MIT */
#include "core/device/btrfs_members.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* "5cf4…-…" of the file system `path` is in. */
static bool id_of_path(const char *path, char *id, size_t size) {
  struct btrfs_ioctl_fs_info_args info = {0};
  struct stat st;

  /* Opening a FIFO or a device node would act on that, not on the file
   * system. */
  if (!path || stat(path, &st) != 0) return false;
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return false;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  int code = ioctl(fd, BTRFS_IOC_FS_INFO, &info);
  close(fd);
  if (code != 0) return false;
  size_t at = 0;
  for (unsigned i = 0; i < BTRFS_FSID_SIZE && at + 3 < size; i++) {
    bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    at += (size_t)snprintf(id + at, size - at, "%s%02x", dash ? "-" : "",
                           (unsigned)info.fsid[i]);
  }
  return true;
}

/* Member devices of the file system in `directory`. */
static int read_members(const char *directory, struct sl_device_number *devices,
                        unsigned max) {
  char path[SL_SYSFS_PATH_BYTES], attribute[300];
  unsigned count = 0;
  struct dirent *entry;

  snprintf(path, sizeof path, "%s/devices", directory);
  DIR *list = opendir(path);
  if (!list) return -errno;
  while ((entry = readdir(list))) {
    struct sl_device_number device;
    if (entry->d_name[0] == '.') continue;
    snprintf(attribute, sizeof attribute, "%s/dev", entry->d_name);
    /* A member that is missing (degraded) has no number. */
    if (sl_sysfs_device(path, attribute, &device) != 0) continue;
    if (count == max) {
      closedir(list);
      return -E2BIG;
    }
    devices[count++] = device;
  }
  closedir(list);
  return (int)count;
}

static int find_by_member(const char *root, struct sl_device_number member,
                          struct sl_device_number *devices, unsigned max) {
  char path[SL_SYSFS_PATH_BYTES];
  struct dirent *entry;
  int count = 0;

  DIR *list = opendir(root);
  if (!list) return 0;
  while (count == 0 && (entry = readdir(list))) {
    int length = snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
    if (entry->d_name[0] == '.' || length < 0) continue;
    if ((size_t)length >= sizeof path) continue;
    int members = read_members(path, devices, max);
    for (int i = 0; i < members; i++) {
      if (devices[i].major == member.major &&
          devices[i].minor == member.minor) {
        count = members;
      }
    }
  }
  closedir(list);
  return count;
}

int sl_btrfs_members(const struct sl_system *system, const char *path,
                     const char *source, struct sl_device_number *devices,
                     unsigned max) {
  const char *sysfs = system && system->sysfs ? system->sysfs : "/sys";
  char root[SL_SYSFS_PATH_BYTES], id[64];
  struct stat st;

  if (id_of_path(path, id, sizeof id)) {
    snprintf(root, sizeof root, "%s/fs/btrfs/%s", sysfs, id);
    int count = read_members(root, devices, max);
    if (count != 0 && count != -ENOENT) return count;
  }
  if (stat(source, &st) != 0 || !S_ISBLK(st.st_mode)) return 0;
  struct sl_device_number member = {major(st.st_rdev), minor(st.st_rdev)};
  snprintf(root, sizeof root, "%s/fs/btrfs", sysfs);
  return find_by_member(root, member, devices, max);
}
