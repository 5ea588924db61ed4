/* SPDX-License-Identifier: MIT */
/* The loop.  Between the two clock reads there is the transfer and nothing
 * else; what is rare lives in other files, so that the code of a whole visit
 * stays in a few pages (system calls may flush the translations of the rest).
 * A test holds it to 250 instructions per visit. */
#include "core/io/workload_private.h"

#define RARELY(condition) __builtin_expect(!!(condition), 0)
#define MOSTLY(condition) __builtin_expect(!!(condition), 1)

/* A counter that another thread reads; this one is its only writer. */
static inline uint64_t add(_Atomic uint64_t *counter, uint64_t more) {
  uint64_t sum = atomic_load_explicit(counter, memory_order_relaxed) + more;
  atomic_store_explicit(counter, sum, memory_order_relaxed);
  return sum;
}

static inline void plan_step(const struct sl_run *run, struct sl_step *step) {
  uint64_t record = sl_order_at(&run->order, run->index);
  step->offset = run->range_offset + record * run->record_bytes;
  step->length = step->request = run->record_bytes;
  if (RARELY(record == run->records - 1)) {
    step->length = run->tail_bytes;
    step->request = run->tail_request;
  }
  enum sl_operation operation = run->spec->operation;
  step->op = operation == SL_READ    ? SL_OP_READ
             : operation == SL_WRITE ? SL_OP_WRITE
                                     : sl_run_mixed_op(run->spec, run->visit);
}

/* The timed part.  Returns what sl_run_transfer_rest returns. */
static inline int transfer(struct sl_run *run, struct sl_step *step) {
  step->start_ns = sl_run_now(run);
  ssize_t moved = run->engine->transfer(run->state, step->op,
                                        run->buffer.data, step->request,
                                        step->offset);
  if (RARELY(run->declared_op_ns)) run->declared_now_ns += run->declared_op_ns;
  step->stop_ns = sl_run_now(run);
  run->last_ns = step->stop_ns;
  if (MOSTLY(moved == (ssize_t)step->length)) {
    step->moved = step->length;
    return 0;
  }
  return sl_run_transfer_rest(run, step, moved);
}

/* A record that moved, whole or in part. */
static inline void count(struct sl_run *run, const struct sl_step *step) {
  struct sl_tally *tally = run->tally[step->op];
  int64_t ns = step->stop_ns - step->start_ns;
  if (ns < 0) ns = 0; /* never; but known, it shortens what follows */
  sl_histogram_add(&tally->latency, ns);
  tally->bytes += step->moved;

  if (RARELY(step->stop_ns >= run->point_end_ns)) {
    sl_run_series_roll(run, step->stop_ns);
  }
  run->point.bytes += step->moved;
  run->point.operations++;
  if (RARELY(ns > run->point.max_ns)) run->point.max_ns = ns;

  add(&run->progress->operations, 1);
  add(&run->progress->bytes, step->moved);
  run->failed_in_a_row = 0;
}

static inline void wrote(struct sl_run *run) {
  const struct sl_workload_spec *spec = run->spec;
  if (spec->stamp) {
    run->result->generation_last =
        spec->identity.generation + (uint32_t)run->pass;
  }
  run->unflushed++;
  if (spec->flush == SL_FLUSH_EVERY && run->unflushed >= spec->flush_every) {
    sl_run_flush(run);
  }
}

static inline void advance(struct sl_run *run) {
  run->visit++;
  if (RARELY(++run->index == run->records)) {
    run->index = 0;
    run->pass++;
  }
}

static inline void fill(struct sl_run *run, const struct sl_step *step) {
  if (!run->buffer.data) return;
  int64_t start_ns = sl_run_now(run);
  sl_run_fill(run, step);
  run->last_ns = sl_run_now(run);
  run->result->fill_ns += run->last_ns - start_ns;
}

static inline void visit(struct sl_run *run, struct sl_step *step) {
  if (step->op == SL_OP_WRITE) fill(run, step);
  if (run->job) {
    /* The time is near enough for a watch that counts in seconds. */
    static const char *const what[] = {"read", "write"};
    if (sl_job_enter_at(run->job, what[step->op], (int64_t)step->offset,
                        run->last_ns)) {
      sl_run_end(run, SL_END_CANCELLED);
      return;
    }
  }
  int code = transfer(run, step);
  if (MOSTLY(step->moved)) {
    count(run, step);
    if (step->op == SL_OP_WRITE) {
      wrote(run);
    } else if (run->spec->verify) {
      sl_run_verify(run, step);
    }
  }
  if (RARELY(code < 0)) sl_run_failed(run, step, code);
  if (MOSTLY(code != SL_STEP_ENDED)) advance(run);
  if (RARELY(step->stop_ns >= run->next_check_ns)) {
    sl_run_check_time(run, step->stop_ns);
  }
}

/* True when the rate and limit_bytes allow the visit, after a wait if need
 * be. */
static bool may_go_on(struct sl_run *run, const struct sl_step *step) {
  uint64_t bytes = atomic_load_explicit(&run->progress->bytes,
                                        memory_order_relaxed);
  if (bytes + step->length > run->bytes_end) {
    sl_run_end(run, SL_END_COMPLETE);
    return false;
  }
  return !run->spec->rate_bytes_s || sl_run_pace(run, step->length);
}

SL_HOT void sl_run_loop(struct sl_run *run) {
  struct sl_step step;
  while (run->visit < run->visit_end) {
    plan_step(run, &step);
    if (RARELY(run->is_held_back) && !may_go_on(run, &step)) break;
    visit(run, &step);
  }
  sl_run_end(run, run->range_cut ? SL_END_OF_DEVICE : SL_END_COMPLETE);
}
