/* SPDX-License-Identifier: MIT */
/* aio_read and aio_write of the C library, which gives the work to threads of
 * its own.  glibc does the requests of one descriptor one after the other, so
 * each slot gets a descriptor: else the queue depth would be a number only. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/io/engine_private.h"

struct slot {
  struct aiocb block;
  struct sl_request *request; /* NULL: nothing under way */
  int fd;
};

struct sl_engine_state {
  int fd; /* borrowed from the target */
  unsigned depth;
  struct slot *slots;
  const struct aiocb **waiting;
};

static void release(struct sl_engine_state *s) {
  for (unsigned i = 0; s->slots && i < s->depth; i++) {
    if (s->slots[i].fd >= 0) close(s->slots[i].fd);
  }
  free(s->slots);
  free(s->waiting);
  free(s);
}

static int posixaio_open(struct sl_engine_state **state,
                         const struct sl_engine_setup *setup,
                         struct sl_error *e) {
  const char *path = setup->target->path;
  struct sl_engine_state *s = calloc(1, sizeof(*s));
  if (!s) return sl_error_set(e, -ENOMEM, "engine", path, -1);
  s->fd = setup->target->fd;
  s->slots = calloc(setup->queue_depth, sizeof(*s->slots));
  s->waiting = calloc(setup->queue_depth, sizeof(struct aiocb *));
  if (!s->slots || !s->waiting) {
    release(s);
    return sl_error_set(e, -ENOMEM, "engine", path, -1);
  }
  for (s->depth = 0; s->depth < setup->queue_depth; s->depth++) {
    int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
    s->slots[s->depth].fd = fd;
    if (fd >= 0) continue;
    int code = -errno;
    release(s);
    sl_error_set(e, code, "dup", path, -1);
    sl_error_hint(e, "each of the queue's %u slots needs a descriptor",
                  setup->queue_depth);
    return code;
  }
#ifdef __GLIBC__
  /* As many threads as slots; counts the first time in a process only. */
  struct aioinit init = {.aio_threads = 64, .aio_num = 64, .aio_idle_time = 1};
  aio_init(&init);
#endif
  *state = s;
  return 0;
}

static int posixaio_close(struct sl_engine_state *state) {
  for (unsigned i = 0; i < state->depth; i++) {
    const struct aiocb *block = &state->slots[i].block;
    if (!state->slots[i].request) continue;
    while (aio_error(block) == EINPROGRESS)
      aio_suspend(&block, 1, NULL);
  }
  release(state);
  return 0;
}

static int start(struct slot *slot, struct sl_request *request) {
  memset(&slot->block, 0, sizeof(slot->block));
  slot->block.aio_fildes = slot->fd;
  slot->block.aio_buf = request->data;
  slot->block.aio_nbytes = request->bytes;
  slot->block.aio_offset = (off_t)request->offset;
  slot->block.aio_sigevent.sigev_notify = SIGEV_NONE;
  int status = request->op == SL_OP_READ ? aio_read(&slot->block)
                                         : aio_write(&slot->block);
  if (status != 0) return -errno;
  slot->request = request;
  return 0;
}

static int posixaio_submit(struct sl_engine_state *state,
                           struct sl_request *const *requests, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    int code = start(&state->slots[requests[i]->slot], requests[i]);
    if (code != 0) return i ? (int)i : code;
  }
  return (int)count;
}

static int collect(struct sl_engine_state *state, struct sl_request **done,
                   unsigned max) {
  unsigned count = 0;
  for (unsigned i = 0; i < state->depth && count < max; i++) {
    struct slot *slot = &state->slots[i];
    if (!slot->request) continue;
    int status = aio_error(&slot->block);
    if (status == EINPROGRESS) continue;
    ssize_t moved = aio_return(&slot->block);
    slot->request->result = status == 0 ? moved : -status;
    done[count++] = slot->request;
    slot->request = NULL;
  }
  return (int)count;
}

static int posixaio_reap(struct sl_engine_state *state, int64_t timeout_ns,
                         struct sl_request **done, unsigned max) {
  int waiting = 0;
  struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                             .tv_nsec = (long)(timeout_ns % 1000000000)};
  for (unsigned i = 0; i < state->depth; i++) {
    const struct slot *slot = &state->slots[i];
    if (slot->request) state->waiting[waiting++] = &slot->block;
  }
  if (aio_suspend(state->waiting, waiting, timeout_ns < 0 ? NULL : &timeout) !=
      0) {
    return errno == EAGAIN ? 0 : -errno;
  }
  return collect(state, done, max);
}

static int posixaio_flush(struct sl_engine_state *state) {
  return fdatasync(state->fd) == 0 ? 0 : -errno;
}

const struct sl_engine sl_engine_posixaio = {
    .name = "posixaio",
    .needs_target = true,
    .queue_max = 64,
    .open = posixaio_open,
    .close = posixaio_close,
    .flush = posixaio_flush,
    .submit = posixaio_submit,
    .reap = posixaio_reap,
};
