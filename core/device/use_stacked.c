/* SPDX-License-Identifier: MIT */
/* Devices that lie on others. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/loop_backing.h"
#include "core/device/use_private.h"

static void set_holder(struct sl_use *use, const char *name) {
  snprintf(use->holder, sizeof use->holder, "%.63s", name);
  for (char *p = use->holder; (p = strchr(p, '!'));)
    *p = '/';
}

static int add_holders(struct sl_uses *uses, const char *directory) {
  char path[SL_SYSFS_PATH_BYTES + 16], attribute[300];
  struct dirent *entry;
  int code = 0;

  snprintf(path, sizeof path, "%s/holders", directory);
  DIR *list = opendir(path);
  if (!list) return 0;
  while (code == 0 && (entry = readdir(list))) {
    struct sl_use use = {.kind = SL_USE_HOLDER};
    if (entry->d_name[0] == '.') continue;
    if (sl_sysfs_device(directory, "dev", &use.device) != 0) continue;
    set_holder(&use, entry->d_name);
    snprintf(attribute, sizeof attribute, "%s/dev", entry->d_name);
    sl_sysfs_device(path, attribute, &use.holder_number);
    code = sl_uses_add(uses, &use);
  }
  closedir(list);
  return code;
}

/* A loop device that was set up over a block device: the kernel marks that
 * one in no other way, and lets it be opened exclusively. */
static int add_loop(struct sl_uses *uses, const char *directory,
                    const char *name) {
  struct sl_use use = {.kind = SL_USE_LOOP};
  struct sl_device_number of_node, number;
  struct sl_loop_file file;
  char text[SL_SYSFS_PATH_BYTES], node[SL_KERNEL_NAME_BYTES + 8];

  if (sl_sysfs_text(directory, "loop/backing_file", text, sizeof text) <= 0 ||
      sl_sysfs_device(directory, "dev", &number) != 0) {
    return 0;
  }
  use.holder_number = number;
  set_holder(&use, name);
  snprintf(node, sizeof node, "/dev/%.60s", name);
  if (sl_use_node(node, &of_node) && sl_same_device(of_node, number) &&
      sl_loop_file_read(node, &file) == 0 && file.is_block) {
    use.device = file.block;
  } else if (!sl_use_node(text, &use.device)) {
    return 0;
  }
  return sl_uses_add(uses, &use);
}

int sl_uses_add_stacked(struct sl_uses *uses, const struct sl_system *system) {
  char path[SL_SYSFS_PATH_BYTES], below[300];
  struct dirent *entry;
  int code = 0;

  if (sl_system_sysfs(system, "class/block", path) != 0) return -ENAMETOOLONG;
  DIR *list = opendir(path);
  if (!list) return -errno;
  while (code == 0 && (entry = readdir(list))) {
    const char *name = entry->d_name;
    snprintf(below, sizeof below, "class/block/%.255s", name);
    if (name[0] == '.' || sl_system_sysfs(system, below, path) != 0) continue;
    code = add_holders(uses, path);
    if (code == 0 && strncmp(name, "loop", 4) == 0) {
      code = add_loop(uses, path, name);
    }
  }
  closedir(list);
  return code;
}
