/* SPDX-License-Identifier: MIT */
/* The kernel's asynchronous I/O (io_submit(2)), by system call.  It is
 * asynchronous for direct I/O only: with the page cache io_submit does the
 * work before it returns. */
#include <errno.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io/engine_private.h"

struct sl_engine_state {
  int fd; /* borrowed from the target */
  bool is_direct;
  aio_context_t context;
  struct iocb *blocks; /* one a slot */
  struct iocb **list;  /* as io_submit wants them */
  struct io_event *events;
};

/* What the system call expects, also where time_t has 64 bits but long 32. */
struct kernel_time {
  long seconds;
  long nanoseconds;
};

static int setup_context(unsigned depth, aio_context_t *context) {
  *context = 0;
  return syscall(SYS_io_setup, depth, context) == 0 ? 0 : -errno;
}

static int explain(int code, const char *path, struct sl_error *e) {
  sl_error_set(e, code, "io_setup", path, -1);
  if (code == -ENOSYS) {
    sl_error_hint(e, "this kernel was built without asynchronous I/O");
  } else if (code == -EAGAIN) {
    sl_error_hint(e, "the system's limit fs.aio-max-nr is reached");
  }
  return code;
}

static int libaio_probe(struct sl_error *e) {
  aio_context_t context;
  int code = setup_context(1, &context);
  if (code != 0) return explain(code, NULL, e);
  syscall(SYS_io_destroy, context);
  return 0;
}

static void release(struct sl_engine_state *s) {
  free(s->blocks);
  free(s->list);
  free(s->events);
  free(s);
}

static int libaio_open(struct sl_engine_state **state,
                       const struct sl_engine_setup *setup,
                       struct sl_error *e) {
  const char *path = setup->target->path;
  unsigned depth = setup->queue_depth;
  struct sl_engine_state *s = calloc(1, sizeof(*s));
  if (!s) return sl_error_set(e, -ENOMEM, "engine", path, -1);
  s->fd = setup->target->fd;
  s->is_direct = setup->target->is_direct;
  s->blocks = calloc(depth, sizeof(*s->blocks));
  s->list = calloc(depth, sizeof(struct iocb *));
  s->events = calloc(depth, sizeof(*s->events));
  int code = s->blocks && s->list && s->events ? 0 : -ENOMEM;
  if (code == 0) code = setup_context(depth, &s->context);
  if (code != 0) {
    release(s);
    return explain(code, path, e);
  }
  *state = s;
  return 0;
}

static int libaio_close(struct sl_engine_state *state) {
  syscall(SYS_io_destroy, state->context); /* waits for what is under way */
  release(state);
  return 0;
}

static int libaio_submit(struct sl_engine_state *state,
                         struct sl_request *const *requests, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const struct sl_request *r = requests[i];
    struct iocb *block = &state->blocks[r->slot];
    *block =
        (struct iocb){.aio_data = (uint64_t)(uintptr_t)r,
                      .aio_lio_opcode = r->op == SL_OP_READ ? IOCB_CMD_PREAD
                                                            : IOCB_CMD_PWRITE,
                      .aio_fildes = (uint32_t)state->fd,
                      .aio_buf = (uint64_t)(uintptr_t)r->data,
                      .aio_nbytes = r->bytes,
                      .aio_offset = (int64_t)r->offset};
    state->list[i] = block;
  }
  long taken = syscall(SYS_io_submit, state->context, (long)count, state->list);
  return taken >= 0 ? (int)taken : -errno;
}

static int libaio_reap(struct sl_engine_state *state, int64_t timeout_ns,
                       struct sl_request **done, unsigned max) {
  struct kernel_time timeout = {(long)(timeout_ns / 1000000000),
                                (long)(timeout_ns % 1000000000)};
  long count = syscall(SYS_io_getevents, state->context, 1L, (long)max,
                       state->events, timeout_ns < 0 ? NULL : &timeout);
  if (count < 0) return -errno;
  for (long i = 0; i < count; i++) {
    struct sl_request *request =
        (struct sl_request *)(uintptr_t)state->events[i].data;
    request->result = (ssize_t)state->events[i].res;
    done[i] = request;
  }
  return (int)count;
}

static int libaio_flush(struct sl_engine_state *state) {
  return fdatasync(state->fd) == 0 ? 0 : -errno;
}

static unsigned libaio_notes(struct sl_engine_state *state,
                             const char **notes) {
  if (state->is_direct) return 0;
  notes[0] = "libaio_synchronous";
  return 1;
}

const struct sl_engine sl_engine_libaio = {
    .name = "libaio",
    .needs_target = true,
    .queue_max = 4096,
    .probe = libaio_probe,
    .open = libaio_open,
    .close = libaio_close,
    .flush = libaio_flush,
    .submit = libaio_submit,
    .reap = libaio_reap,
    .notes = libaio_notes,
};
