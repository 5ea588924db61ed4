/* SPDX-License-Identifier: MIT */
/* A ring of this thread's own.  Requests are written into it by submit and
 * reach the kernel with the wait of the next reap: one system call a turn, or
 * one for a few of them where a device is waited for.
 * The file is registered, and for direct I/O the buffers, where the kernel
 * permits it (memory that may be locked is limited before Linux 5.12). */
#include "core/io/engine_private.h"

#ifdef STORLUA_HAVE_LIBURING

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/io/worker_threads.h"

/* What the kernel takes in one call at most. */
#define BYTES_MAX ((size_t)0x7ffff000)

/* A device begins with the first requests while the rest is written: so many
 * go to it by one call.  The page cache answers in the call itself, and gets
 * all of them by one. */
enum { DIRECT_BATCH = 4 };

struct sl_engine_state {
  struct io_uring ring;
  int fd;       /* borrowed from the target */
  int entry_fd; /* fd, or 0: the registered one */
  unsigned char entry_flags;
  bool is_direct;
  bool has_memory;       /* registered */
  bool has_plain;        /* READ and WRITE: Linux 5.6 */
  struct iovec *vectors; /* one a slot */
};

static const unsigned modes[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, /* Linux 6.1 */
    IORING_SETUP_COOP_TASKRUN,                               /* 5.19 */
    0};

static int open_ring(struct io_uring *ring, unsigned entries) {
  int code = -EINVAL;
  for (size_t i = 0; code == -EINVAL && i < sizeof(modes) / sizeof(*modes);
       i++) {
    code = io_uring_queue_init(entries, ring, modes[i]);
  }
  return code;
}

static int explain(int code, const char *path, struct sl_error *e) {
  sl_error_set(e, code, "io_uring_setup", path, -1);
  if (code == -ENOSYS) {
    sl_error_hint(e, "this kernel has no io_uring");
  } else if (code == -EPERM || code == -EACCES) {
    sl_error_hint(e,
                  "io_uring is forbidden here: by the sysctl "
                  "kernel.io_uring_disabled or a seccomp filter");
  } else if (code == -ENOMEM) {
    sl_error_hint(e, "too little memory may be locked: see ulimit -l");
  }
  return code;
}

static int uring_probe(struct sl_error *e) {
  struct io_uring ring;
  int code = open_ring(&ring, 2);
  if (code != 0) return explain(code, NULL, e);
  io_uring_queue_exit(&ring);
  return 0;
}

static int uring_open(struct sl_engine_state **state,
                      const struct sl_engine_setup *setup, struct sl_error *e) {
  const char *path = setup->target->path;
  struct sl_engine_state *s = calloc(1, sizeof(*s));
  if (s) s->vectors = calloc(setup->queue_depth, sizeof(*s->vectors));
  if (!s || !s->vectors) {
    free(s);
    return sl_error_set(e, -ENOMEM, "engine", path, -1);
  }
  s->fd = setup->target->fd;
  int code = open_ring(&s->ring, setup->queue_depth);
  if (code != 0) {
    free(s->vectors);
    free(s);
    return explain(code, path, e);
  }
  struct iovec memory = {setup->memory, setup->memory_bytes};
  bool has_file = io_uring_register_files(&s->ring, &s->fd, 1) == 0;
  s->entry_fd = has_file ? 0 : s->fd;
  s->entry_flags = has_file ? IOSQE_FIXED_FILE : 0;
  /* A copy out of the page cache is faster into memory by its address. */
  s->is_direct = setup->target->is_direct;
  s->has_memory =
      s->is_direct && io_uring_register_buffers(&s->ring, &memory, 1) == 0;
  s->has_plain = s->ring.features & IORING_FEAT_RW_CUR_POS;
  io_uring_register_ring_fd(&s->ring); /* saves a look-up when it works */
  *state = s;
  return 0;
}

static int uring_close(struct sl_engine_state *state) {
  io_uring_queue_exit(&state->ring);
  free(state->vectors);
  free(state);
  return 0;
}

static inline void write_entry(struct sl_engine_state *s,
                               struct io_uring_sqe *sqe, struct sl_request *r) {
  int fd = s->entry_fd;
  unsigned bytes = (unsigned)(r->bytes < BYTES_MAX ? r->bytes : BYTES_MAX);
  bool reads = r->op == SL_OP_READ;
  if (s->has_memory) {
    io_uring_prep_rw(reads ? IORING_OP_READ_FIXED : IORING_OP_WRITE_FIXED, sqe,
                     fd, r->data, bytes, r->offset);
  } else if (s->has_plain) {
    io_uring_prep_rw(reads ? IORING_OP_READ : IORING_OP_WRITE, sqe, fd, r->data,
                     bytes, r->offset);
  } else {
    struct iovec *vector = &s->vectors[r->slot];
    *vector = (struct iovec){r->data, bytes};
    io_uring_prep_rw(reads ? IORING_OP_READV : IORING_OP_WRITEV, sqe, fd,
                     vector, 1, r->offset);
  }
  sqe->flags = s->entry_flags;
  io_uring_sqe_set_data(sqe, r);
}

__attribute__((hot)) static int uring_submit(struct sl_engine_state *state,
                                             struct sl_request *const *requests,
                                             unsigned count) {
  unsigned taken = 0;
  while (taken < count) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&state->ring);
    if (!sqe) break;
    write_entry(state, sqe, requests[taken++]);
    if (state->is_direct && taken % DIRECT_BATCH == 0 && taken < count) {
      io_uring_submit(&state->ring); /* what it leaves goes with the wait */
    }
  }
  return taken ? (int)taken : -EAGAIN;
}

static int enter(struct io_uring *ring, int64_t timeout_ns) {
  if (timeout_ns < 0) return io_uring_submit_and_wait(ring, 1);
  struct io_uring_cqe *first;
  struct __kernel_timespec ts = {.tv_sec = timeout_ns / 1000000000,
                                 .tv_nsec = timeout_ns % 1000000000};
  return io_uring_submit_and_wait_timeout(ring, &first, 1, &ts, NULL);
}

__attribute__((hot)) static int uring_reap(struct sl_engine_state *state,
                                           int64_t timeout_ns,
                                           struct sl_request **done,
                                           unsigned max) {
  struct io_uring *ring = &state->ring;
  struct io_uring_cqe *cqe;
  unsigned head, count = 0;
  if (io_uring_sq_ready(ring) || !io_uring_cq_ready(ring)) {
    int code = enter(ring, timeout_ns);
    bool passing =
        code == -EINTR || code == -ETIME || code == -EAGAIN || code == -EBUSY;
    if (code < 0 && !passing) return code;
    if (code == -EINTR && !io_uring_cq_ready(ring)) return code;
  }
  io_uring_for_each_cqe(ring, head, cqe) {
    if (count == max) break;
    struct sl_request *request = io_uring_cqe_get_data(cqe);
    request->result = cqe->res;
    done[count++] = request;
  }
  io_uring_cq_advance(ring, count);
  return (int)count;
}

static int uring_flush(struct sl_engine_state *state) {
  return fdatasync(state->fd) == 0 ? 0 : -errno;
}

/* A request that cannot be done without waiting goes to a thread of the
 * kernel: that costs more than a call of pread, and is told. */
static unsigned uring_notes(struct sl_engine_state *state, const char **notes) {
  unsigned count = 0;
  if (sl_kernel_workers()) notes[count++] = "io_uring_punted";
  if (state->is_direct && !state->has_memory)
    notes[count++] = "io_uring_unregistered";
  return count;
}

const struct sl_engine sl_engine_uring = {
    .name = "io_uring",
    .needs_target = true,
    .queue_max = 4096,
    .probe = uring_probe,
    .open = uring_open,
    .close = uring_close,
    .flush = uring_flush,
    .submit = uring_submit,
    .reap = uring_reap,
    .notes = uring_notes,
};

#endif
