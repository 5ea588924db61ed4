/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_WORKLOAD_H
#define STORLUA_CORE_IO_WORKLOAD_H

/* The one description of timed I/O, and the one function that does it.
 *
 * A spec says what is to happen; sl_workload_run does it on the thread of a
 * job; the result says what did.  Every I/O procedure of the project is a
 * table of these.  There is no second I/O loop.
 *
 * What is timed: one clock read (CLOCK_MONOTONIC, or the CPU's counter held
 * to it: base/counter_clock.h) before and one after each operation.  Filling,
 * verifying, pacing and bookkeeping are outside and reported apart.  io_ns is
 * the time in which an operation was under way (for a synchronous engine the
 * sum of the operations), flush_ns the sum of the flushes, total_ns the wall
 * span from the first operation to the end of the last flush, all in
 * nanoseconds. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/clock.h"
#include "core/base/distribution.h"
#include "core/base/error.h"
#include "core/base/histogram.h"
#include "core/base/order.h"
#include "core/base/usage.h"
#include "core/io/engine.h"
#include "core/io/stamp.h"
#include "core/io/steady.h"
#include "core/io/streams.h"
#include "core/io/target.h"
#include "core/run/job.h"

enum sl_operation {
  SL_READ,
  SL_WRITE,
  SL_MIXED,     /* read_percent of the operations read, the rest write */
  SL_TRIM,      /* discards: BLKDISCARD on a device, a punched hole in a file */
  SL_TRIM_WRITE /* two visits of each record: one trims it, the next writes it;
                   limit_records and a distribution count both */
};

enum sl_flush {
  SL_FLUSH_NONE,
  SL_FLUSH_END,   /* one fdatasync after the last operation */
  SL_FLUSH_EVERY, /* after every `flush_every` writes, and at the end */
  SL_FLUSH_AFTER  /* as SL_FLUSH_END, but after the time has been taken: outside
                     of total_ns and of the window of several streams */
};

enum {
  SL_SIZE_MIX_MAX = 8, /* record sizes of a mix */
  SL_MORE_TARGETS_MAX = 1023,
  SL_SERIES_POINTS = 3600, /* then neighbours merge, the interval doubles */
  SL_ERRORS_KEPT = 32,
  SL_BAD_KEPT_MAX = 64
};

struct sl_workload_spec {
  struct sl_target_spec target;
  /* Targets beside the first, borrowed: visits take turns among all of them,
   * or do a pass of one after the other.  A pass visits each record of each.
   * All have the same range; a flush is of all.  Not for queued engines. */
  const char *const *more_paths;
  unsigned more_count; /* SL_MORE_TARGETS_MAX at most */
  bool one_after_other;
  const struct sl_engine *engine;
  unsigned queue_depth;      /* 1 (or 0) for synchronous engines */
  bool engine_forced;        /* io_uring also where psync is taken for it: in
                                memory (tmpfs, ramfs), where its requests would
                                go to threads of the kernel */
  unsigned vectors;          /* vsync: records in one operation; else 0 */
  enum sl_map_sync map_sync; /* mmap */

  enum sl_operation operation;
  unsigned read_percent; /* 0..100, SL_MIXED only */
  uint64_t record_bytes; /* a multiple of 512 when stamps are on */
  /* All zero, or records of several sizes, percents of 100: record_bytes is
   * the largest, the others divide it.  A visit draws its size, and where in
   * its record of record_bytes it lies, at a multiple of that size; what the
   * range has beyond whole records is left out. */
  struct {
    uint64_t record_bytes;
    unsigned percent;
  } size_mix[SL_SIZE_MIX_MAX];

  uint64_t range_offset; /* bytes */
  uint64_t range_bytes;  /* 0: to the end of the target */
  enum sl_order_kind order;
  uint64_t stride_records;
  /* Other than SL_UNIFORM: each visit draws its record, and a pass is as many
   * visits as there are records.  Needs SL_ORDER_RANDOM, which for zipf says
   * which record has which rank. */
  struct sl_distribution_spec distribution;
  uint64_t seed;
  uint64_t first_visit; /* start here: visit v touches record
                           order(v % records) and writes generation
                           identity.generation + v / records */

  /* How much: the first limit reached ends it.  All zero: one pass.  Past the
   * end of a pass the order starts again, and writes get the next
   * generation. */
  uint64_t limit_records;
  uint64_t limit_bytes;
  int64_t limit_ns;
  int64_t ramp_ns; /* operations before this are not counted */

  enum sl_flush flush;
  uint64_t flush_every; /* writes between flushes */

  bool stamp;                   /* write stamps; else incompressible filler */
  bool verify;                  /* compare what was read; trim: read back in
                                   the end what was trimmed, as zeros */
  struct sl_stamp identity;     /* run, generation, target, writer */
  const struct sl_legal *legal; /* verify: sorted by offset, borrowed; where
                                   it says nothing, and when NULL, exactly
                                   identity.generation */
  size_t legal_count;
  unsigned bad_kept; /* bad sectors to keep whole, <= the maximum */

  uint64_t rate_bytes_s;      /* 0: as fast as it goes */
  uint64_t rate_operations_s; /* the same in operations; not both */
  int64_t limit_latency_ns;   /* an operation that lasts longer ends it */
  /* A pause of think_ns, outside of all operations but inside of total_ns,
   * after think_every visits, or when think_after_ns has passed since the last
   * one, whichever is first (0: not by this).  Of it, think_spin_ns are spent
   * computing, not asleep.  A queue is empty in a pause. */
  int64_t think_ns, think_spin_ns, think_after_ns;
  uint64_t think_every;
  uint64_t cpus;                /* bit n: CPU n may run it; 0: any */
  bool continue_on_error;       /* else the first error ends the workload */
  bool require_cold;            /* refuse to start a read on cached pages */
  bool drop_cache;              /* before a read: flush and drop this file's
                                   pages, then check residency */
  int64_t interval_ns;          /* of the series; 0: one second */
  bool series_directions;       /* also by direction */
  struct sl_steady_spec steady; /* ends it when it has become steady */

  int64_t virtual_op_ns;      /* null engine under virtual time: what one
                                 operation is declared to last */
  struct sl_streams *streams; /* common start with others; NULL: none */
  unsigned stream;            /* which of them this one is */
};

enum sl_end {
  SL_END_COMPLETE, /* a limit was reached */
  SL_END_CANCELLED,
  SL_END_ERROR,     /* an I/O error, continue_on_error false */
  SL_END_NO_SPACE,  /* ENOSPC or EDQUOT: counted up to there */
  SL_END_OF_DEVICE, /* the target ended before the range did */
  SL_END_TOO_SLOW,  /* an operation lasted longer than limit_latency_ns; which
                       one is in error, with the code -ETIMEDOUT */
  SL_END_STONEWALL, /* another stream ended first */
  SL_END_NOT_COLD   /* require_cold, and pages were resident: no I/O done */
};
const char *sl_end_name(enum sl_end end);

struct sl_io_error {
  enum sl_op op;
  bool is_flush;
  int code;        /* negative errno */
  uint64_t offset; /* first one of this op and code */
  uint64_t count;
};

struct sl_bad_sector {
  uint64_t offset; /* bytes, in the target */
  struct sl_verdict verdict;
  struct sl_stamp expected;
  unsigned char found[SL_SECTOR_BYTES];
  unsigned char wanted[SL_SECTOR_BYTES]; /* nearest legal sector */
};

struct sl_tally {      /* one direction */
  uint64_t operations; /* records moved, whole or short */
  uint64_t calls;      /* system calls they took */
  uint64_t bytes;      /* as returned by the kernel */
  uint64_t short_calls;
  int64_t io_ns;
  struct sl_histogram latency; /* per operation */
};

/* One interval of the series, by direction: enum sl_op. */
struct sl_series_parts {
  struct sl_series_part {
    uint64_t bytes, operations;
    uint64_t latency_ns; /* of its operations, summed up */
  } of[3];
};

struct sl_workload_result {
  enum sl_end end;
  struct sl_error error; /* the first one, when end is an error */
  struct sl_tally read, write, trim;
  uint64_t flushes;
  int64_t flush_ns;
  struct sl_histogram flush_latency;
  int64_t total_ns; /* wall span, monotonic */
  int64_t fill_ns, verify_ns, pace_ns, open_ns, close_ns;
  const char *clock;        /* what told the time: sl_counter_clock_name */
  int64_t clock_off_ns;     /* how far it was off CLOCK_MONOTONIC at most */
  struct sl_usage usage;    /* of the thread, over total_ns and a flush after */
  int64_t boot_start_ns;    /* CLOCK_BOOTTIME at the first operation */
  uint64_t next_visit;      /* first_visit plus the visits completed, those of
                               the ramp too: where a next run goes on */
  uint64_t passes;          /* whole passes in this run */
  uint32_t generation_last; /* newest generation that was written */

  int64_t series_interval_ns;
  unsigned series_count;
  struct sl_series_point series[SL_SERIES_POINTS];
  struct sl_series_parts *series_parts; /* as many; NULL unless asked for */

  struct sl_steady steady; /* as last looked at */

  unsigned error_count;  /* distinct, in errors[] */
  uint64_t errors_total; /* failed operations, also those not kept */
  struct sl_io_error errors[SL_ERRORS_KEPT];

  uint64_t verified_sectors; /* compared, good or bad */
  uint64_t bad_sectors;
  uint64_t damage[SL_DAMAGE_KINDS]; /* bad sectors by kind */
  uint64_t zero_sectors;            /* legal zeros, where zero_ok */
  uint64_t old_sectors;      /* legal, generation below the newest legal */
  unsigned bad_count;        /* kept */
  struct sl_bad_sector *bad; /* bad_kept entries; freed by result_release */

  /* Truth about the target */
  const struct sl_engine *engine; /* that ran; NULL: none did */
  unsigned queue_depth;           /* that it ran with */
  bool is_direct, is_ram, is_block;
  uint32_t memory_align, offset_align;
  uint64_t filesystem_magic;
  bool huge_pages;
  int64_t resident_before;      /* bytes of the range in the page cache right
                                   before the first operation; -1 unknown */
  const char *residency_source; /* "cachestat", "mincore" or "unknown" */
  unsigned engine_note_count;
  const char *engine_notes[SL_ENGINE_NOTES_MAX]; /* static words */
  int64_t unbacked_before;   /* reads: bytes of the range that no medium holds,
                                so that reading them is no I/O: holes, and
                                unwritten extents outside the cache; -1
                                unknown */
  uint64_t file_bytes_after; /* st_size at the end */
  struct sl_trim_facts trim_facts; /* of a trim */
};

/* A snapshot of a running workload, written by its thread with relaxed
 * stores, readable by any thread at any time. */
struct sl_workload_progress {
  _Atomic uint64_t operations;
  _Atomic uint64_t bytes;
  _Atomic uint64_t errors;
  _Atomic uint64_t bad_sectors;
  _Atomic int64_t started_ns; /* monotonic; 0 before the first operation */
};

/* Checks a spec without touching the target.  -EINVAL with a hint that names
 * the field and the values. */
int sl_workload_check(const struct sl_workload_spec *spec, struct sl_error *e);

/* Runs it.  Returns 0 when the workload started, whatever happened then (that
 * is in the result); negative when nothing was done: target cannot be opened,
 * alignment, memory.  `job` may be NULL (no cancel); `clock` limits the
 * duration; `progress` may be NULL.  The result is large (300 KB): allocate it,
 * and sl_workload_result_release it in both cases. */
int sl_workload_run(const struct sl_workload_spec *spec, struct sl_job *job,
                    const struct sl_clock *clock,
                    struct sl_workload_progress *progress,
                    struct sl_workload_result *result, struct sl_error *e);

void sl_workload_result_release(struct sl_workload_result *result);

#endif
