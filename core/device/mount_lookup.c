/* SPDX-License-Identifier: MIT */
/* Finding a mount in the table. */
#include <string.h>

#include "core/device/mounts.h"

const struct sl_mount *sl_mounts_by_id(const struct sl_mounts *mounts, int id) {
  for (size_t i = 0; i < mounts->count; i++) {
    if (mounts->list[i].id == id) return &mounts->list[i];
  }
  return NULL;
}

/* Whether `path` is `point` or lies below it. */
static bool is_below(const char *path, const char *point) {
  size_t length = strlen(point);

  if (length == 1 && point[0] == '/') return path[0] == '/';
  return strncmp(path, point, length) == 0 &&
         (path[length] == '/' || path[length] == '\0');
}

/* Where a walk starts: the mount of "/" that is mounted on nothing we see.
 * A chroot may show none; then the longest prefix that lies on no other. */
static const struct sl_mount *first_of(const struct sl_mounts *mounts,
                                       const char *path) {
  const struct sl_mount *best = NULL;

  for (size_t i = 0; i < mounts->count; i++) {
    const struct sl_mount *m = &mounts->list[i];
    const struct sl_mount *parent = sl_mounts_by_id(mounts, m->parent);
    if (parent && parent != m) continue;
    if (!is_below(path, m->point)) continue;
    if (strcmp(m->point, "/") == 0) return m;
    if (!best || strlen(m->point) > strlen(best->point)) best = m;
  }
  return best;
}

/* Walks as the kernel does: from the mount reached so far, the first mount
 * point met along the path leads into the next.  A mount whose parent got
 * covered is never met. */
const struct sl_mount *sl_mounts_by_path(const struct sl_mounts *mounts,
                                         const char *path) {
  const struct sl_mount *at = first_of(mounts, path);

  for (size_t steps = 0; at && steps < mounts->count; steps++) {
    const struct sl_mount *next = NULL;
    for (size_t i = 0; i < mounts->count; i++) {
      const struct sl_mount *m = &mounts->list[i];
      if (m->parent != at->id || m == at) continue;
      if (!is_below(path, m->point) || !is_below(m->point, at->point)) {
        continue;
      }
      if (!next || strlen(m->point) < strlen(next->point)) next = m;
    }
    if (!next) return at;
    at = next;
  }
  return at;
}

bool sl_mounts_is_reachable(const struct sl_mounts *mounts,
                            const struct sl_mount *mount) {
  return sl_mounts_by_path(mounts, mount->point) == mount;
}
