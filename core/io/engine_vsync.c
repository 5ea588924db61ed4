/* SPDX-License-Identifier: MIT */
/* One preadv(2) or pwritev(2) per transfer: neighbouring records, one vector
 * each.  What is left of a short call is asked for in the same way. */
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/io/engine_private.h"

struct sl_engine_state {
  int fd; /* borrowed from the target */
  size_t record_bytes;
  struct iovec vectors[SL_VECTORS_MAX];
};

static int vsync_open(struct sl_engine_state **state,
                      const struct sl_engine_setup *setup, struct sl_error *e) {
  struct sl_engine_state *s = malloc(sizeof(*s));
  if (!s) return sl_error_set(e, -ENOMEM, "engine", setup->target->path, -1);
  s->fd = setup->target->fd;
  s->record_bytes = setup->record_bytes;
  *state = s;
  return 0;
}

static int vsync_close(struct sl_engine_state *state) {
  free(state);
  return 0;
}

static int split(struct sl_engine_state *state, unsigned char *data,
                 size_t bytes) {
  int count = 0;
  while (bytes && count < SL_VECTORS_MAX) {
    size_t length = bytes < state->record_bytes ? bytes : state->record_bytes;
    state->vectors[count++] = (struct iovec){data, length};
    data += length;
    bytes -= length;
  }
  return count;
}

static ssize_t vsync_transfer(struct sl_engine_state *state, enum sl_op op,
                              void *data, size_t bytes, uint64_t offset) {
  ssize_t moved;
  int count = split(state, data, bytes);
  if (op == SL_OP_READ) {
    moved = preadv(state->fd, state->vectors, count, (off_t)offset);
  } else if (op == SL_OP_WRITE) {
    moved = pwritev(state->fd, state->vectors, count, (off_t)offset);
  } else {
    return -EOPNOTSUPP;
  }
  return moved >= 0 ? moved : -errno;
}

static int vsync_flush(struct sl_engine_state *state) {
  return fdatasync(state->fd) == 0 ? 0 : -errno;
}

const struct sl_engine sl_engine_vsync = {
    .name = "vsync",
    .needs_target = true,
    .queue_max = 1,
    .open = vsync_open,
    .close = vsync_close,
    .transfer = vsync_transfer,
    .flush = vsync_flush,
};
