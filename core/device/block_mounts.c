/* SPDX-License-Identifier: MIT */
/* What the mount table tells of a device. */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "core/device/block_list_private.h"

static void read_space(struct sl_block *block, const char *point) {
  struct statvfs fs;

  if (statvfs(point, &fs) != 0 || fs.f_blocks == 0) return;
  uint64_t unit = fs.f_frsize;
  block->space.is_known = true;
  block->space.total_bytes = fs.f_blocks * unit;
  block->space.used_bytes = (fs.f_blocks - fs.f_bfree) * unit;
  block->space.available_bytes = fs.f_bavail * unit;
}

void sl_blocks_read_mounts(struct sl_block_list *blocks, bool space) {
  const struct sl_uses *uses = &blocks->uses;

  for (size_t i = 0; i < uses->count; i++) {
    const struct sl_use *use = &uses->list[i];
    struct sl_block *block = sl_blocks_find(blocks, use->device);
    if (!block) continue;
    struct sl_signature *s = &block->signature;
    if (use->kind == SL_USE_SWAP && !s->is_known && !s->type[0]) {
      snprintf(s->type, sizeof s->type, "swap");
    }
    if (use->kind != SL_USE_MOUNT) continue;
    if (!s->is_known && !s->type[0]) {
      snprintf(s->type, sizeof s->type, "%.60s", use->mount->type);
    }
    if (space && !block->space.is_known &&
        sl_mounts_is_reachable(&uses->mounts, use->mount)) {
      read_space(block, use->mount->point);
    }
  }
}
