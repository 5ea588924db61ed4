/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_LIMITS_H
#define STORLUA_CORE_MEMORY_LIMITS_H

/* How much memory may be taken without waking the OOM killer: the kernel's
 * MemAvailable, and the headroom of every memory cgroup (v1 and v2) from ours
 * up to the root.  Under overcommit no allocation fails cleanly, so this is
 * asked before, and again while memory is being touched. */

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

enum { SL_CGROUP_BYTES = 4096 }; /* as long as any path */

struct sl_memory_limits {
  int64_t total_bytes;     /* of the machine */
  int64_t available_bytes; /* MemAvailable */
  /* Of the cgroup with the least headroom; -1 without any limit. */
  int64_t cgroup_limit_bytes, cgroup_used_bytes;
  char cgroup[SL_CGROUP_BYTES]; /* its folder */
  /* A group of ours has a path that is too long to read or cannot be read:
   * what it allows is not known. */
  bool cgroup_unknown;
  int64_t free_bytes;    /* the least of all of these */
  int64_t reserve_bytes; /* what must stay free: for the rest of the machine,
                            or of the cgroup where that is what limits */
  int64_t room_bytes;    /* free - reserve, at least 0 */
};

/* `root` is put before /proc and /sys: NULL for the machine itself. */
int sl_memory_limits(const char *root, struct sl_memory_limits *limits,
                     struct sl_error *e);

#endif
