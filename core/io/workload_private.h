/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_WORKLOAD_PRIVATE_H
#define STORLUA_CORE_IO_WORKLOAD_PRIVATE_H

/* One running workload, shared by the workload*.c files only.
 *
 *   workload.c         opens, prepares, runs, closes
 *   workload_cache.c   looks at the cache, and drops it
 *   workload_check.c   refuses what makes no sense, before anything is touched
 *   workload_plan.c    range, records, visits: what is where
 *   workload_vary.c    visits drawn from a distribution, sizes of a mix
 *   workload_vary_check.c  what of these is refused
 *   workload_targets.c targets beside the first
 *   workload_trim.c    what a trim left
 *   workload_loop.c    the loop of the synchronous engines
 *   workload_queue.c   the loop of the queued engines
 *   workload_step.h    what both count, and how
 *   workload_slow.c    short transfers, errors, flushes
 *   workload_time.c    limits, ramp, pacing
 *   workload_series.c  the course over time
 *   workload_data.c    what is written
 *   workload_verify.c  what should have been read
 *
 * All of it runs on the thread of the job. */

#include "core/base/buffer.h"
#include "core/base/counter_clock.h"
#include "core/io/workload.h"

/* What runs once per operation is put side by side by the linker: pages of
 * code are what a system call makes expensive (see workload_loop.c). */
#define SL_HOT __attribute__((hot))

/* The clock that ends a workload is looked at this often, at least. */
#define SL_RUN_CHECK_NS INT64_C(10000000)

struct sl_run {
  const struct sl_workload_spec *spec;
  const struct sl_engine *engine; /* may be another one than the spec's */
  unsigned queue_depth;           /* at least 1 */
  struct sl_engine_state *state;
  struct sl_job *job; /* NULL: cannot be cancelled */
  const struct sl_clock *clock;
  struct sl_workload_progress *progress; /* never NULL */
  struct sl_workload_result *result;
  struct sl_target target;
  struct sl_more {
    struct sl_target target;
    struct sl_engine_state *state;
  } * more; /* NULL when there is one target */
  unsigned more_open;
  unsigned turn; /* whose state it is: 0 the first's */
  struct sl_engine_state *first_state;
  struct sl_buffer buffer;
  struct sl_queue *queue; /* NULL for a synchronous engine */
  size_t slot_bytes;      /* of the buffer, for one operation */

  /* What is where; fixed once planned. */
  struct sl_order order;
  uint64_t records; /* in a pass, the tail included */
  uint64_t range_offset;
  uint64_t range_bytes;
  size_t record_bytes; /* of an operation: all its vectors */
  size_t tail_bytes;   /* of the last record of the range */
  size_t tail_request; /* what is asked for there: under direct I/O
                          rounded up at the end of a file */
  bool is_varied;      /* sl_run_vary says where a visit goes */
  struct sl_distribution distribution;
  bool range_cut; /* the target ends before the range does */

  /* Where it is. */
  bool going;
  bool is_held_back;  /* by limit_bytes, a rate or pauses */
  uint64_t visit;     /* absolute number of the next visit */
  uint64_t index;     /* visit % records */
  uint64_t pass;      /* visit / records */
  uint64_t visit_end; /* limit_records, or the end of one pass; 0 when
                         it has ended */
  uint64_t bytes_end; /* limit_bytes */
  uint64_t unflushed; /* writes since the last flush */
  uint64_t failed_in_a_row;

  /* Time.  All monotonic, or all declared (virtual_op_ns). */
  int64_t declared_op_ns; /* 0: time is measured */
  int64_t declared_now_ns;
  struct sl_counter_clock counter_clock; /* anchored at each check */
  int64_t last_ns;                       /* the latest time that was read */
  struct sl_usage usage_before;
  int64_t started_ns;     /* first operation after the ramp */
  int64_t ramp_end_ns;    /* 0: not in the ramp */
  int64_t next_check_ns;  /* when to look at limits again */
  int64_t clock_start_ns; /* of *clock */
  uint64_t rate;          /* bytes or operations a second; 0 none */
  int64_t due_ns;         /* pacing: when the next one may start */
  uint64_t due_rest;      /* and the fraction of a nanosecond, times rate */
  uint64_t think_visit;   /* the next pause comes before this visit */
  int64_t think_ns;       /* or at this time; INT64_MAX */

  struct sl_tally *tally[3];           /* by enum sl_op */
  struct sl_series_point point;        /* of the interval that runs */
  struct sl_series_part parts_told[3]; /* the counters at its beginning */
  unsigned point_index;
  int64_t point_end_ns;

  struct sl_stamp filler; /* for writes without stamps */
};

/* One visit. */
struct sl_step {
  enum sl_op op;
  unsigned char *data; /* NULL: the engine moves none */
  uint64_t visit;
  uint64_t pass;
  uint64_t offset;
  size_t length;  /* bytes that belong to the record */
  size_t request; /* bytes to ask the kernel for */
  size_t moved;
  int64_t start_ns, stop_ns;
};

/* Bytes of one whole operation. */
static inline uint64_t sl_operation_bytes(const struct sl_workload_spec *spec) {
  return spec->record_bytes * (spec->vectors ? spec->vectors : 1);
}

static inline int64_t sl_run_now(const struct sl_run *run) {
  return __builtin_expect(run->declared_op_ns != 0, 0)
             ? run->declared_now_ns
             : sl_counter_clock_now_ns(&run->counter_clock);
}

/* Now, by CLOCK_MONOTONIC itself.  workload_time.c */
int64_t sl_run_anchor_time(struct sl_run *run);

/* When something stopped.  What lasted until a check was due is told by
 * CLOCK_MONOTONIC itself, and so is what stopped before the check was set. */
static inline int64_t sl_run_stop_time(struct sl_run *run) {
  int64_t now_ns = sl_run_now(run);
  uint64_t left_ns = (uint64_t)run->next_check_ns - 1 - (uint64_t)now_ns;
  return __builtin_expect(left_ns >= SL_RUN_CHECK_NS, 0)
             ? sl_run_anchor_time(run)
             : now_ns;
}

static inline const char *sl_op_name(enum sl_op op) {
  return op == SL_OP_READ ? "read" : op == SL_OP_WRITE ? "write" : "trim";
}

static inline bool sl_run_cancelled(const struct sl_run *run) {
  return run->job && sl_job_cancelled(run->job);
}

/* The first reason to end is the one that counts. */
static inline void sl_run_end(struct sl_run *run, enum sl_end end) {
  if (run->going) run->result->end = end;
  run->going = false;
  run->visit_end = 0; /* what the loop looks at */
}

/* workload_plan.c: geometry and visit limits from spec and target. */
int sl_run_plan(struct sl_run *run, struct sl_error *e);
/* Visits from now on until the workload ends by itself. */
uint64_t sl_run_visit_end(const struct sl_run *run);
/* What a visit of a mixed workload, or of one that trims, does.  A pure
 * function, so that a resumed or verifying run can tell what an earlier visit
 * did. */
enum sl_op sl_run_mixed_op(const struct sl_workload_spec *spec, uint64_t visit);

/* workload_targets.c: what is done to the first target is done to the others.
 * Those of the engine's states come after it is open. */
int sl_run_open_more(struct sl_run *run, struct sl_target_spec spec,
                     struct sl_error *e);
/* From here on targets are changed: what is in them is not given up for a
 * workload that cannot run. */
int sl_run_resize(struct sl_run *run, struct sl_error *e);
int sl_run_close_more(struct sl_run *run, struct sl_error *e);
int sl_run_start_more(struct sl_run *run, struct sl_engine_setup setup,
                      struct sl_error *e);
int sl_run_stop_more(struct sl_run *run, unsigned count);
int sl_run_flush_more(struct sl_run *run); /* and the first */
void sl_run_turn_to(struct sl_run *run, unsigned number);
struct sl_target *sl_run_target(struct sl_run *run, unsigned number);

/* workload_cache.c */
int sl_run_look_at_cache(struct sl_run *run, struct sl_error *e);

/* workload_vary.c */
bool sl_spec_is_varied(const struct sl_workload_spec *spec);
/* Alignment of the sizes, and the range in whole records. */
int sl_run_plan_sizes(struct sl_run *run, struct sl_error *e);
int sl_run_plan_draws(struct sl_run *run, struct sl_error *e);
/* Offset and length of the next visit. */
void sl_run_vary(struct sl_run *run, struct sl_step *step);

/* workload_vary_check.c */
int sl_spec_check_varied(const struct sl_workload_spec *spec,
                         struct sl_error *e);

/* workload_check.c */
int sl_refuse(const struct sl_workload_spec *spec, struct sl_error *e,
              const char *format, ...) __attribute__((format(printf, 3, 4)));

/* workload_trim.c: reads back what was trimmed. */
void sl_run_verify_trim(struct sl_run *run);

/* workload_loop.c */
void sl_run_loop(struct sl_run *run);

/* workload_queue.c: the same with many visits under way. */
struct sl_queue;
int sl_run_queue_init(struct sl_run *run, struct sl_error *e);
void sl_run_queue(struct sl_run *run);
void sl_run_queue_release(struct sl_run *run);

/* workload_slow.c.  Takes what one call for the rest of a record returned.
 * True: ask for what is left of it.  False: it is done as far as it goes, and
 * *code is 0, -errno or SL_STEP_ENDED. */
bool sl_run_took(struct sl_run *run, struct sl_step *step, ssize_t got,
                 int *code);
/* Called when a transfer did not move all it was asked to:
 * goes on until the record is whole, an error is real, or the target ends.
 * Sets step->moved and stop_ns.  Returns 0, -errno, or SL_STEP_ENDED. */
enum { SL_STEP_ENDED = 1 };
int sl_run_transfer_rest(struct sl_run *run, struct sl_step *step,
                         ssize_t first);
/* Counts a failed operation and decides whether the run goes on. */
void sl_run_failed(struct sl_run *run, const struct sl_step *step, int code);
void sl_run_flush(struct sl_run *run);
/* An operation lasted longer than limit_latency_ns. */
void sl_run_too_slow(struct sl_run *run, const struct sl_step *step);

/* workload_time.c */
void sl_run_begin_time(struct sl_run *run);
void sl_run_check_time(struct sl_run *run, int64_t now_ns);
/* Waits until the record may start.  False: the run ended meanwhile. */
bool sl_run_pace(struct sl_run *run, size_t length);
/* Whether a pause is due; it makes one, and says whether the run goes on. */
bool sl_run_think_due(const struct sl_run *run);
bool sl_run_think(struct sl_run *run);
/* Forgets what the ramp measured. */
void sl_run_end_ramp(struct sl_run *run, int64_t now_ns);

/* workload_series.c */
int sl_run_series_init(struct sl_run *run, struct sl_error *e);
void sl_run_series_begin(struct sl_run *run, int64_t now_ns);
/* Puts the point away and begins the one that `now_ns` lies in. */
void sl_run_series_roll(struct sl_run *run, int64_t now_ns);
void sl_run_series_end(struct sl_run *run);

/* workload_data.c: puts the record's data into the buffer. */
void sl_run_fill(struct sl_run *run, const struct sl_step *step);
void sl_run_init_filler(struct sl_run *run);

/* workload_verify.c: judges what step read. */
void sl_run_verify(struct sl_run *run, const struct sl_step *step);

#endif
