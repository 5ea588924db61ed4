/* SPDX-License-Identifier: MIT */
#include "core/device/chain.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/loop_backing.h"
#include "core/device/path_device.h"

enum { DEPTH_MAX = 8 }; /* of loops in loops */

static void add_device(struct sl_chain *chain, const struct sl_system *system,
                       struct sl_device_number device, bool with_partitions,
                       int depth);

static struct sl_chain_link *add_link(struct sl_chain *chain,
                                      const char *name) {
  if (chain->count == SL_CHAIN_MAX) {
    chain->is_cut = true;
    return NULL;
  }
  struct sl_chain_link *link = &chain->links[chain->count++];
  *link = (struct sl_chain_link){0};
  snprintf(link->name, sizeof link->name, "%s", name);
  for (char *p = link->name; (p = strchr(p, '!'));)
    *p = '/';
  return link;
}

void sl_chain_add_name(struct sl_chain *chain, const char *name) {
  for (unsigned i = 0; i < chain->count; i++) {
    if (strcmp(chain->links[i].name, name) == 0) return;
  }
  if (name[0]) add_link(chain, name);
}

void sl_chain_add_block(struct sl_chain *chain, const char *name,
                        struct sl_device_number number) {
  struct sl_chain_link *link = add_link(chain, name);
  if (!link) return;
  link->is_block = true;
  link->number = number;
}

bool sl_chain_has_number(const struct sl_chain *chain,
                         struct sl_device_number number) {
  for (unsigned i = 0; i < chain->count; i++) {
    const struct sl_chain_link *link = &chain->links[i];
    if (link->is_block && link->number.major == number.major &&
        link->number.minor == number.minor) {
      return true;
    }
  }
  return NULL;
}

/* Whether all of `text` is as `shape` says: '#' stands for a number, 'x' for
 * hex digits, '*' for digits and dots. */
static bool has_shape(const char *text, const char *shape) {
  for (; *shape; shape++) {
    const char *set = *shape == '#'   ? "0123456789"
                      : *shape == 'x' ? "0123456789abcdef"
                      : *shape == '*' ? "0123456789."
                                      : NULL;
    size_t length = set ? strspn(text, set) : (size_t)(*text == *shape);
    if (length == 0) return false;
    text += length;
  }
  return *text == '\0';
}

/* Hosts and buses are parts of the device's path in sysfs. */
static void add_hosts(struct sl_chain *chain, const char *directory) {
  static const char *const shapes[] = {"mmc#",    "mmc#:x", "nvme#",
                                       "#:#:#:#", "ata#",   "#-*"};
  char part[SL_KERNEL_NAME_BYTES];

  for (const char *p = directory; *p; p += strspn(p, "/")) {
    size_t length = strcspn(p, "/");
    if (length < sizeof part) {
      memcpy(part, p, length);
      part[length] = '\0';
      for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (has_shape(part, shapes[i])) sl_chain_add_name(chain, part);
      }
    }
    p += length;
  }
}

/* Adds the block device of each entry of `directory` that has one and carries
 * the attribute `mark` ("partition"), if one is asked for. */
static void add_entries(struct sl_chain *chain, const struct sl_system *system,
                        const char *directory, const char *mark, int depth) {
  struct dirent *entry;
  char attribute[300];

  DIR *list = opendir(directory);
  if (!list) return;
  while ((entry = readdir(list))) {
    struct sl_device_number device;
    const char *name = entry->d_name;
    if (name[0] == '.') continue;
    if (mark) {
      snprintf(attribute, sizeof attribute, "%s/%s", name, mark);
      if (sl_sysfs_number(directory, attribute) < 0) continue;
    }
    snprintf(attribute, sizeof attribute, "%s/dev", name);
    if (sl_sysfs_device(directory, attribute, &device) != 0) continue;
    add_device(chain, system, device, false, depth + 1);
  }
  closedir(list);
}

static void add_backing(struct sl_chain *chain, const struct sl_system *system,
                        const char *directory, int depth) {
  struct sl_path_device found;
  char node[SL_KERNEL_NAME_BYTES + 8];

  struct sl_loop_backing *loop = malloc(sizeof *loop);
  if (!loop) return;
  snprintf(node, sizeof node, "/dev/%.60s", sl_sysfs_name(directory));
  if (sl_loop_backing_read(directory, node, loop) == 0 && !loop->is_deleted &&
      sl_path_device_find(loop->path, system, &found, NULL) == 0) {
    for (unsigned i = 0; i < found.count; i++) {
      add_device(chain, system, found.devices[i], false, depth + 1);
    }
    sl_path_device_release(&found);
  }
  free(loop);
}

static void add_device(struct sl_chain *chain, const struct sl_system *system,
                       struct sl_device_number device, bool with_partitions,
                       int depth) {
  char *directory = malloc(SL_SYSFS_PATH_BYTES + 16);

  if (directory && depth < DEPTH_MAX && !sl_chain_has_number(chain, device) &&
      sl_sysfs_directory(system, device, directory) == 0) {
    sl_chain_add_block(chain, sl_sysfs_name(directory), device);
    add_hosts(chain, directory);
    if (with_partitions) {
      add_entries(chain, system, directory, "partition", depth);
    }
    size_t length = strlen(directory);
    strcpy(directory + length, "/slaves");
    add_entries(chain, system, directory, NULL, depth);
    directory[length] = '\0';
    add_backing(chain, system, directory, depth);

    struct sl_device_number disk;
    bool is_partition = sl_sysfs_number(directory, "partition") >= 0;
    char *slash = strrchr(directory, '/');
    if (is_partition && slash) {
      *slash = '\0';
      if (sl_sysfs_device(directory, "dev", &disk) == 0) {
        add_device(chain, system, disk, false, depth + 1);
      }
    }
  }
  free(directory);
}

void sl_chain_add(struct sl_chain *chain, const struct sl_system *system,
                  struct sl_device_number device) {
  add_device(chain, system, device, true, 0);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* "1-1.4" is another device at the hub "1-1"; "ata1.00" belongs to ata1. */
static bool is_longer(const char *name, const char *rest) {
  return is_word(rest[0]) || (rest[0] == '.' && strchr(name, '-') &&
                              isdigit((unsigned char)rest[1]));
}

const char *sl_chain_find(const struct sl_chain *chain, const char *text) {
  for (unsigned i = 0; i < chain->count; i++) {
    const char *name = chain->links[i].name;
    size_t length = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p++) {
      if ((p == text || !is_word(p[-1])) && !is_longer(name, p + length)) {
        return name;
      }
    }
  }
  return NULL;
}
