/* SPDX-License-Identifier: MIT */
#include "core/io/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/io/workload_private.h"

/* Of the slots of a queue: a page, so that each may be moved directly. */
enum { SLOT_ALIGN = 4096 };

static void init_result(struct sl_workload_result *result) {
  memset(result, 0, sizeof(*result));
  sl_histogram_init(&result->read.latency);
  sl_histogram_init(&result->write.latency);
  sl_histogram_init(&result->trim.latency);
  sl_histogram_init(&result->flush_latency);
  result->resident_before = result->unbacked_before = -1;
  result->residency_source = "unknown";
}

void sl_workload_result_release(struct sl_workload_result *result) {
  free(result->bad);
  free(result->series_parts);
  result->bad = NULL;
  result->series_parts = NULL;
}

/* Virtual time stands still while a job runs, so a limit in time needs the
 * duration that operations are declared to have. */
static int check_clock(struct sl_run *run, struct sl_error *e) {
  const struct sl_workload_spec *spec = run->spec;
  if (!run->clock->is_virtual) return 0;
  run->declared_op_ns = spec->virtual_op_ns;
  if (spec->virtual_op_ns || (!spec->limit_ns && !spec->ramp_ns)) return 0;
  sl_error_set(e, -EINVAL, "workload", spec->target.path, -1);
  sl_error_hint(e, "under virtual time a limit in time needs virtual_op_ns");
  return -EINVAL;
}

static int open_target(struct sl_run *run, struct sl_error *e) {
  struct sl_target_spec spec = run->spec->target;
  struct sl_workload_result *result = run->result;
  run->target.fd = -1;
  run->target.offset_align = run->target.memory_align = 1;
  if (!run->engine->needs_target) return 0;
  spec.write = run->spec->operation != SL_READ;
  if (run->job) sl_job_enter(run->job, "open", -1);
  int64_t start_ns = sl_monotonic_ns();
  int code = sl_target_open(&run->target, &spec, e);
  result->open_ns = sl_monotonic_ns() - start_ns;
  if (code) return code;
  result->is_direct = run->target.is_direct;
  result->is_ram = run->target.is_ram;
  result->is_block = run->target.is_block;
  result->memory_align = run->target.memory_align;
  result->offset_align = run->target.offset_align;
  result->filesystem_magic = run->target.filesystem_magic;
  if (run->spec->operation >= SL_TRIM) {
    code = sl_target_trim_probe(&run->target, &result->trim_facts, e);
  }
  if (!code) code = sl_run_open_more(run, spec, e);
  if (code) {
    sl_run_close_more(run, NULL);
    sl_target_close(&run->target, NULL);
  }
  return code;
}

/* The null engine moves nothing, so it gets no memory, whatever the size of
 * its records. */
static int allocate(struct sl_run *run, struct sl_error *e) {
  struct sl_workload_result *result = run->result;
  if (run->spec->verify && run->spec->bad_kept) {
    result->bad = calloc(run->spec->bad_kept, sizeof(*result->bad));
    if (!result->bad) {
      return sl_error_set(e, -ENOMEM, "workload", run->spec->target.path, -1);
    }
  }
  if (!run->engine->needs_target) return 0;
  uint64_t size = run->record_bytes;
  if (size < run->tail_request) size = run->tail_request;
  uint64_t depth = run->engine->submit ? run->queue_depth : 1;
  uint64_t unit = depth > 1 ? SLOT_ALIGN : SL_SECTOR_BYTES;
  size = (size + unit - 1) / unit * unit;
  if (size > SIZE_MAX / 2 / depth) {
    sl_error_set(e, -ENOMEM, "workload", run->spec->target.path, -1);
    sl_error_hint(e,
                  "%llu records of %llu bytes are more than this machine "
                  "can address",
                  (unsigned long long)depth, (unsigned long long)size);
    return -ENOMEM;
  }
  run->slot_bytes = (size_t)size;
  int code = sl_buffer_init(&run->buffer, (size_t)(size * depth), e);
  result->huge_pages = code == 0 && run->buffer.huge;
  if (code == 0 && run->engine->submit) code = sl_run_queue_init(run, e);
  return code;
}

static bool must_flush(const struct sl_run *run) {
  enum sl_end end = run->result->end;
  return run->spec->flush != SL_FLUSH_NONE && run->unflushed &&
         end != SL_END_CANCELLED && end != SL_END_ERROR;
}

/* Sums up what the loop keeps in the histograms only.  In a queue latencies
 * overlap, so it sums up the time itself. */
static void finish_tally(struct sl_tally *tally, bool queued) {
  tally->operations = tally->latency.count;
  tally->calls += tally->operations;
  if (!queued) tally->io_ns = (int64_t)tally->latency.sum_ns;
}

static void measure(struct sl_run *run) {
  struct sl_workload_result *result = run->result;
  sl_run_begin_time(run);
  if (run->queue) {
    sl_run_queue(run);
  } else {
    sl_run_loop(run);
  }
  if (run->ramp_end_ns) sl_run_end_ramp(run, sl_run_anchor_time(run));
  bool after = run->spec->flush == SL_FLUSH_AFTER;
  if (!after && must_flush(run)) sl_run_flush(run);
  int64_t end_ns = sl_run_anchor_time(run);
  result->total_ns = end_ns - run->started_ns;
  result->clock = sl_counter_clock_name(&run->counter_clock);
  result->clock_off_ns = run->counter_clock.worst_ns;
  if (run->spec->streams) {
    sl_streams_end(run->spec->streams, run->spec->stream, end_ns);
  }
  if (after && must_flush(run)) sl_run_flush(run);
  result->usage = sl_usage_since(&run->usage_before);
  finish_tally(&result->read, run->queue);
  finish_tally(&result->write, run->queue);
  finish_tally(&result->trim, run->queue);
  sl_run_series_end(run);
}

static void close_all(struct sl_run *run) {
  struct sl_workload_result *result = run->result;
  struct stat st;
  if (run->target.is_block) {
    result->file_bytes_after = run->target.size_bytes;
  } else if (run->target.fd >= 0 && fstat(run->target.fd, &st) == 0) {
    result->file_bytes_after = (uint64_t)st.st_size;
  }
  if (run->job) sl_job_enter(run->job, "close", -1);
  struct sl_error e = {0};
  int64_t start_ns = sl_monotonic_ns();
  int code = sl_run_close_more(run, &e);
  int first = sl_target_close(&run->target, code ? NULL : &e);
  if (!code) code = first;
  result->close_ns += sl_monotonic_ns() - start_ns;
  if (code && !result->error.code) {
    result->error = e; /* a write that failed late */
    result->end = SL_END_ERROR;
  }
  if (run->job) sl_job_enter(run->job, NULL, -1);
}

/* A read or write in memory is a copy, which the kernel gives to a thread of
 * its own when a ring asks for it: a queue only adds the hand-over. */
static void choose_engine(struct sl_run *run) {
  const struct sl_workload_spec *spec = run->spec;
  run->queue_depth = spec->queue_depth ? spec->queue_depth : 1;
  if (run->target.is_ram && !spec->engine_forced &&
      strcmp(run->engine->name, "io_uring") == 0) {
    run->engine = sl_engine_find("psync");
    run->queue_depth = 1;
  }
  run->result->engine = run->engine;
  run->result->queue_depth = run->queue_depth;
}

static int open_engine(struct sl_run *run, struct sl_error *e) {
  const struct sl_workload_spec *spec = run->spec;
  struct sl_engine_setup setup = {.target = &run->target,
                                  .writes = spec->operation != SL_READ,
                                  .queue_depth = run->queue_depth,
                                  .record_bytes = (size_t)spec->record_bytes,
                                  .range_offset = run->range_offset,
                                  .range_bytes = run->range_bytes,
                                  .map_sync = spec->map_sync,
                                  .memory = run->buffer.data,
                                  .memory_bytes = run->buffer.size};
  int code = run->engine->open(&run->state, &setup, e);
  if (!code) code = sl_run_start_more(run, setup, e);
  /* Not here at all: say what is. */
  if (code == -ENOSYS || code == -EPERM) sl_engine_probe(run->engine->name, e);
  return code;
}

static void close_engine(struct sl_run *run) {
  struct sl_workload_result *result = run->result;
  int64_t start_ns = sl_monotonic_ns();
  int code = sl_run_stop_more(run, run->more_open);
  if (run->engine->notes) {
    result->engine_note_count =
        run->engine->notes(run->state, result->engine_notes);
  }
  if (run->engine != run->spec->engine) {
    result->engine_notes[result->engine_note_count++] = "psync_taken";
  }
  if (run->counter_clock.dropped) {
    result->engine_notes[result->engine_note_count++] = "clock_off";
  }
  int first = run->engine->close(run->state);
  if (!code) code = first;
  result->close_ns += sl_monotonic_ns() - start_ns;
  if (code == 0 || result->error.code) return;
  sl_error_set(&result->error, code, "close", run->target.path, -1);
  result->end = SL_END_ERROR;
}

/* The common start of several streams. */
static int wait_for_others(struct sl_run *run, struct sl_error *e) {
  const struct sl_workload_spec *spec = run->spec;
  if (!spec->streams) return 0;
  if (run->job) sl_job_enter(run->job, NULL, -1);
  int code =
      sl_streams_wait(spec->streams, spec->stream, run->progress, run->job);
  if (code == 0) return 0;
  if (sl_run_cancelled(run)) {
    sl_run_end(run, SL_END_CANCELLED);
    return 0;
  }
  sl_error_set(e, code, "workload", run->target.path, -1);
  sl_error_hint(e, "another stream could not start");
  return code;
}

static int run_opened(struct sl_run *run, struct sl_error *e) {
  choose_engine(run);
  int code = sl_run_plan(run, e);
  if (!code) code = allocate(run, e);
  if (!code) code = sl_run_resize(run, e);
  if (!code) code = open_engine(run, e);
  if (code) return code;
  run->going = true;
  code = sl_run_look_at_cache(run, e);
  if (!code && run->going) code = wait_for_others(run, e);
  if (!code && run->going) {
    measure(run);
    bool trims = run->spec->operation == SL_TRIM;
    if (trims && run->spec->verify) sl_run_verify_trim(run);
  }
  close_engine(run);
  run->result->next_visit = run->visit;
  run->result->passes = (run->visit - run->spec->first_visit) / run->records;
  return code;
}

static int run_spec(const struct sl_workload_spec *spec, struct sl_job *job,
                    const struct sl_clock *clock,
                    struct sl_workload_progress *progress,
                    struct sl_workload_result *result, struct sl_error *e) {
  struct sl_workload_progress unseen;
  memset(&unseen, 0, sizeof(unseen));
  struct sl_clock real;
  sl_clock_init_real(&real);
  init_result(result);
  int code = sl_workload_check(spec, e);
  if (code) return code;
  struct sl_run run = {.spec = spec,
                       .engine = spec->engine,
                       .job = job,
                       .clock = clock ? clock : &real,
                       .progress = progress ? progress : &unseen,
                       .result = result,
                       .tally = {&result->read, &result->write, &result->trim},
                       .rate = spec->rate_operations_s ? spec->rate_operations_s
                                                       : spec->rate_bytes_s};
  run.is_held_back = spec->limit_bytes || run.rate || spec->think_ns;
  code = check_clock(&run, e);
  if (!code) code = sl_run_series_init(&run, e);
  if (!code) code = open_target(&run, e);
  if (code) return code;
  if (!spec->stamp) sl_run_init_filler(&run);
  code = run_opened(&run, e);
  close_all(&run);
  sl_run_queue_release(&run);
  sl_buffer_release(&run.buffer);
  return code;
}

int sl_workload_run(const struct sl_workload_spec *spec, struct sl_job *job,
                    const struct sl_clock *clock,
                    struct sl_workload_progress *progress,
                    struct sl_workload_result *result, struct sl_error *e) {
  int code = run_spec(spec, job, clock, progress, result, e);
  /* The others need not wait for one that never came. */
  bool began = code == 0 && result->end != SL_END_NOT_COLD;
  if (spec->streams && !began) sl_streams_leave(spec->streams);
  return code;
}
