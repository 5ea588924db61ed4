/* SPDX-License-Identifier: MIT */
#include "core/device/block_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/block_list_private.h"

struct sl_block *sl_blocks_find(const struct sl_block_list *blocks,
                                struct sl_device_number device) {
  for (size_t i = 0; i < blocks->count; i++) {
    if (sl_same_device(blocks->list[i].identity.number, device)) {
      return &blocks->list[i];
    }
  }
  return NULL;
}

/* "sda2" before "sda10". */
static int compare_names(const char *a, const char *b) {
  while (*a && *b) {
    if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
      char *end_a, *end_b;
      unsigned long long x = strtoull(a, &end_a, 10);
      unsigned long long y = strtoull(b, &end_b, 10);
      if (x != y) return x < y ? -1 : 1;
      a = end_a;
      b = end_b;
    } else {
      if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
      a++;
      b++;
    }
  }
  return (*a != '\0') - (*b != '\0');
}

static int compare_blocks(const void *a, const void *b) {
  const struct sl_identity *x = &((const struct sl_block *)a)->identity;
  const struct sl_identity *y = &((const struct sl_block *)b)->identity;
  const char *disk_x = x->parent[0] ? x->parent : x->name;
  const char *disk_y = y->parent[0] ? y->parent : y->name;
  int order = compare_names(disk_x, disk_y);
  if (order) return order;
  if (!x->parent[0] != !y->parent[0]) return x->parent[0] ? 1 : -1;
  return compare_names(x->name, y->name);
}

/* 1: read, 0: to be left out, a negative errno without memory. */
static int read_one(const struct sl_system *system, const char *directory,
                    const char *name, struct sl_block *block) {
  struct sl_device_number number;
  char attribute[300];

  /* The paths of a multi-path NVMe; most kernels give them no number. */
  snprintf(attribute, sizeof attribute, "%s/hidden", name);
  if (strncmp(name, "nvme", 4) == 0 &&
      sl_sysfs_number(directory, attribute) == 1) {
    return 0;
  }
  snprintf(attribute, sizeof attribute, "%s/dev", name);
  if (sl_sysfs_device(directory, attribute, &number) != 0) return 0;
  memset(block, 0, sizeof *block);
  /* Gone between the listing and now. */
  if (sl_identity_read(system, number, &block->identity, NULL) != 0) return 0;
  sl_block_read_facts(system, block);
  return 1;
}

static int scan(const struct sl_system *system, struct sl_block_list *blocks,
                struct sl_error *e) {
  char directory[SL_SYSFS_PATH_BYTES];
  struct dirent *entry;
  size_t capacity = 0;

  int code = sl_system_sysfs(system, "class/block", directory);
  DIR *list = code == 0 ? opendir(directory) : NULL;
  if (!list) {
    return sl_error_set(e, code ? code : -errno, "list", directory, -1);
  }
  while (code == 0 && (entry = readdir(list))) {
    if (entry->d_name[0] == '.') continue;
    if (blocks->count == capacity) {
      capacity = capacity ? capacity * 2 : 16;
      struct sl_block *larger =
          realloc(blocks->list, capacity * sizeof *larger);
      if (!larger) {
        code = sl_error_set(e, -ENOMEM, "list", directory, -1);
        continue;
      }
      blocks->list = larger;
    }
    blocks->count += (size_t)read_one(system, directory, entry->d_name,
                                      &blocks->list[blocks->count]);
  }
  closedir(list);
  return code;
}

/* Why nothing can be read from it, or NULL. */
static const char *no_probe(const struct sl_identity *id) {
  if (id->kind == SL_DEVICE_EMMC_RPMB) return "never opened";
  if (!id->node[0]) return "no node in /dev";
  if (id->size_bytes == 0) return "no medium";
  return NULL;
}

static void probe(struct sl_block *block, bool wanted) {
  const char *why = wanted ? no_probe(&block->identity) : "not asked for";
  if (!why) {
    sl_signature_read_node(block->identity.node, &block->signature);
    return;
  }
  snprintf(block->signature.reason, sizeof block->signature.reason, "%s", why);
}

int sl_block_list_read(const struct sl_system *system, unsigned what,
                       struct sl_block_list *blocks, struct sl_error *e) {
  *blocks = (struct sl_block_list){0};
  int code = scan(system, blocks, e);
  if (code == 0) code = sl_uses_read(system, &blocks->uses, e);
  if (code != 0) {
    sl_block_list_release(blocks);
    return code;
  }
  if (blocks->count) {
    qsort(blocks->list, blocks->count, sizeof *blocks->list, compare_blocks);
  }
  for (size_t i = 0; i < blocks->count; i++) {
    probe(&blocks->list[i], (what & SL_BLOCKS_PROBE) != 0);
  }
  sl_blocks_read_links(blocks);
  sl_blocks_read_mounts(blocks, (what & SL_BLOCKS_SPACE) != 0);
  return 0;
}

void sl_block_list_release(struct sl_block_list *blocks) {
  free(blocks->list);
  sl_uses_release(&blocks->uses);
  *blocks = (struct sl_block_list){0};
}
