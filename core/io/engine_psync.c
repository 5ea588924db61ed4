/* SPDX-License-Identifier: MIT */
/* One pread(2) or pwrite(2) per transfer, one fdatasync(2) per flush. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/io/engine_private.h"

struct sl_engine_state {
  int fd; /* borrowed from the target */
};

static int psync_open(struct sl_engine_state **state,
                      struct sl_target *target, unsigned queue_depth,
                      struct sl_error *e) {
  (void)queue_depth;
  struct sl_engine_state *s = malloc(sizeof(*s));
  if (!s) return sl_error_set(e, -ENOMEM, "engine", target->path, -1);
  s->fd = target->fd;
  *state = s;
  return 0;
}

static void psync_close(struct sl_engine_state *state) {
  free(state);
}

static ssize_t psync_transfer(struct sl_engine_state *state, enum sl_op op,
                              void *data, size_t bytes, uint64_t offset) {
  ssize_t moved;
  if (op == SL_OP_READ) {
    moved = pread(state->fd, data, bytes, (off_t)offset);
  } else if (op == SL_OP_WRITE) {
    moved = pwrite(state->fd, data, bytes, (off_t)offset);
  } else {
    return -EOPNOTSUPP;
  }
  return moved >= 0 ? moved : -errno;
}

static int psync_flush(struct sl_engine_state *state) {
  return fdatasync(state->fd) == 0 ? 0 : -errno;
}

const struct sl_engine sl_engine_psync = {
    .name = "psync",
    .needs_target = true,
    .queue_max = 1,
    .open = psync_open,
    .close = psync_close,
    .transfer = psync_transfer,
    .flush = psync_flush,
};
