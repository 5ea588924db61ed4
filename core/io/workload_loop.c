/* SPDX-License-Identifier: MIT */
/* The loop.  Between the two clock reads there is the transfer and nothing
 * else; what is rare lives in other files, so that the code of a whole visit
 * stays in a few pages (system calls may flush the translations of the rest).
 * A test holds it to 250 instructions per visit. */
#include "core/io/workload_step.h"

/* The timed part.  Returns what sl_run_transfer_rest returns. */
static inline int transfer(struct sl_run *run, struct sl_step *step) {
  step->start_ns = sl_run_now(run);
  ssize_t moved = run->engine->transfer(run->state, step->op, step->data,
                                        step->request, step->offset);
  if (RARELY(run->declared_op_ns)) run->declared_now_ns += run->declared_op_ns;
  step->stop_ns = sl_run_stop_time(run);
  run->last_ns = step->stop_ns;
  if (MOSTLY(moved == (ssize_t)step->length)) {
    step->moved = step->length;
    return 0;
  }
  return sl_run_transfer_rest(run, step, moved);
}

static inline void fill(struct sl_run *run, const struct sl_step *step) {
  if (!step->data) return;
  int64_t start_ns = sl_run_now(run);
  sl_run_fill(run, step);
  run->last_ns = sl_run_now(run);
  run->result->fill_ns += run->last_ns - start_ns;
}

static inline void visit(struct sl_run *run, struct sl_step *step) {
  if (step->op == SL_OP_WRITE) fill(run, step);
  if (run->job) {
    /* The time is near enough for a watch that counts in seconds. */
    static const char *const what[] = {"read", "write", "trim"};
    if (sl_job_enter_at(run->job, what[step->op], (int64_t)step->offset,
                        run->last_ns)) {
      sl_run_end(run, SL_END_CANCELLED);
      return;
    }
  }
  int code = transfer(run, step);
  if (MOSTLY(step->moved)) {
    sl_step_count(run, step);
    if (step->op != SL_OP_READ) {
      sl_step_wrote(run, step);
      if (sl_step_flush_due(run)) sl_run_flush(run);
    } else if (run->spec->verify) {
      sl_run_verify(run, step);
    }
  }
  if (RARELY(code < 0)) sl_run_failed(run, step, code);
  if (MOSTLY(code != SL_STEP_ENDED)) sl_step_advance(run);
  if (RARELY(step->stop_ns >= run->next_check_ns)) {
    sl_run_check_time(run, step->stop_ns);
  }
}

/* True when pauses, the rate and limit_bytes allow the visit, after a wait if
 * need be. */
static bool may_go_on(struct sl_run *run, const struct sl_step *step) {
  uint64_t bytes =
      atomic_load_explicit(&run->progress->bytes, memory_order_relaxed);
  if (bytes + step->length > run->bytes_end) {
    sl_run_end(run, SL_END_COMPLETE);
    return false;
  }
  if (sl_run_think_due(run) && !sl_run_think(run)) return false;
  return !run->rate || sl_run_pace(run, step->length);
}

SL_HOT void sl_run_loop(struct sl_run *run) {
  struct sl_step step = {.data = run->buffer.data};
  while (run->visit < run->visit_end) {
    sl_step_plan(run, &step);
    if (RARELY(run->is_held_back) && !may_go_on(run, &step)) break;
    visit(run, &step);
  }
  sl_run_end(run, run->range_cut ? SL_END_OF_DEVICE : SL_END_COMPLETE);
}
