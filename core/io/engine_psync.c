/* SPDX-License-Identifier: MIT */
/* One pread(2), pwrite(2) or trim per transfer, one fdatasync(2) per flush. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io/engine_private.h"

/* The state is the target itself: one page less to touch per operation. */
static int fd_of(const struct sl_engine_state *state) {
  return ((const struct sl_target *)state)->fd;
}

static int psync_open(struct sl_engine_state **state,
                      const struct sl_engine_setup *setup, struct sl_error *e) {
  (void)e;
  *state = (struct sl_engine_state *)setup->target;
  return 0;
}

static int psync_close(struct sl_engine_state *state) {
  (void)state;
  return 0;
}

/* In a process with threads the C library makes pread and pwrite cancellation
 * points, which costs two locked instructions and fifty others around each
 * call.  Nobody cancels threads here, so where the arguments fit into
 * registers as they are, the call is made without that. */
#if defined(__LP64__) && defined(SYS_pread64) && defined(SYS_pwrite64)
static ssize_t read_at(int fd, void *data, size_t bytes, uint64_t offset) {
  return syscall(SYS_pread64, fd, data, bytes, (off_t)offset);
}

static ssize_t write_at(int fd, const void *data, size_t bytes,
                        uint64_t offset) {
  return syscall(SYS_pwrite64, fd, data, bytes, (off_t)offset);
}
#else
static ssize_t read_at(int fd, void *data, size_t bytes, uint64_t offset) {
  return pread(fd, data, bytes, (off_t)offset);
}

static ssize_t write_at(int fd, const void *data, size_t bytes,
                        uint64_t offset) {
  return pwrite(fd, data, bytes, (off_t)offset);
}
#endif

__attribute__((hot)) static ssize_t psync_transfer(
    struct sl_engine_state *state, enum sl_op op, void *data, size_t bytes,
    uint64_t offset) {
  ssize_t moved;
  if (op == SL_OP_READ) {
    moved = read_at(fd_of(state), data, bytes, offset);
  } else if (op == SL_OP_WRITE) {
    moved = write_at(fd_of(state), data, bytes, offset);
  } else {
    int code = sl_target_trim((const struct sl_target *)state, offset, bytes);
    return code ? code : (ssize_t)bytes;
  }
  return moved >= 0 ? moved : -errno;
}

static int psync_flush(struct sl_engine_state *state) {
  return fdatasync(fd_of(state)) == 0 ? 0 : -errno;
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
