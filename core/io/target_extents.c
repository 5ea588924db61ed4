/* SPDX-License-Identifier: MIT */
/* Which parts of a file lie on a medium.  Reading the other parts measures
 * memset. */
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/io/target.h"

enum {
  EXTENTS_A_CALL = 256,
  CALLS_MAX = 256 /* of a file in more pieces, the rest counts as backed */
};

static uint64_t overlap(uint64_t a, uint64_t a_end, uint64_t b,
                        uint64_t b_end) {
  uint64_t from = a > b ? a : b, to = a_end < b_end ? a_end : b_end;
  return to > from ? to - from : 0;
}

/* Backed bytes by FIEMAP, or -1. */
static int64_t backed_by_map(int fd, uint64_t offset, uint64_t end,
                             bool unwritten) {
  struct fiemap *map =
      malloc(sizeof(*map) + EXTENTS_A_CALL * sizeof(map->fm_extents[0]));
  if (!map) return -1;
  uint64_t backed = 0, at = offset;
  bool told = true, more = true;
  for (int calls = 0; more && at < end; calls++) {
    memset(map, 0, sizeof(*map));
    map->fm_start = at;
    map->fm_length = end - at;
    map->fm_extent_count = EXTENTS_A_CALL;
    if (ioctl(fd, FS_IOC_FIEMAP, map) != 0) {
      told = false;
      break;
    }
    if (calls == CALLS_MAX) {
      backed += end - at;
      break;
    }
    more = map->fm_mapped_extents > 0;
    for (uint32_t i = 0; i < map->fm_mapped_extents; i++) {
      const struct fiemap_extent *x = &map->fm_extents[i];
      uint64_t x_end = x->fe_logical + x->fe_length;
      bool blank = unwritten && (x->fe_flags & FIEMAP_EXTENT_UNWRITTEN);
      if (!blank) backed += overlap(x->fe_logical, x_end, at, end);
      if (i + 1 == map->fm_mapped_extents) {
        more = !(x->fe_flags & FIEMAP_EXTENT_LAST) && x_end > at;
        at = x_end;
      }
    }
  }
  free(map);
  return told ? (int64_t)backed : -1;
}

/* Backed bytes by lseek, or -1: it knows holes only. */
static int64_t backed_by_seek(int fd, uint64_t offset, uint64_t end) {
  uint64_t backed = 0, at = offset;
  while (at < end) {
    off_t data = lseek(fd, (off_t)at, SEEK_DATA);
    if (data < 0) return errno == ENXIO ? (int64_t)backed : -1;
    off_t hole = lseek(fd, data, SEEK_HOLE);
    if (hole <= data) return -1;
    backed += overlap((uint64_t)data, (uint64_t)hole, at, end);
    at = (uint64_t)hole;
  }
  return (int64_t)backed;
}

int64_t sl_target_unbacked(const struct sl_target *target, uint64_t offset,
                           uint64_t length, bool unwritten) {
  if (target->is_block || target->fd < 0) return -1;
  uint64_t end = offset + length;
  if (end > target->size_bytes) end = target->size_bytes;
  if (end <= offset) return 0;
  int64_t backed = backed_by_map(target->fd, offset, end, unwritten);
  if (backed < 0) backed = backed_by_seek(target->fd, offset, end);
  return backed < 0 ? -1 : (int64_t)(end - offset) - backed;
}
