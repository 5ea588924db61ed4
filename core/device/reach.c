/* SPDX-License-Identifier: MIT */
#include "core/device/reach.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/loop_backing.h"
#include "core/device/use_private.h"

static void add(struct sl_reach *reach, const struct sl_system *system,
                struct sl_device_number device, bool with_partitions);

const struct sl_reached *sl_reach_find(const struct sl_reach *reach,
                                       struct sl_device_number device) {
  for (unsigned i = 0; i < reach->count; i++) {
    if (sl_same_device(reach->list[i].number, device)) return &reach->list[i];
  }
  return NULL;
}

/* Adds the device of each entry of `directory` that has one, and, if asked
 * for, is a partition. */
static void add_entries(struct sl_reach *reach, const struct sl_system *system,
                        const char *directory, bool partitions) {
  struct sl_device_number device;
  struct dirent *entry;
  char attribute[300];

  DIR *list = opendir(directory);
  if (!list) return;
  while ((entry = readdir(list))) {
    const char *name = entry->d_name;
    if (name[0] == '.') continue;
    snprintf(attribute, sizeof attribute, "%s/partition", name);
    if (partitions && sl_sysfs_number(directory, attribute) < 0) continue;
    snprintf(attribute, sizeof attribute, "%s/dev", name);
    if (sl_sysfs_device(directory, attribute, &device) == 0) {
      add(reach, system, device, !partitions);
    }
  }
  closedir(list);
}

static void add_loop(struct sl_reach *reach, const struct sl_system *system,
                     const char *directory, struct sl_device_number device) {
  char node[SL_KERNEL_NAME_BYTES + 8], path[SL_SYSFS_PATH_BYTES];
  struct sl_device_number number;
  struct sl_loop_file file;

  if (sl_sysfs_text(directory, "loop/backing_file", path, sizeof path) <= 0) {
    return;
  }
  snprintf(node, sizeof node, "/dev/%.60s", sl_sysfs_name(directory));
  if (sl_use_node(node, &number) && sl_same_device(number, device) &&
      sl_loop_file_read(node, &file) == 0 && file.is_block) {
    add(reach, system, file.block, true);
  } else if (sl_use_node(path, &number)) {
    add(reach, system, number, true);
  }
}

static void add(struct sl_reach *reach, const struct sl_system *system,
                struct sl_device_number device, bool with_partitions) {
  if (sl_reach_find(reach, device)) return;
  if (reach->count == SL_REACH_MAX) {
    reach->is_cut = true;
    return;
  }
  char *directory = malloc(SL_SYSFS_PATH_BYTES + 16);
  if (!directory || sl_sysfs_directory(system, device, directory) != 0) {
    reach->is_cut = true;
    free(directory);
    return;
  }
  struct sl_reached *reached = &reach->list[reach->count++];
  reached->number = device;
  snprintf(reached->name, sizeof reached->name, "%.63s",
           sl_sysfs_name(directory));
  for (char *p = reached->name; (p = strchr(p, '!'));)
    *p = '/';

  bool is_partition = sl_sysfs_number(directory, "partition") >= 0;
  size_t length = strlen(directory);
  strcpy(directory + length, "/slaves");
  add_entries(reach, system, directory, false);
  directory[length] = '\0';
  if (is_partition) {
    struct sl_device_number disk;
    char *slash = strrchr(directory, '/');
    if (slash) *slash = '\0';
    if (sl_sysfs_device(directory, "dev", &disk) == 0) {
      add(reach, system, disk, false);
    }
  } else {
    if (with_partitions) add_entries(reach, system, directory, true);
    add_loop(reach, system, directory, device);
  }
  free(directory);
}

void sl_reach_add(struct sl_reach *reach, const struct sl_system *system,
                  struct sl_device_number device) {
  add(reach, system, device, true);
}
