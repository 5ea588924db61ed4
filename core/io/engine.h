/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_ENGINE_H
#define STORLUA_CORE_IO_ENGINE_H

/* How one operation reaches the kernel.
 *
 * A synchronous engine moves one record in one call, and that call is the
 * timed part.  Queued engines (io_uring, libaio, POSIX aio) implement
 * `submit` and `reap` instead and are driven by the queued loop of the
 * workload; those members are reserved here and NULL until they exist.
 *
 *   engine   one operation and its timed part
 *   psync    one pread(2) or pwrite(2)
 *   null     nothing: what is timed is the tool itself */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/error.h"
#include "core/io/target.h"

enum sl_op { SL_OP_READ, SL_OP_WRITE, SL_OP_TRIM };

struct sl_engine_state; /* an engine's own data for one stream */

struct sl_engine {
  const char *name;
  bool needs_target;      /* false: null */
  unsigned queue_max;     /* 1 for a synchronous engine */
  int (*open)(struct sl_engine_state **state, struct sl_target *target,
              unsigned queue_depth, struct sl_error *e);
  void (*close)(struct sl_engine_state *state);
  /* Moves up to `bytes`; returns bytes moved, 0 at the end of the target, or
   * a negative errno.  May be short.  Timed by the caller. */
  ssize_t (*transfer)(struct sl_engine_state *state, enum sl_op op,
                      void *data, size_t bytes, uint64_t offset);
  /* fdatasync, or what stands for it.  Timed by the caller. */
  int (*flush)(struct sl_engine_state *state);
};

/* By name; NULL when this build has none of that name. */
const struct sl_engine *sl_engine_find(const char *name);

/* Names of all engines of this build, NULL-terminated, static. */
const char *const *sl_engine_names(void);

#endif
