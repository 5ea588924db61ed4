/* SPDX-License-Identifier: MIT */
/* The devices of mounted file systems. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/device/btrfs_members.h"
#include "core/device/use_private.h"

enum { MEMBERS_MAX = 256 }; /* more fails, and so refuses */

static int add_mount(struct sl_uses *uses, const struct sl_mount *mount,
                     struct sl_device_number device, enum sl_use_kind kind) {
  struct sl_use use = {.kind = kind, .device = device, .mount = mount};
  return sl_uses_add(uses, &use);
}

/* Every member of every mounted btrfs is in sysfs; which mount it is of is
 * known by its source only.  `mount` may be any of that file system. */
static int add_btrfs(struct sl_uses *uses, const struct sl_system *system,
                     const struct sl_mount *mount) {
  struct sl_device_number members[MEMBERS_MAX];
  /* A covered mount point leads into another file system. */
  const char *path = !(system && system->mountinfo) &&
                             sl_mounts_is_reachable(&uses->mounts, mount)
                         ? mount->point
                         : NULL;
  int count =
      sl_btrfs_members(system, path, mount->source, members, MEMBERS_MAX);
  int code = count < 0 ? count : 0;
  for (int i = 0; code == 0 && i < count; i++) {
    code = add_mount(uses, mount, members[i], SL_USE_MOUNT);
  }
  if (count == 0 && sl_use_node(mount->source, &members[0])) {
    code = add_mount(uses, mount, members[0], SL_USE_MOUNT);
  }
  return code;
}

/* "/dev/sda:/dev/sdb" (bcachefs), "/dev/mmcblk0p2". */
static int add_sources(struct sl_uses *uses, const struct sl_mount *mount) {
  struct sl_device_number device;
  char node[512];
  int code = 0;

  for (const char *p = mount->source; code == 0 && *p;) {
    size_t length = strcspn(p, ":");
    snprintf(node, sizeof node, "%.*s", (int)length, p);
    /* Only in /dev: asking for a source elsewhere could wait for a dead
     * server. */
    if (strncmp(node, "/dev/", 5) == 0 && sl_use_node(node, &device)) {
      code = add_mount(uses, mount, device, SL_USE_MOUNT);
    }
    p += length + (p[length] == ':');
  }
  return code;
}

/* Devices named in the options: an XFS log, an XFS real-time device. */
static int add_options(struct sl_uses *uses, const struct sl_mount *mount) {
  static const char *const names[] = {
      "logdev=", "rtdev=", "jdev=", "journal_path="};
  struct sl_device_number device;
  char node[512];
  int code = 0;

  for (const char *p = mount->super_options; code == 0 && *p;) {
    size_t length = strcspn(p, ",");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      size_t name = strlen(names[i]);
      if (length <= name || strncmp(p, names[i], name) != 0) continue;
      snprintf(node, sizeof node, "%.*s", (int)(length - name), p + name);
      if (sl_use_node(node, &device)) {
        code = add_mount(uses, mount, device, SL_USE_JOURNAL);
      }
    }
    p += length + (p[length] == ',');
  }
  return code;
}

/* /proc/fs/jbd2 has "sda1-8" for a journal inside a file system and "sdb1"
 * for one on a device of its own. */
static int add_journals(struct sl_uses *uses, const struct sl_system *system) {
  char path[SL_SYSFS_PATH_BYTES], below[300];
  struct dirent *entry;
  int code = 0;

  if (sl_system_proc(system, "fs/jbd2", path) != 0) return 0;
  DIR *list = opendir(path);
  if (!list) return 0;
  while (code == 0 && (entry = readdir(list))) {
    struct sl_use use = {.kind = SL_USE_JOURNAL};
    if (entry->d_name[0] == '.') continue;
    snprintf(below, sizeof below, "class/block/%.255s", entry->d_name);
    /* "dm-0-8" is inside dm-0, "dm-0" a device: only what the kernel knows
     * by the whole name is a journal of its own. */
    if (sl_system_sysfs(system, below, path) == 0 &&
        sl_sysfs_device(path, "dev", &use.device) == 0) {
      code = sl_uses_add(uses, &use);
    }
  }
  closedir(list);
  return code;
}

int sl_uses_add_mounts(struct sl_uses *uses, const struct sl_system *system) {
  int code = 0;

  for (size_t i = 0; code == 0 && i < uses->mounts.count; i++) {
    const struct sl_mount *mount = &uses->mounts.list[i];
    struct sl_device_number device = {mount->major, mount->minor};
    if (strcmp(mount->type, "btrfs") == 0) {
      code = add_btrfs(uses, system, mount);
    } else if (mount->major != 0) {
      code = add_mount(uses, mount, device, SL_USE_MOUNT);
    } else {
      code = add_sources(uses, mount);
    }
    if (code == 0) code = add_options(uses, mount);
  }
  return code == 0 ? add_journals(uses, system) : code;
}
