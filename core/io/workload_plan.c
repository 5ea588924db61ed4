/* SPDX-License-Identifier: MIT */
/* Range, records and visits.
 *
 * A visit is a number that only grows: visit v touches record
 * order(v % records) in pass v / records.  What a visit does follows from v
 * and the spec alone, so a run that was cut can be continued, and judged. */
#include <errno.h>
#include <sched.h>

#include "core/io/workload_private.h"

typedef unsigned long long ull;

enum sl_op sl_run_mixed_op(const struct sl_workload_spec *spec,
                           uint64_t visit) {
  if (spec->operation >= SL_TRIM) {
    bool writes = spec->operation == SL_TRIM_WRITE && visit % 2;
    return writes ? SL_OP_WRITE : SL_OP_TRIM;
  }
  uint64_t state = spec->seed ^ (visit * UINT64_C(0x9e3779b97f4a7c15));
  uint64_t draw = sl_random_next(&state) >> 32;
  return (draw * 100) >> 32 < spec->read_percent ? SL_OP_READ : SL_OP_WRITE;
}

static int refuse(const struct sl_run *run, struct sl_error *e) {
  return sl_error_set(e, -EINVAL, "workload", run->spec->target.path, -1);
}

/* Where the range ends, and whether the target ends before it. */
static int plan_range(struct sl_run *run, struct sl_error *e) {
  const struct sl_workload_spec *spec = run->spec;
  bool real = run->engine->needs_target;
  uint64_t size = real ? run->target.size_bytes : spec->target.size_bytes;
  uint64_t offset = spec->range_offset;
  uint64_t left = size > offset ? size - offset : 0;
  uint64_t bytes = spec->range_bytes ? spec->range_bytes : left;
  /* A file grows when it is written; nothing else reaches past its end. */
  bool fixed = real && (run->target.is_block || spec->operation == SL_READ ||
                        spec->operation >= SL_TRIM);
  uint64_t usable = fixed && left < bytes ? left : bytes;
  if (usable < spec->record_bytes) {
    refuse(run, e);
    sl_error_hint(e,
                  "there are %llu bytes from offset %llu on (size %llu): "
                  "less than a record of %llu",
                  (ull)usable, (ull)offset, (ull)size, (ull)spec->record_bytes);
    return -EINVAL;
  }
  run->range_cut = usable < bytes;
  run->range_offset = offset;
  /* In sequence the kernel itself says where the end is; in any other order
   * no offset may lie beyond it. */
  run->range_bytes = spec->order == SL_ORDER_SEQUENTIAL ? bytes : usable;
  return 0;
}

/* Direct I/O moves aligned pieces only.  A read may ask for more than the
 * file has left and gets what is there; a write would change its size. */
static int plan_tail(struct sl_run *run, struct sl_error *e) {
  uint64_t align = run->target.offset_align;
  run->tail_request = run->tail_bytes;
  if (!run->engine->needs_target || run->tail_bytes % align == 0) return 0;
  uint64_t end = run->range_offset + run->range_bytes;
  if (run->spec->operation == SL_READ && end == run->target.size_bytes) {
    run->tail_request = (size_t)((run->tail_bytes + align - 1) / align * align);
    return 0;
  }
  refuse(run, e);
  sl_error_hint(e,
                "direct I/O here needs multiples of %llu bytes: the last "
                "record has %llu (set range_bytes to %llu)",
                (ull)align, (ull)run->tail_bytes,
                (ull)(run->range_bytes - run->tail_bytes % align));
  return -EINVAL;
}

uint64_t sl_run_visit_end(const struct sl_run *run) {
  const struct sl_workload_spec *spec = run->spec;
  uint64_t pass_end = run->visit - run->index + run->records;
  bool limited = spec->limit_records || spec->limit_bytes || spec->limit_ns;
  if (!limited || run->range_cut) return pass_end;
  uint64_t room = UINT64_MAX - run->visit;
  if (!spec->limit_records || spec->limit_records > room) return UINT64_MAX;
  return run->visit + spec->limit_records;
}

/* For good: the thread is the job's own. */
static int stay_on_cpus(const struct sl_workload_spec *spec,
                        struct sl_error *e) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (unsigned cpu = 0; cpu < 64; cpu++) {
    if (spec->cpus >> cpu & 1) CPU_SET(cpu, &set);
  }
  if (!spec->cpus || sched_setaffinity(0, sizeof(set), &set) == 0) return 0;
  return sl_error_set(e, -errno, "sched_setaffinity", spec->target.path, -1);
}

int sl_run_plan(struct sl_run *run, struct sl_error *e) {
  const struct sl_workload_spec *spec = run->spec;
  int code = sl_target_check_alignment(&run->target, spec->record_bytes,
                                       spec->range_offset, e);
  if (!code) code = stay_on_cpus(spec, e);
  if (!code) code = plan_range(run, e);
  if (!code) code = sl_run_plan_sizes(run, e);
  if (code) return code;
  /* An operation of many vectors stays inside the range. */
  uint64_t bytes = sl_operation_bytes(spec);
  while (bytes > run->range_bytes)
    bytes -= spec->record_bytes;
  run->record_bytes = (size_t)bytes;
  run->records = (run->range_bytes - 1) / bytes + 1;
  run->tail_bytes = (size_t)(run->range_bytes - (run->records - 1) * bytes);
  code = plan_tail(run, e);
  if (code) return code;
  code = sl_run_plan_draws(run, e);
  if (code) return code;
  sl_order_init(&run->order, spec->order, run->records, spec->seed,
                spec->stride_records);
  run->records *= spec->more_count + 1;
  if (spec->operation == SL_TRIM_WRITE) run->records *= 2;
  run->visit = spec->first_visit;
  run->index = run->visit % run->records;
  run->pass = run->visit / run->records;
  run->visit_end = UINT64_MAX; /* set when the ramp has ended */
  run->bytes_end = UINT64_MAX;
  return 0;
}
