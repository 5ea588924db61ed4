/* SPDX-License-Identifier: MIT */
/* When a workload ends, and how fast it may go. */
#include <string.h>
#include <time.h>

#include "core/io/workload_private.h"

/* A schedule that fell behind by more than this begins anew: the time of a
 * stall is lost, not caught up in a burst. */
#define PACE_SLACK_NS INT64_C(50000000)
/* A cancel that arrives just before the sleep is seen this late. */
#define PACE_SLICE_NS INT64_C(100000000)

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void clear_tally(struct sl_tally *tally) {
  memset(tally, 0, sizeof(*tally));
  sl_histogram_init(&tally->latency);
}

/* From here on it counts. */
static void start_counting(struct sl_run *run, int64_t now_ns) {
  struct sl_workload_result *result = run->result;
  clear_tally(&result->read);
  clear_tally(&result->write);
  clear_tally(&result->trim);
  sl_histogram_init(&result->flush_latency);
  result->flushes = 0;
  result->flush_ns = result->fill_ns = result->verify_ns = 0;
  result->pace_ns = 0;
  result->steady = (struct sl_steady){0};
  result->boot_start_ns = sl_boottime_ns();
  sl_run_series_begin(run, now_ns);
  run->usage_before = sl_usage_now();
  run->started_ns = now_ns;
  run->clock_start_ns = sl_clock_now_ns(run->clock);
  run->ramp_end_ns = 0;
  if (run->going) run->visit_end = sl_run_visit_end(run);
  if (run->spec->limit_bytes) run->bytes_end = run->spec->limit_bytes;
  struct sl_workload_progress *p = run->progress;
  atomic_store_explicit(&p->operations, 0, memory_order_relaxed);
  atomic_store_explicit(&p->bytes, 0, memory_order_relaxed);
  atomic_store_explicit(&p->started_ns, now_ns, memory_order_relaxed);
}

static void set_next_think(struct sl_run *run, int64_t now_ns) {
  const struct sl_workload_spec *spec = run->spec;
  run->think_visit =
      spec->think_every ? run->visit + spec->think_every : UINT64_MAX;
  run->think_ns =
      spec->think_after_ns ? now_ns + spec->think_after_ns : INT64_MAX;
}

int64_t sl_run_anchor_time(struct sl_run *run) {
  return run->declared_op_ns ? run->declared_now_ns
                             : sl_counter_clock_anchor(&run->counter_clock);
}

void sl_run_begin_time(struct sl_run *run) {
  int64_t now_ns = sl_run_anchor_time(run);
  start_counting(run, now_ns);
  if (run->spec->streams && !run->spec->ramp_ns) {
    sl_streams_begin(run->spec->streams, run->spec->stream, now_ns);
  }
  if (run->spec->ramp_ns) {
    run->ramp_end_ns = now_ns + run->spec->ramp_ns;
    run->visit_end = UINT64_MAX;
    run->bytes_end = UINT64_MAX;
  }
  run->due_ns = run->last_ns = now_ns;
  set_next_think(run, now_ns);
  sl_run_check_time(run, now_ns);
}

void sl_run_end_ramp(struct sl_run *run, int64_t now_ns) {
  start_counting(run, now_ns);
  if (run->spec->streams) {
    sl_streams_begin(run->spec->streams, run->spec->stream, now_ns);
  }
}

/* What limit_ns leaves, on the clock of the run. */
static int64_t time_left(const struct sl_run *run) {
  if (!run->spec->limit_ns || run->ramp_end_ns) return INT64_MAX;
  int64_t elapsed = run->declared_op_ns
                        ? run->declared_now_ns - run->started_ns
                        : sl_clock_now_ns(run->clock) - run->clock_start_ns;
  return run->spec->limit_ns - elapsed;
}

void sl_run_check_time(struct sl_run *run, int64_t now_ns) {
  if (run->ramp_end_ns && now_ns >= run->ramp_end_ns) {
    sl_run_end_ramp(run, now_ns);
  }
  int64_t wait_ns = time_left(run);
  if (wait_ns <= 0) {
    sl_run_end(run, SL_END_COMPLETE);
    return;
  }
  if (run->ramp_end_ns) wait_ns = run->ramp_end_ns - now_ns;
  if (run->spec->streams && sl_streams_have_stonewall(run->spec->streams)) {
    if (sl_streams_stopped(run->spec->streams)) {
      sl_run_end(run, SL_END_STONEWALL);
    }
    wait_ns = least(wait_ns, SL_RUN_CHECK_NS);
  }
  run->next_check_ns = now_ns + least(wait_ns, SL_RUN_CHECK_NS);
}

static void sleep_until(struct sl_run *run, int64_t until_ns) {
  if (run->declared_op_ns) {
    run->declared_now_ns = until_ns;
    return;
  }
  struct timespec at = {.tv_sec = (time_t)(until_ns / 1000000000),
                        .tv_nsec = (long)(until_ns % 1000000000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* Spins first, then sleeps.  Virtual time passes by sleeping only. */
static void wait_until(struct sl_run *run, int64_t now_ns, int64_t spin_ns,
                       int64_t due_ns) {
  int64_t began_ns = now_ns;
  if (now_ns < due_ns && run->job) sl_job_enter(run->job, NULL, -1);
  while (run->going && now_ns < due_ns) {
    int64_t until_ns = least(due_ns, now_ns + PACE_SLICE_NS);
    if (until_ns > run->next_check_ns) until_ns = run->next_check_ns;
    if (run->declared_op_ns || now_ns - began_ns >= spin_ns) {
      sleep_until(run, until_ns);
    }
    now_ns = sl_run_stop_time(run);
    if (sl_run_cancelled(run)) sl_run_end(run, SL_END_CANCELLED);
    if (now_ns >= run->next_check_ns) sl_run_check_time(run, now_ns);
  }
  run->result->pace_ns += now_ns - began_ns;
  run->last_ns = now_ns;
}

bool sl_run_think_due(const struct sl_run *run) {
  return run->spec->think_ns &&
         (run->visit >= run->think_visit || run->last_ns >= run->think_ns);
}

bool sl_run_think(struct sl_run *run) {
  int64_t now_ns = sl_run_now(run);
  wait_until(run, now_ns, run->spec->think_spin_ns,
             now_ns + run->spec->think_ns);
  set_next_think(run, run->last_ns);
  return run->going;
}

bool sl_run_pace(struct sl_run *run, size_t length) {
  int64_t now_ns = sl_run_now(run);
  int64_t slack_ns = PACE_SLACK_NS + run->spec->think_ns; /* is caught up */
  if (now_ns - run->due_ns > slack_ns) run->due_ns = now_ns;
  wait_until(run, now_ns, 0, run->due_ns);
  /* The schedule is a sum of whole records; its rounding is carried on. */
  uint64_t units = run->spec->rate_operations_s ? 1 : length;
  uint64_t scaled = units * 1000000000 + run->due_rest;
  run->due_ns += (int64_t)(scaled / run->rate);
  run->due_rest = scaled % run->rate;
  return run->going;
}
