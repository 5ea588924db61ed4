/* SPDX-License-Identifier: MIT */
/* Labels and UUIDs from the links udev makes, where devices were not read. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "core/device/block_list_private.h"
#include "core/device/use_private.h"

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/* udev writes \x20 for what may not stand in a file name. */
static void decode(const char *from, char *to, size_t size) {
  size_t at = 0;
  while (*from && at + 1 < size) {
    int high = from[0] == '\\' && from[1] == 'x' ? hex_digit(from[2]) : -1;
    int low = high >= 0 ? hex_digit(from[3]) : -1;
    if (low >= 0) {
      to[at++] = (char)(high * 16 + low);
      from += 4;
    } else {
      to[at++] = *from++;
    }
  }
  to[at] = '\0';
}

static void read_folder(struct sl_block_list *blocks, const char *folder,
                        size_t offset, size_t size) {
  char path[512];
  struct dirent *entry;

  DIR *list = opendir(folder);
  if (!list) return;
  while ((entry = readdir(list))) {
    struct sl_device_number number;
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (!sl_use_node(path, &number)) continue;
    struct sl_block *block = sl_blocks_find(blocks, number);
    if (!block || block->signature.is_known) continue;
    char *text = (char *)&block->signature + offset;
    if (!text[0]) decode(entry->d_name, text, size);
  }
  closedir(list);
}

#define FIELD(name)                    \
  offsetof(struct sl_signature, name), \
      sizeof(((struct sl_signature *)NULL)->name)

void sl_blocks_read_links(struct sl_block_list *blocks) {
  bool is_all_known = true;
  for (size_t i = 0; i < blocks->count; i++) {
    if (!blocks->list[i].signature.is_known) is_all_known = false;
  }
  if (is_all_known) return;
  read_folder(blocks, "/dev/disk/by-label", FIELD(label));
  read_folder(blocks, "/dev/disk/by-uuid", FIELD(uuid));
  read_folder(blocks, "/dev/disk/by-partlabel", FIELD(partition_label));
  read_folder(blocks, "/dev/disk/by-partuuid", FIELD(partition_uuid));
}
