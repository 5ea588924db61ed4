/* SPDX-License-Identifier: MIT */
/* The targets beside the first: opened, looked at, flushed and closed with it,
 * each with a state of the engine. */
#include <errno.h>
#include <stdlib.h>

#include "core/io/workload_private.h"

typedef unsigned long long ull;

/* What the plan takes from the first must hold for each. */
static int check_target(const struct sl_run *run,
                        const struct sl_target *target, struct sl_error *e) {
  const struct sl_workload_spec *spec = run->spec;
  uint64_t end = spec->range_offset + spec->range_bytes;
  bool fixed = target->is_block || spec->operation == SL_READ ||
               spec->operation >= SL_TRIM;
  if (target->is_block == run->target.is_block &&
      target->offset_align == run->target.offset_align &&
      (!fixed || target->size_bytes >= end)) {
    return 0;
  }
  sl_error_set(e, -EINVAL, "workload", target->path, -1);
  sl_error_hint(e,
                "several targets must be alike: this one has %llu bytes of "
                "%llu, alignment %u, the first has alignment %u",
                (ull)target->size_bytes, (ull)end, target->offset_align,
                run->target.offset_align);
  return -EINVAL;
}

int sl_run_open_more(struct sl_run *run, struct sl_target_spec spec,
                     struct sl_error *e) {
  if (!run->spec->more_count) return 0;
  run->more = calloc(run->spec->more_count, sizeof(*run->more));
  if (!run->more) return sl_error_set(e, -ENOMEM, "workload", spec.path, -1);
  int code = 0;
  for (unsigned i = 0; i < run->spec->more_count && !code; i++) {
    struct sl_target *target = &run->more[i].target;
    spec.path = run->spec->more_paths[i];
    code = sl_target_open(target, &spec, e);
    if (code) break;
    run->more_open++;
    struct sl_trim_facts facts;
    code = check_target(run, target, e);
    if (!code && run->spec->operation >= SL_TRIM) {
      code = sl_target_trim_probe(target, &facts, e);
    }
  }
  return code;
}

int sl_run_resize(struct sl_run *run, struct sl_error *e) {
  if (!run->engine->needs_target) return 0;
  int64_t start_ns = sl_monotonic_ns();
  int code = 0;
  if (run->target.empties) code = sl_engine_probe(run->engine->name, e);
  if (run->job) sl_job_enter(run->job, "ftruncate", -1);
  for (unsigned i = 0; i <= run->more_open && !code; i++)
    code = sl_target_resize(sl_run_target(run, i), e);
  if (run->job) sl_job_enter(run->job, "open", -1);
  run->result->open_ns += sl_monotonic_ns() - start_ns;
  return code;
}

int sl_run_close_more(struct sl_run *run, struct sl_error *e) {
  int code = 0;
  for (unsigned i = 0; i < run->more_open; i++) {
    int one = sl_target_close(&run->more[i].target, code ? NULL : e);
    if (!code) code = one;
  }
  free(run->more);
  run->more = NULL;
  run->more_open = 0;
  return code;
}

int sl_run_start_more(struct sl_run *run, struct sl_engine_setup setup,
                      struct sl_error *e) {
  run->first_state = run->state;
  for (unsigned i = 0; i < run->more_open; i++) {
    setup.target = &run->more[i].target;
    int code = run->engine->open(&run->more[i].state, &setup, e);
    if (code) {
      sl_run_stop_more(run, i);
      run->engine->close(run->state);
      return code;
    }
  }
  return 0;
}

int sl_run_stop_more(struct sl_run *run, unsigned count) {
  int code = 0;
  sl_run_turn_to(run, 0);
  for (unsigned i = 0; i < count; i++) {
    int one = run->engine->close(run->more[i].state);
    if (!code) code = one;
  }
  return code;
}

int sl_run_flush_more(struct sl_run *run) {
  int code = run->engine->flush(run->first_state);
  for (unsigned i = 0; i < run->more_open && !code; i++)
    code = run->engine->flush(run->more[i].state);
  return code;
}

void sl_run_turn_to(struct sl_run *run, unsigned number) {
  run->turn = run->more ? number : 0;
  run->state = run->turn ? run->more[number - 1].state : run->first_state;
}

struct sl_target *sl_run_target(struct sl_run *run, unsigned number) {
  return number ? &run->more[number - 1].target : &run->target;
}
