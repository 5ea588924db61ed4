/* SPDX-License-Identifier: MIT */
/* Refuses distributions, size mixes, trims and steady states that make no
 * sense. */
#include <errno.h>
#include <string.h>

#include "core/io/workload_private.h"

typedef unsigned long long ull;

static int check_distribution(const struct sl_workload_spec *spec,
                              struct sl_error *e) {
  if (spec->distribution.kind == SL_UNIFORM) return 0;
  const char *wrong = sl_distribution_check(&spec->distribution);
  if (wrong) return sl_refuse(spec, e, "distribution: %s", wrong);
  if (spec->order != SL_ORDER_RANDOM) {
    return sl_refuse(spec, e,
                     "a distribution draws its records: the order "
                     "must be random");
  }
  /* In one pass it comes back to a record: which write was the last? */
  if (spec->stamp && spec->operation != SL_READ && spec->queue_depth > 1) {
    return sl_refuse(spec, e,
                     "stamps with a distribution need queue_depth 1: "
                     "two writes of one record could overtake each other");
  }
  return 0;
}

/* Of one entry of the mix. */
static int check_size(const struct sl_workload_spec *spec, int i,
                      struct sl_error *e) {
  uint64_t bytes = spec->size_mix[i].record_bytes;
  if (spec->record_bytes % bytes) {
    return sl_refuse(spec, e,
                     "size_mix: %llu does not divide the largest "
                     "size, %llu",
                     (ull)bytes, (ull)spec->record_bytes);
  }
  bool stamps = spec->verify || (spec->stamp && spec->operation != SL_READ);
  if (stamps && bytes % SL_SECTOR_BYTES) {
    return sl_refuse(spec, e,
                     "stamps need whole sectors of %d bytes: size_mix "
                     "has %llu",
                     SL_SECTOR_BYTES, (ull)bytes);
  }
  return 0;
}

static int check_sizes(const struct sl_workload_spec *spec,
                       struct sl_error *e) {
  uint64_t percent = 0, largest = 0;
  int count = 0;
  while (count < SL_SIZE_MIX_MAX && spec->size_mix[count].record_bytes) {
    percent += spec->size_mix[count].percent;
    uint64_t bytes = spec->size_mix[count++].record_bytes;
    if (bytes > largest) largest = bytes;
  }
  if (count == 0) return 0;
  if (percent != 100) {
    return sl_refuse(spec, e, "size_mix: the percents are %llu, not 100",
                     (ull)percent);
  }
  if (largest != spec->record_bytes) {
    return sl_refuse(spec, e,
                     "size_mix: record_bytes is %llu, the largest "
                     "size %llu",
                     (ull)spec->record_bytes, (ull)largest);
  }
  for (int i = 0; i < count; i++) {
    int code = check_size(spec, i, e);
    if (code) return code;
  }
  if (spec->order != SL_ORDER_RANDOM) {
    return sl_refuse(spec, e,
                     "size_mix draws places in the range: the order "
                     "must be random");
  }
  if (spec->vectors > 1 || strcmp(spec->engine->name, "stdio") == 0) {
    return sl_refuse(spec, e,
                     "engine %s moves records of one size: size_mix "
                     "needs another",
                     spec->engine->name);
  }
  return 0;
}

/* In a mixed workload what a read must find follows from earlier visits of
 * whole records, each once in a pass. */
static int check_verify(const struct sl_workload_spec *spec,
                        struct sl_error *e) {
  if (!spec->verify || !sl_spec_is_varied(spec)) return 0;
  if (spec->operation == SL_MIXED) {
    return sl_refuse(spec, e,
                     "a mixed workload with a distribution or a "
                     "size_mix cannot verify: write and read apart");
  }
  return 0;
}

static int check_trim(const struct sl_workload_spec *spec, struct sl_error *e) {
  if (spec->operation < SL_TRIM) return 0;
  const char *engine = spec->engine->name;
  if (strcmp(engine, "psync") != 0 && strcmp(engine, "null") != 0) {
    return sl_refuse(spec, e, "engine %s does not trim: psync does", engine);
  }
  if (spec->stamp && spec->operation == SL_TRIM) {
    return sl_refuse(spec, e, "a trim writes no stamps");
  }
  if (spec->target.create || spec->target.truncate) {
    return sl_refuse(spec, e,
                     "a trim needs a target that is there: it neither "
                     "creates nor truncates");
  }
  if (spec->verify && spec->continue_on_error) {
    return sl_refuse(spec, e,
                     "verify with continue_on_error: after a failed "
                     "trim nobody knows what a read should find");
  }
  return 0;
}

static int check_steady(const struct sl_workload_spec *spec,
                        struct sl_error *e) {
  const struct sl_steady_spec *steady = &spec->steady;
  if (steady->window_ns == 0) return 0;
  int64_t interval_ns =
      spec->interval_ns ? spec->interval_ns : INT64_C(1000000000);
  if (steady->window_ns < 0 ||
      steady->window_ns / interval_ns < SL_STEADY_POINTS_MIN ||
      steady->window_ns / interval_ns > SL_SERIES_POINTS / 2) {
    return sl_refuse(spec, e,
                     "steady: the window must have from %d to %d "
                     "intervals of the series",
                     SL_STEADY_POINTS_MIN, SL_SERIES_POINTS / 2);
  }
  if (steady->percent < 1 || steady->percent > 100) {
    return sl_refuse(spec, e, "steady: percent must be from 1 to 100");
  }
  if (!spec->limit_ns && !spec->limit_records && !spec->limit_bytes) {
    return sl_refuse(spec, e, "steady needs a limit: it may never come");
  }
  return 0;
}

int sl_spec_check_varied(const struct sl_workload_spec *spec,
                         struct sl_error *e) {
  int code = check_distribution(spec, e);
  if (!code) code = check_sizes(spec, e);
  if (!code) code = check_verify(spec, e);
  if (!code) code = check_trim(spec, e);
  if (!code) code = check_steady(spec, e);
  return code;
}
