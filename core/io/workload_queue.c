/* SPDX-License-Identifier: MIT */
/* The loop of the queued engines.
 *
 * One turn: every free slot gets the next visit, all of them are submitted at
 * once, then at least one completion is waited for and all that are there are
 * taken.  The clock is read twice a turn, before the submission and after the
 * completions: a latency is the time from the turn that submitted to the turn
 * that saw the end, so it holds what this thread did in between (filling and
 * verifying of others).  io_ns of a direction is the time in which at least
 * one operation of it was under way.
 *
 * What a visit does and counts for is that of the synchronous loop. */
#include <errno.h>
#include <string.h>

#include "core/io/workload_queue.h"
#include "core/io/workload_step.h"

/* Nothing is ready or under way. */
static bool is_empty(const struct sl_queue *q) {
  return q->idle_count == q->depth;
}

/* True when the next visit would touch a record that an earlier visit, of the
 * pass before, is still at: the two could end in any order. */
static bool overtakes(const struct sl_run *run, struct sl_queue *q) {
  if (run->spec->operation == SL_READ) return false;
  if (MOSTLY(run->visit - q->oldest < run->records)) return false;
  q->oldest = sl_queue_oldest(run, q);
  return run->visit - q->oldest >= run->records;
}

/* Pauses, the rate and limit_bytes; an empty queue waits here, another goes on
 * with what it has. */
static bool is_allowed(struct sl_run *run, struct sl_queue *q,
                       const struct sl_step *step) {
  uint64_t bytes = q->bytes + atomic_load_explicit(&run->progress->bytes,
                                                   memory_order_relaxed);
  if (bytes + step->length > run->bytes_end) {
    if (is_empty(q)) sl_run_end(run, SL_END_COMPLETE);
    return false;
  }
  if (sl_run_think_due(run) && (!is_empty(q) || !sl_run_think(run))) {
    return false;
  }
  if (!run->rate) return true;
  if (!is_empty(q) && run->last_ns < run->due_ns) {
    q->hold_until_ns = run->due_ns;
    return false;
  }
  return sl_run_pace(run, step->length);
}

/* The slot on top of the stack, whose step is planned. */
static inline void make_ready(struct sl_run *run, struct sl_queue *q,
                              struct sl_slot *slot) {
  struct sl_step *step = &slot->step;
  step->moved = 0;
  if (step->op == SL_OP_WRITE) sl_run_fill(run, step);
  slot->request.op = step->op;
  slot->request.data = step->data;
  slot->request.bytes = step->request;
  slot->request.offset = step->offset;
  q->idle_count--;
  q->ready[q->ready_count++] = &slot->request;
  q->bytes += step->length;
  q->busy[step->op]++;
  sl_step_advance(run);
}

/* True when the planned visit may start now. */
static bool may_start(struct sl_run *run, struct sl_queue *q,
                      const struct sl_step *step) {
  /* No more writes than the flush waits for. */
  if (step->op == SL_OP_WRITE && run->spec->flush == SL_FLUSH_EVERY &&
      run->unflushed + q->busy[SL_OP_WRITE] >= run->spec->flush_every) {
    return false;
  }
  return MOSTLY(!run->is_held_back) || is_allowed(run, q, step);
}

/* Gives free slots their next visits, and all of them one start time. */
static void prepare(struct sl_run *run, struct sl_queue *q) {
  unsigned before = q->ready_count;
  int64_t began_ns = run->last_ns;
  bool writes = false;
  q->hold_until_ns = -1;
  while (q->idle_count && run->visit < run->visit_end) {
    if (overtakes(run, q)) break;
    struct sl_slot *slot = q->idle[q->idle_count - 1];
    sl_step_plan(run, &slot->step);
    if (!may_start(run, q, &slot->step)) {
      slot->step.visit = UINT64_MAX; /* idle */
      break;
    }
    if (slot->step.op == SL_OP_WRITE && !writes) {
      began_ns = sl_run_now(run);
      writes = true;
    }
    make_ready(run, q, slot);
  }
  if (q->ready_count == before) return;
  run->last_ns = sl_run_now(run);
  if (writes) run->result->fill_ns += run->last_ns - began_ns;
  for (unsigned i = before; i < q->ready_count; i++) {
    struct sl_slot *slot = (struct sl_slot *)q->ready[i];
    slot->step.start_ns = run->last_ns;
  }
  for (int op = 0; op < 2; op++) {
    if (!q->busy_since_ns[op] && q->busy[op]) {
      q->busy_since_ns[op] = run->last_ns;
    }
  }
}

static inline void free_slot(struct sl_run *run, struct sl_queue *q,
                             struct sl_slot *slot) {
  enum sl_op op = slot->step.op;
  q->bytes -= slot->step.length;
  slot->step.visit = UINT64_MAX;
  q->idle[q->idle_count++] = slot;
  if (--q->busy[op]) return;
  int64_t since_ns = q->busy_since_ns[op];
  if (since_ns < run->started_ns) since_ns = run->started_ns; /* the ramp */
  if (slot->step.stop_ns > since_ns) {
    run->tally[op]->io_ns += slot->step.stop_ns - since_ns;
  }
  q->busy_since_ns[op] = 0;
}

/* A record that is done as far as it goes. */
static inline void finish(struct sl_run *run, struct sl_queue *q,
                          struct sl_slot *slot, int code) {
  struct sl_step *step = &slot->step;
  if (MOSTLY(step->moved)) {
    /* What began in the ramp does not count when it ends after it. */
    if (MOSTLY(step->start_ns >= run->started_ns)) sl_step_count(run, step);
    if (step->op == SL_OP_WRITE) {
      sl_step_wrote(run, step);
    } else if (run->spec->verify) {
      sl_run_verify(run, step);
    }
  } else {
    run->tally[step->op]->calls++; /* those of the others are added later */
  }
  if (RARELY(code < 0)) sl_run_failed(run, step, code);
  if (RARELY(code == SL_STEP_ENDED) && step->visit < q->ended) {
    q->ended = step->visit;
  }
  free_slot(run, q, slot);
}

static inline void complete(struct sl_run *run, struct sl_queue *q,
                            struct sl_request *request) {
  struct sl_slot *slot = (struct sl_slot *)request;
  struct sl_step *step = &slot->step;
  ssize_t got = request->result;
  int code = 0;
  step->stop_ns = run->last_ns;
  if (MOSTLY(step->moved == 0 && got == (ssize_t)step->length)) {
    step->moved = step->length;
  } else if (sl_run_took(run, step, got, &code)) {
    run->tally[step->op]->calls++;
    request->data = step->data + step->moved;
    request->bytes = step->request - step->moved;
    request->offset = step->offset + step->moved;
    q->ready[q->ready_count++] = request;
    return;
  }
  finish(run, q, slot, code);
}

/* The run has ended: what was not handed over yet never happens; the rest of
 * a record still does unless it was cancelled. */
static void withdraw(struct sl_run *run, struct sl_queue *q) {
  unsigned kept = 0;
  for (unsigned i = 0; i < q->ready_count; i++) {
    struct sl_slot *slot = (struct sl_slot *)q->ready[i];
    slot->step.stop_ns = run->last_ns;
    if (slot->step.moved && run->result->end != SL_END_CANCELLED) {
      q->ready[kept++] = q->ready[i];
    } else if (slot->step.moved) {
      finish(run, q, slot, SL_STEP_ENDED);
    } else {
      if (slot->step.visit < q->ended) q->ended = slot->step.visit;
      free_slot(run, q, slot);
    }
  }
  q->ready_count = kept;
}

static void submit(struct sl_run *run, struct sl_queue *q) {
  if (run->job) {
    static const char *const what[] = {"read", "write"};
    const struct sl_request *first = q->ready[0];
    if (sl_job_enter_at(run->job, what[first->op], (int64_t)first->offset,
                        run->last_ns)) {
      sl_run_end(run, SL_END_CANCELLED);
    }
  }
  if (RARELY(!run->going)) withdraw(run, q);
  if (!q->ready_count) return;
  int taken = run->engine->submit(run->state, q->ready, q->ready_count);
  bool others = q->depth - q->idle_count > q->ready_count;
  if (taken == -EINTR || (taken == -EAGAIN && others)) return;
  if (taken < 0) { /* the engine could not even take the first one */
    q->ready[0]->result = taken;
    complete(run, q, q->ready[0]);
    taken = 1;
  }
  q->ready_count -= (unsigned)taken;
  memmove(q->ready, q->ready + taken, q->ready_count * sizeof(*q->ready));
}

/* Takes what is done; waits for one. */
static void reap(struct sl_run *run, struct sl_queue *q) {
  unsigned under_way = q->depth - q->idle_count - q->ready_count;
  if (!under_way) return;
  int64_t timeout_ns = -1;
  if (q->hold_until_ns >= 0) {
    timeout_ns = q->hold_until_ns - run->last_ns;
    if (timeout_ns < 0) timeout_ns = 0;
  }
  int count = run->engine->reap(run->state, timeout_ns, q->done, under_way);
  run->last_ns = sl_run_stop_time(run);
  if (RARELY(count < 0) && count != -EINTR) sl_queue_give_up(run, q, count);
  for (int i = 0; i < count; i++)
    complete(run, q, q->done[i]);
  if (sl_run_cancelled(run)) sl_run_end(run, SL_END_CANCELLED);
  if (RARELY(run->last_ns >= run->next_check_ns)) {
    sl_run_check_time(run, run->last_ns);
  }
}

SL_HOT void sl_run_queue(struct sl_run *run) {
  struct sl_queue *q = run->queue;
  q->oldest = run->visit;
  for (;;) {
    if (MOSTLY(run->going)) prepare(run, q);
    if (q->ready_count) submit(run, q);
    if (is_empty(q)) {
      if (!run->going) break;
      if (sl_step_flush_due(run)) {
        sl_run_flush(run);
      } else if (run->visit >= run->visit_end) {
        break;
      }
      continue;
    }
    reap(run, q);
    if (is_empty(q) && run->going && sl_step_flush_due(run)) sl_run_flush(run);
  }
  sl_run_end(run, run->range_cut ? SL_END_OF_DEVICE : SL_END_COMPLETE);
  if (q->ended < run->visit) run->visit = q->ended;
}
