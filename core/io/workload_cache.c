/* SPDX-License-Identifier: MIT */
/* What is in the cache, and on the medium, right before the first operation. */
#include "core/device/residency.h"
#include "core/io/workload_private.h"

/* The sum over the targets; -1 when one is not known. */
static void add_known(int64_t *sum, int64_t bytes,
                      const struct sl_target *target,
                      const struct sl_run *run) {
  if (target == &run->target || bytes < 0) {
    *sum = bytes;
  } else if (*sum >= 0) {
    *sum += bytes;
  }
}

/* Drops and looks, right before the first operation.  A read that must be
 * cold is not begun unless that is proved; direct I/O passes the cache by. */
static int look_at(struct sl_run *run, const struct sl_target *target,
                   struct sl_error *e) {
  const struct sl_workload_spec *spec = run->spec;
  struct sl_workload_result *result = run->result;
  if (!run->engine->needs_target) return 0;
  bool reads = spec->operation == SL_READ || spec->operation == SL_MIXED;
  if (run->job) sl_job_enter(run->job, "cache", -1);
  if (reads && spec->drop_cache) {
    int code = sl_residency_drop(target->fd, target->path, e);
    if (code) return code;
  }
  struct sl_residency residency;
  sl_residency_read(target->fd, run->range_offset, run->range_bytes,
                    &residency);
  add_known(&result->resident_before, residency.resident_bytes, target, run);
  result->residency_source = residency.source;
  if (reads) {
    add_known(&result->unbacked_before,
              sl_target_unbacked(target, run->range_offset, run->range_bytes,
                                 residency.resident_bytes == 0),
              target, run);
  }
  if (reads && spec->require_cold && !target->is_direct &&
      residency.resident_bytes != 0) {
    sl_run_end(run, SL_END_NOT_COLD);
  }
  return 0;
}

int sl_run_look_at_cache(struct sl_run *run, struct sl_error *e) {
  int code = 0;
  for (unsigned i = 0; i <= run->more_open && !code; i++)
    code = look_at(run, sl_run_target(run, i), e);
  return code;
}
