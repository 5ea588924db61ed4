/* SPDX-License-Identifier: MIT */
/* Making and giving up the slots of a queue. */
#include <errno.h>
#include <stdlib.h>

#include "core/io/workload_queue.h"

int sl_run_queue_init(struct sl_run *run, struct sl_error *e) {
  unsigned depth = run->queue_depth;
  struct sl_queue *q = calloc(1, sizeof(*q));
  if (!q) return sl_error_set(e, -ENOMEM, "queue", run->target.path, -1);
  run->queue = q;
  q->depth = depth;
  q->slots = calloc(depth, sizeof(*q->slots));
  q->idle = calloc(depth, sizeof(struct sl_slot *));
  q->ready = calloc(depth, sizeof(struct sl_request *));
  q->done = calloc(depth, sizeof(struct sl_request *));
  if (!q->slots || !q->idle || !q->ready || !q->done) {
    return sl_error_set(e, -ENOMEM, "queue", run->target.path, -1);
  }
  for (unsigned i = 0; i < depth; i++) {
    struct sl_slot *slot = &q->slots[i];
    slot->request.slot = i;
    slot->step.data = run->buffer.data + i * run->slot_bytes;
    slot->step.visit = UINT64_MAX;
    q->idle[depth - 1 - i] = slot;
  }
  q->idle_count = depth;
  q->ended = UINT64_MAX;
  return 0;
}

void sl_run_queue_release(struct sl_run *run) {
  if (!run->queue) return;
  free(run->queue->slots);
  free(run->queue->idle);
  free(run->queue->ready);
  free(run->queue->done);
  free(run->queue);
  run->queue = NULL;
}

uint64_t sl_queue_oldest(const struct sl_run *run, const struct sl_queue *q) {
  uint64_t oldest = run->visit;
  for (unsigned i = 0; i < q->depth; i++) {
    uint64_t visit = q->slots[i].step.visit; /* UINT64_MAX: idle */
    if (visit < oldest) oldest = visit;
  }
  return oldest;
}

void sl_queue_give_up(struct sl_run *run, struct sl_queue *q, int code) {
  uint64_t oldest = sl_queue_oldest(run, q);
  if (oldest < q->ended) q->ended = oldest;
  struct sl_step step = {.op = run->spec->operation == SL_READ ? SL_OP_READ
                                                               : SL_OP_WRITE};
  sl_run_failed(run, &step, code);
  sl_run_end(run, SL_END_ERROR);
  q->ready_count = 0;
  q->idle_count = q->depth;
}
