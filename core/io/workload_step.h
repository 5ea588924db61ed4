/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_WORKLOAD_STEP_H
#define STORLUA_CORE_IO_WORKLOAD_STEP_H

/* What the loop and the queued loop have in common: what a visit is, and what
 * it counts for.  Inline, so that both stay in a few pages. */

#include "core/io/workload_private.h"

#define RARELY(condition) __builtin_expect(!!(condition), 0)
#define MOSTLY(condition) __builtin_expect(!!(condition), 1)

/* A counter that another thread reads; this one is its only writer. */
static inline uint64_t sl_step_add(_Atomic uint64_t *counter, uint64_t more) {
  uint64_t sum = atomic_load_explicit(counter, memory_order_relaxed) + more;
  atomic_store_explicit(counter, sum, memory_order_relaxed);
  return sum;
}

/* The next visit of the run. */
static inline void sl_step_plan(struct sl_run *run, struct sl_step *step) {
  step->visit = run->visit;
  step->pass = run->pass;
  if (RARELY(run->is_varied)) {
    sl_run_vary(run, step);
  } else {
    uint64_t record = sl_order_at(&run->order, run->index);
    step->offset = run->range_offset + record * run->record_bytes;
    step->length = step->request = run->record_bytes;
    if (RARELY(record == run->records - 1)) {
      step->length = run->tail_bytes;
      step->request = run->tail_request;
    }
  }
  enum sl_operation operation = run->spec->operation;
  step->op = operation == SL_READ    ? SL_OP_READ
             : operation == SL_WRITE ? SL_OP_WRITE
                                     : sl_run_mixed_op(run->spec, run->visit);
}

static inline void sl_step_advance(struct sl_run *run) {
  run->visit++;
  if (RARELY(++run->index == run->records)) {
    run->index = 0;
    run->pass++;
  }
}

/* A record that moved, whole or in part. */
static inline void sl_step_count(struct sl_run *run,
                                 const struct sl_step *step) {
  if (RARELY(step->stop_ns >= run->point_end_ns)) {
    sl_run_series_roll(run, step->stop_ns);
  }
  struct sl_tally *tally = run->tally[step->op];
  int64_t ns = step->stop_ns - step->start_ns;
  if (ns < 0) ns = 0; /* never; but known, it shortens what follows */
  sl_histogram_add(&tally->latency, ns);
  tally->bytes += step->moved;
  run->point.bytes += step->moved;
  run->point.operations++;
  if (RARELY(ns > run->point.max_ns)) {
    run->point.max_ns = ns;
    /* The first that is too slow is always the slowest of its interval. */
    if (run->spec->limit_latency_ns && ns > run->spec->limit_latency_ns) {
      sl_run_too_slow(run, step);
    }
  }

  sl_step_add(&run->progress->operations, 1);
  sl_step_add(&run->progress->bytes, step->moved);
  run->failed_in_a_row = 0;
}

static inline void sl_step_wrote(struct sl_run *run,
                                 const struct sl_step *step) {
  const struct sl_workload_spec *spec = run->spec;
  if (spec->stamp) {
    uint32_t generation = spec->identity.generation + (uint32_t)step->pass;
    if (generation > run->result->generation_last) {
      run->result->generation_last = generation;
    }
  }
  run->unflushed++;
}

static inline bool sl_step_flush_due(const struct sl_run *run) {
  return run->spec->flush == SL_FLUSH_EVERY &&
         run->unflushed >= run->spec->flush_every;
}

#endif
