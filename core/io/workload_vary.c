/* SPDX-License-Identifier: MIT */
/* Visits that are not simply the next record of an order: drawn from a
 * distribution, of one of several sizes, or two for one record.  What such a
 * visit does follows from its number, seed and spec alone, too. */
#include <errno.h>

#include "core/io/workload_private.h"

typedef unsigned long long ull;

#define SALT_SIZE UINT64_C(0x73697a65)

static bool is_mixed_in_size(const struct sl_workload_spec *spec) {
  return spec->size_mix[0].record_bytes != 0;
}

bool sl_spec_is_varied(const struct sl_workload_spec *spec) {
  return spec->distribution.kind != SL_UNIFORM || is_mixed_in_size(spec) ||
         spec->operation == SL_TRIM_WRITE || spec->more_count;
}

static int refuse(const struct sl_run *run, struct sl_error *e) {
  return sl_error_set(e, -EINVAL, "workload", run->spec->target.path, -1);
}

int sl_run_plan_sizes(struct sl_run *run, struct sl_error *e) {
  const struct sl_workload_spec *spec = run->spec;
  if (!is_mixed_in_size(spec)) return 0;
  for (int i = 0; i < SL_SIZE_MIX_MAX && spec->size_mix[i].record_bytes; i++) {
    int code = sl_target_check_alignment(
        &run->target, spec->size_mix[i].record_bytes, spec->range_offset, e);
    if (code) return code;
  }
  run->range_bytes -= run->range_bytes % spec->record_bytes;
  return 0;
}

int sl_run_plan_draws(struct sl_run *run, struct sl_error *e) {
  const struct sl_workload_spec *spec = run->spec;
  run->is_varied = sl_spec_is_varied(spec);
  if (spec->distribution.kind == SL_UNIFORM) return 0;
  if (sl_distribution_init(&run->distribution, &spec->distribution,
                           run->records, run->record_bytes, spec->seed)) {
    return 0;
  }
  refuse(run, e);
  sl_error_hint(e,
                "a zone is smaller than a record, or zones reach past the "
                "range: it has %llu records",
                (ull)run->records);
  return -EINVAL;
}

/* A size for this visit, and a place in its record for it. */
static void draw_size(const struct sl_run *run, uint64_t visit,
                      struct sl_step *step) {
  const struct sl_workload_spec *spec = run->spec;
  uint64_t state = sl_visit_stream(spec->seed, SALT_SIZE, visit);
  unsigned percent = (unsigned)((sl_random_next(&state) >> 32) * 100 >> 32);
  int i = 0;
  while (percent >= spec->size_mix[i].percent) {
    percent -= spec->size_mix[i++].percent;
  }
  uint64_t bytes = spec->size_mix[i].record_bytes;
  uint64_t places = run->record_bytes / bytes;
  step->offset += sl_random_next(&state) % places * bytes;
  step->length = step->request = (size_t)bytes;
}

void sl_run_vary(struct sl_run *run, struct sl_step *step) {
  enum sl_distribution_kind kind = run->spec->distribution.kind;
  int twice = run->spec->operation == SL_TRIM_WRITE;
  uint64_t visit = run->visit >> twice, index = run->index >> twice;
  uint64_t records = run->records >> twice;
  if (run->spec->more_count) {
    unsigned targets = run->spec->more_count + 1;
    bool in_turn = !run->spec->one_after_other;
    records /= targets;
    sl_run_turn_to(run,
                   (unsigned)(in_turn ? index % targets : index / records));
    index = in_turn ? index / targets : index % records;
  }
  uint64_t record = kind == SL_UNIFORM
                        ? index
                        : sl_distribution_at(&run->distribution, visit);
  /* A rank may be any record; the others name places. */
  if (kind <= SL_PARETO) {
    record = sl_order_at(&run->order, record);
  }
  step->offset = run->range_offset + record * run->record_bytes;
  step->length = step->request = run->record_bytes;
  if (record == records - 1) {
    step->length = run->tail_bytes;
    step->request = run->tail_request;
  }
  if (is_mixed_in_size(run->spec)) draw_size(run, visit, step);
}
