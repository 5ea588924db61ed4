/* SPDX-License-Identifier: MIT */
#include "core/io/ring.h"

#ifdef STORLUA_HAVE_LIBURING

#include <errno.h>

#include "core/base/clock.h"
#include "core/io/ring_private.h"
#include "core/run/job.h"

/* Linux 5.5; before that the operation takes its time. */
static void ask_cancel(struct sl_ring *r, unsigned slot) {
  struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);
  if (!sqe && sl_ring_submit(r) == 0) sqe = io_uring_get_sqe(&r->uring);
  if (!sqe) return;
  io_uring_prep_cancel64(sqe, slot, 0);
  sqe->user_data = SL_RING_CANCEL;
}

unsigned sl_ring_cancel(struct sl_ring *r, const void *owner) {
  unsigned count = 0;
  for (unsigned slot = 0; slot < 2 * r->slots; slot++) {
    struct sl_ring_slot *s = &r->table[slot];
    if (!s->is_busy || (owner && s->owner != owner)) continue;
    if (owner) s->owner = NULL;
    ask_cancel(r, slot);
    count++;
  }
  return count;
}

struct sl_ring_stuck sl_ring_stuck(const struct sl_ring *r) {
  struct sl_ring_stuck oldest = {NULL, -1, INT64_MAX};
  for (unsigned slot = 0; slot < 2 * r->slots; slot++) {
    const struct sl_ring_slot *s = &r->table[slot];
    if (!s->is_busy || (oldest.what && s->started_ns >= oldest.since_ns))
      continue;
    oldest.what = sl_ring_op_name(s->op);
    oldest.offset = s->op == SL_RING_FSYNC ? -1 : (int64_t)s->offset;
    oldest.since_ns = s->started_ns;
  }
  if (oldest.since_ns == INT64_MAX) oldest.since_ns = sl_monotonic_ns();
  return oldest;
}

int sl_ring_close(struct sl_ring *r, struct sl_error *e) {
  io_uring_queue_exit(&r->uring);
  int code = sl_target_close(&r->target, e);
  sl_buffer_release(&r->arena);
  sl_ring_free(r);
  return code;
}

/* Kept in reach, so that it is no leak to those who look for one. */
static struct sl_ring *abandoned;

unsigned sl_ring_abandon(struct sl_ring *r, struct sl_ring_done *done,
                         unsigned max) {
  unsigned count = 0;
  for (unsigned slot = 0; slot < 2 * r->slots && count < max; slot++) {
    const struct sl_ring_slot *s = &r->table[slot];
    if (s->is_busy && s->owner)
      done[count++] = (struct sl_ring_done){s->owner, slot, -ECANCELED};
  }
  r->next = abandoned;
  abandoned = r;
  sl_job_count_abandoned(+1);
  return count;
}

#endif
