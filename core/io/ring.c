/* SPDX-License-Identifier: MIT */
#include "core/io/ring.h"

#include "core/io/engine.h"

#ifdef STORLUA_HAVE_LIBURING

#include <errno.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/io/ring_private.h"

const char *sl_ring_op_name(enum sl_ring_op op) {
  static const char *const names[SL_RING_OPS] = {"read", "write", "fsync"};
  return names[op];
}

/* Completions are delivered at our next system call instead of by an
 * interrupt (Linux 5.19).  DEFER_TASKRUN would tie the ring to the thread
 * that opens it. */
static int open_uring(struct io_uring *uring, unsigned entries) {
  int code = io_uring_queue_init(entries, uring, IORING_SETUP_COOP_TASKRUN);
  if (code == -EINVAL) code = io_uring_queue_init(entries, uring, 0);
  return code;
}

/* Registered memory spares direct I/O the look-up of its pages.  A copy out of
 * the page cache is faster through the address: 150 ns of 2,300 for 4 KiB. */
static void choose_operations(struct sl_ring *r) {
  struct iovec memory = {r->arena.data, r->arena.size};
  r->has_memory = r->target.is_direct &&
                  io_uring_register_buffers(&r->uring, &memory, 1) == 0;
  r->has_vectors = false;
  r->codes[SL_RING_FSYNC] = IORING_OP_FSYNC;
  if (r->has_memory) {
    r->codes[SL_RING_READ] = IORING_OP_READ_FIXED;
    r->codes[SL_RING_WRITE] = IORING_OP_WRITE_FIXED;
  } else if (r->uring.features & IORING_FEAT_RW_CUR_POS) { /* Linux 5.6 */
    r->codes[SL_RING_READ] = IORING_OP_READ;
    r->codes[SL_RING_WRITE] = IORING_OP_WRITE;
  } else {
    r->has_vectors = true;
    r->codes[SL_RING_READ] = IORING_OP_READV;
    r->codes[SL_RING_WRITE] = IORING_OP_WRITEV;
  }
}

static void register_all(struct sl_ring *r) {
  bool has_file = io_uring_register_files(&r->uring, &r->target.fd, 1) == 0;
  r->entry_fd = has_file ? 0 : r->target.fd;
  r->entry_flags = has_file ? IOSQE_FIXED_FILE : 0;
  choose_operations(r);
}

void sl_ring_free(struct sl_ring *r) {
  free(r->table);
  free(r->line);
  free(r);
}

static int open_parts(struct sl_ring *r, const struct sl_ring_spec *spec,
                      struct sl_error *e) {
  const char *path = spec->target.path;
  int code = sl_target_open(&r->target, &spec->target, e);
  if (code != 0) return code;
  code = sl_target_check_alignment(&r->target, r->record_bytes, 0, e);
  if (code == 0)
    code = sl_buffer_init(&r->arena, r->record_bytes * r->slots, e);
  if (code == 0) {
    code = open_uring(&r->uring, 2 * r->slots);
    if (code != 0) sl_error_set(e, code, "io_uring_setup", path, -1);
  }
  if (code == 0) {
    code = sl_target_resize(&r->target, e);
    if (code != 0) io_uring_queue_exit(&r->uring);
  }
  if (code != 0) {
    sl_buffer_release(&r->arena);
    sl_target_close(&r->target, NULL);
    return code;
  }
  register_all(r);
  return 0;
}

int sl_ring_open(struct sl_ring **ring, const struct sl_ring_spec *spec,
                 struct sl_error *e) {
  int code = sl_engine_probe("io_uring", e);
  if (code != 0) return code;
  struct sl_ring *r = calloc(1, sizeof(*r));
  if (r) r->table = calloc(2 * spec->slots, sizeof(*r->table));
  if (r) r->line = calloc(2 * spec->slots, sizeof(*r->line));
  if (!r || !r->table || !r->line) {
    if (r) sl_ring_free(r);
    return sl_error_set(e, -ENOMEM, "ring", spec->target.path, -1);
  }
  r->slots = spec->slots;
  r->record_bytes = spec->record_bytes;
  r->writes = spec->target.write;
  for (int i = 0; i < SL_RING_OPS; i++)
    sl_histogram_init(&r->latency[i]);
  code = open_parts(r, spec, e);
  if (code != 0) {
    sl_ring_free(r);
    return code;
  }
  *ring = r;
  return 0;
}

int sl_ring_fd(const struct sl_ring *ring) { return ring->uring.ring_fd; }

const struct sl_target *sl_ring_target(const struct sl_ring *ring) {
  return &ring->target;
}

unsigned sl_ring_slots(const struct sl_ring *ring) { return ring->slots; }

size_t sl_ring_record_bytes(const struct sl_ring *ring) {
  return ring->record_bytes;
}

bool sl_ring_is_registered(const struct sl_ring *ring) {
  return ring->has_memory;
}

unsigned char *sl_ring_data(struct sl_ring *ring, unsigned slot) {
  if (slot >= ring->slots || ring->table[slot].is_busy) return NULL;
  return ring->arena.data + slot * ring->record_bytes;
}

static inline void write_entry(struct sl_ring *r, struct io_uring_sqe *sqe,
                               struct sl_ring_slot *s, unsigned slot,
                               unsigned bytes) {
  void *data =
      s->op == SL_RING_FSYNC ? NULL : r->arena.data + slot * r->record_bytes;
  if (r->has_vectors && data) {
    s->vector = (struct iovec){data, bytes};
    data = &s->vector;
    bytes = 1;
  }
  io_uring_prep_rw(r->codes[s->op], sqe, r->entry_fd, data, bytes, s->offset);
  sqe->flags = r->entry_flags;
  sqe->user_data = slot;
}

static unsigned free_flush(const struct sl_ring *r) {
  unsigned slot = r->slots;
  while (slot < 2 * r->slots - 1 && r->table[slot].is_busy)
    slot++;
  return slot;
}

__attribute__((hot)) int sl_ring_queue(struct sl_ring *r, unsigned slot,
                                       enum sl_ring_op op, uint64_t bytes,
                                       uint64_t offset, void *owner) {
  if (op == SL_RING_FSYNC) {
    slot = free_flush(r);
    bytes = offset = 0; /* of the whole file */
  } else if (slot >= r->slots || bytes - 1 >= r->record_bytes ||
             offset > (uint64_t)INT64_MAX - bytes) {
    return -EINVAL;
  }
  struct sl_ring_slot *s = &r->table[slot];
  if (s->is_busy) return -EBUSY;
  if (op != SL_RING_READ && !r->writes) return -EBADF;
  struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);
  if (!sqe) return -EBUSY;
  s->owner = owner;
  s->op = op;
  s->offset = offset;
  s->is_busy = true;
  s->started_ns = INT64_MAX; /* until it is handed over */
  write_entry(r, sqe, s, slot, (unsigned)bytes);
  r->line[r->queued++] = slot;
  r->in_flight++;
  return 0;
}

int sl_ring_submit(struct sl_ring *r) {
  if (!r->has_ring_fd) { /* belongs to a thread: here it is the right one */
    r->has_ring_fd = true;
    io_uring_register_ring_fd(&r->uring);
  }
  int64_t now_ns = sl_monotonic_ns();
  for (unsigned i = 0; i < r->queued; i++)
    r->table[r->line[i]].started_ns = now_ns;
  r->queued = 0;
  while (io_uring_sq_ready(&r->uring)) {
    int code = io_uring_submit(&r->uring);
    if (code == -EINTR) continue;
    if (code == 0 || code == -EAGAIN || code == -EBUSY) break;
    if (code < 0) return code;
  }
  return 0;
}

/* Operations that were handed over and found done together have one latency. */
struct alike {
  int64_t started_ns;
  enum sl_ring_op op;
  unsigned count;
};

static inline void count_alike(struct sl_ring *r, const struct alike *a,
                               int64_t now_ns) {
  if (a->count)
    sl_histogram_add_times(&r->latency[a->op], now_ns - a->started_ns,
                           a->count);
}

__attribute__((hot)) int sl_ring_turn(struct sl_ring *r,
                                      struct sl_ring_done *done, unsigned max) {
  if (io_uring_sq_ready(&r->uring)) {
    int code = sl_ring_submit(r);
    if (code < 0) return code;
  }
  if (!io_uring_cq_ready(&r->uring)) return 0;
  int64_t now_ns = sl_monotonic_ns();
  struct alike alike = {0, SL_RING_READ, 0};
  struct io_uring_cqe *cqe;
  unsigned head, count = 0, seen = 0;
  io_uring_for_each_cqe(&r->uring, head, cqe) {
    if (count == max) break;
    seen++;
    if (cqe->user_data == SL_RING_CANCEL) continue;
    unsigned slot = (unsigned)cqe->user_data;
    struct sl_ring_slot *s = &r->table[slot];
    s->result = cqe->res;
    s->is_busy = false;
    done[count++] = (struct sl_ring_done){s->owner, slot, cqe->res};
    if (cqe->res < 0) continue;
    if (s->started_ns != alike.started_ns || s->op != alike.op) {
      count_alike(r, &alike, now_ns);
      alike = (struct alike){s->started_ns, s->op, 0};
    }
    alike.count++;
  }
  count_alike(r, &alike, now_ns);
  io_uring_cq_advance(&r->uring, seen);
  r->in_flight -= count;
  return (int)count;
}

unsigned sl_ring_in_flight(const struct sl_ring *r) { return r->in_flight; }

bool sl_ring_is_held_up(const struct sl_ring *r) {
  return io_uring_sq_ready(&r->uring) > 0;
}

int64_t sl_ring_result(const struct sl_ring *r, unsigned slot,
                       struct sl_error *e) {
  const struct sl_ring_slot *s = &r->table[slot];
  if (s->result >= 0) return s->result;
  bool flush = s->op == SL_RING_FSYNC;
  sl_error_set(e, s->result, sl_ring_op_name(s->op), r->target.path,
               flush ? -1 : (int64_t)s->offset);
  if (s->result == -EINVAL && r->target.is_direct)
    sl_error_hint(e, "direct I/O here takes multiples of %u bytes",
                  (unsigned)r->target.offset_align);
  return s->result;
}

const struct sl_histogram *sl_ring_latency(const struct sl_ring *r,
                                           enum sl_ring_op op) {
  return &r->latency[op];
}

#endif
