/* SPDX-License-Identifier: MIT */
/* What happens seldom: short transfers, ends, errors, flushes. */
#include <errno.h>

#include "core/io/workload_private.h"

const char *sl_end_name(enum sl_end end) {
  switch (end) {
    case SL_END_COMPLETE:
      return "complete";
    case SL_END_CANCELLED:
      return "cancelled";
    case SL_END_ERROR:
      return "error";
    case SL_END_NO_SPACE:
      return "no_space";
    case SL_END_OF_DEVICE:
      return "end_of_device";
    case SL_END_TOO_SLOW:
      return "too_slow";
    case SL_END_STONEWALL:
      return "stonewall";
    case SL_END_NOT_COLD:
      return "not_cold";
  }
  return "unknown";
}

/* The first error is the one that explains the others. */
static void remember(struct sl_run *run, int code, const char *op,
                     int64_t offset) {
  if (run->result->error.code) return;
  sl_error_set(&run->result->error, code, op,
               sl_run_target(run, run->turn)->path, offset);
}

/* Ends the run for a reason that also counts when it had ended well and what
 * was still under way in a queue went wrong. */
static void end_badly(struct sl_run *run, enum sl_end end) {
  enum sl_end *known = &run->result->end;
  if (!run->going && (*known == SL_END_COMPLETE || end == SL_END_ERROR)) {
    *known = end;
  }
  sl_run_end(run, end);
}

/* True when the code says that there is no more room, which is an end. */
static bool out_of_room(struct sl_run *run, const struct sl_step *step,
                        int code) {
  if (step->op != SL_OP_WRITE || (code != -ENOSPC && code != -EDQUOT)) {
    return false;
  }
  if (run->target.is_block) { /* the kernel's word for the end of a device */
    end_badly(run, SL_END_OF_DEVICE);
    return true;
  }
  remember(run, code, "write", (int64_t)(step->offset + step->moved));
  end_badly(run, SL_END_NO_SPACE);
  return true;
}

bool sl_run_took(struct sl_run *run, struct sl_step *step, ssize_t got,
                 int *code) {
  *code = 0;
  if (got == -EINTR) {
    if (!sl_run_cancelled(run)) return true;
    sl_run_end(run, SL_END_CANCELLED);
    *code = SL_STEP_ENDED;
    return false;
  }
  if (got < 0) {
    *code = out_of_room(run, step, (int)got) ? SL_STEP_ENDED : (int)got;
    return false;
  }
  step->moved += (size_t)got;
  if (step->moved >= step->length) {
    step->moved = step->length;
    return false;
  }
  if (got > 0) run->tally[step->op]->short_calls++;
  /* Direct I/O cannot go on from an odd place, nor does it stop at one except
   * at the end of the file. */
  if (got > 0 && step->moved % run->target.offset_align == 0) return true;
  end_badly(run, SL_END_OF_DEVICE);
  *code = SL_STEP_ENDED;
  return false;
}

int sl_run_transfer_rest(struct sl_run *run, struct sl_step *step,
                         ssize_t first) {
  uint64_t calls = 1;
  ssize_t got = first;
  int code;
  step->moved = 0;
  while (sl_run_took(run, step, got, &code)) {
    calls++;
    got = run->engine->transfer(run->state, step->op, step->data + step->moved,
                                step->request - step->moved,
                                step->offset + step->moved);
  }
  step->stop_ns = run->last_ns = sl_run_stop_time(run);
  /* The call of each counted operation is added in the end. */
  run->tally[step->op]->calls += calls - (step->moved ? 1 : 0);
  return code;
}

static void tell(struct sl_run *run, enum sl_op op, bool is_flush, int code,
                 uint64_t offset) {
  struct sl_workload_result *result = run->result;
  result->errors_total++;
  atomic_store_explicit(&run->progress->errors, result->errors_total,
                        memory_order_relaxed);
  for (unsigned i = 0; i < result->error_count; i++) {
    struct sl_io_error *known = &result->errors[i];
    if (known->op == op && known->is_flush == is_flush && known->code == code) {
      known->count++;
      return;
    }
  }
  if (result->error_count == SL_ERRORS_KEPT) return;
  struct sl_io_error *fresh = &result->errors[result->error_count++];
  fresh->op = op;
  fresh->is_flush = is_flush;
  fresh->code = code;
  fresh->offset = offset;
  fresh->count = 1;
}

void sl_run_failed(struct sl_run *run, const struct sl_step *step, int code) {
  uint64_t offset = step->offset + step->moved;
  remember(run, code, sl_op_name(step->op), (int64_t)offset);
  tell(run, step->op, false, code, offset);
  /* A dead device fails every record: without this, a limit in bytes would
   * never be reached. */
  run->failed_in_a_row++;
  if (!run->spec->continue_on_error || run->failed_in_a_row >= run->records) {
    end_badly(run, SL_END_ERROR);
  }
}

void sl_run_too_slow(struct sl_run *run, const struct sl_step *step) {
  struct sl_error *e = &run->result->error;
  if (e->code == 0) {
    remember(run, -ETIMEDOUT, sl_op_name(step->op), (int64_t)step->offset);
    sl_error_hint(e, "it took %.1f ms, limit_latency is %.1f ms",
                  (double)(step->stop_ns - step->start_ns) / 1e6,
                  (double)run->spec->limit_latency_ns / 1e6);
  }
  end_badly(run, SL_END_TOO_SLOW);
}

/* A flush that failed has lost data: the pages are marked clean, so asking
 * again would succeed and prove nothing.  It always ends the run. */
void sl_run_flush(struct sl_run *run) {
  struct sl_workload_result *result = run->result;
  if (run->job) sl_job_enter(run->job, "flush", -1);
  int64_t start_ns = sl_run_now(run);
  int code;
  do {
    code = sl_run_flush_more(run);
  } while (code == -EINTR && !sl_run_cancelled(run));
  int64_t ns = sl_run_stop_time(run) - start_ns;
  result->flushes++;
  result->flush_ns += ns;
  sl_histogram_add(&result->flush_latency, ns);
  run->unflushed = 0;
  if (code == 0) return;
  if (code == -EINTR) {
    sl_run_end(run, SL_END_CANCELLED);
    return;
  }
  remember(run, code, "fdatasync", -1);
  tell(run, SL_OP_WRITE, true, code, 0);
  sl_run_end(run, SL_END_ERROR);
  result->end = SL_END_ERROR; /* also when it was the flush in the end */
}
