/* SPDX-License-Identifier: MIT */
/* One lseek(2) and one read(2) or write(2) per transfer: two system calls,
 * as programs do that know no pread(2). */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/io/engine_private.h"

struct sl_engine_state {
  int fd; /* borrowed from the target */
};

static int sync_open(struct sl_engine_state **state,
                     const struct sl_engine_setup *setup, struct sl_error *e) {
  struct sl_engine_state *s = malloc(sizeof(*s));
  if (!s) return sl_error_set(e, -ENOMEM, "engine", setup->target->path, -1);
  s->fd = setup->target->fd;
  *state = s;
  return 0;
}

static int sync_close(struct sl_engine_state *state) {
  free(state);
  return 0;
}

static ssize_t sync_transfer(struct sl_engine_state *state, enum sl_op op,
                             void *data, size_t bytes, uint64_t offset) {
  ssize_t moved;
  if (op == SL_OP_TRIM) return -EOPNOTSUPP;
  if (lseek(state->fd, (off_t)offset, SEEK_SET) < 0) return -errno;
  if (op == SL_OP_READ) {
    moved = read(state->fd, data, bytes);
  } else {
    moved = write(state->fd, data, bytes);
  }
  return moved >= 0 ? moved : -errno;
}

static int sync_flush(struct sl_engine_state *state) {
  return fdatasync(state->fd) == 0 ? 0 : -errno;
}

const struct sl_engine sl_engine_sync = {
    .name = "sync",
    .needs_target = true,
    .queue_max = 1,
    .open = sync_open,
    .close = sync_close,
    .transfer = sync_transfer,
    .flush = sync_flush,
};
