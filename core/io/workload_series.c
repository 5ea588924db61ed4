/* SPDX-License-Identifier: MIT */
/* The course of a workload over time.  Its points are filled by the loops; of
 * single directions it is told by the counters, of which a point is what they
 * have grown by. */
#include <stdlib.h>
#include <string.h>

#include "core/io/workload_private.h"

int sl_run_series_init(struct sl_run *run, struct sl_error *e) {
  if (!run->spec->series_directions) return 0;
  run->result->series_parts =
      calloc(SL_SERIES_POINTS, sizeof(*run->result->series_parts));
  if (run->result->series_parts) return 0;
  return sl_error_set(e, -ENOMEM, "workload", run->spec->target.path, -1);
}

void sl_run_series_begin(struct sl_run *run, int64_t now_ns) {
  struct sl_workload_result *result = run->result;
  memset(result->series, 0, sizeof(result->series));
  if (result->series_parts) {
    memset(result->series_parts, 0,
           SL_SERIES_POINTS * sizeof(*result->series_parts));
  }
  memset(run->parts_told, 0, sizeof(run->parts_told));
  result->series_interval_ns =
      run->spec->interval_ns ? run->spec->interval_ns : INT64_C(1000000000);
  memset(&run->point, 0, sizeof(run->point));
  run->point_index = 0;
  run->point_end_ns = now_ns + result->series_interval_ns;
}

static void add_part(struct sl_series_part *to, struct sl_series_part more) {
  to->bytes += more.bytes;
  to->operations += more.operations;
  to->latency_ns += more.latency_ns;
}

static void halve_parts(struct sl_series_parts *p) {
  const unsigned half = SL_SERIES_POINTS / 2;
  for (unsigned i = 0; i < half; i++) {
    struct sl_series_parts both = p[2 * i];
    for (int op = 0; op < 3; op++)
      add_part(&both.of[op], p[2 * i + 1].of[op]);
    p[i] = both;
  }
  memset(p + half, 0, half * sizeof(*p));
}

/* Joins neighbours: half the points, twice the interval. */
static void halve(struct sl_workload_result *result) {
  struct sl_series_point *p = result->series;
  const unsigned half = SL_SERIES_POINTS / 2;
  for (unsigned i = 0; i < half; i++) {
    struct sl_series_point a = p[2 * i], b = p[2 * i + 1];
    p[i].bytes = a.bytes + b.bytes;
    p[i].operations = a.operations + b.operations;
    p[i].max_ns = a.max_ns > b.max_ns ? a.max_ns : b.max_ns;
  }
  memset(p + half, 0, half * sizeof(*p));
  if (result->series_parts) halve_parts(result->series_parts);
  result->series_interval_ns *= 2;
}

static void put_parts_away(struct sl_run *run) {
  struct sl_series_parts *to = &run->result->series_parts[run->point_index];
  for (int op = 0; op < 3; op++) {
    const struct sl_tally *tally = run->tally[op];
    struct sl_series_part *told = &run->parts_told[op];
    struct sl_series_part now = {tally->bytes, tally->latency.count,
                                 tally->latency.sum_ns};
    add_part(&to->of[op],
             (struct sl_series_part){now.bytes - told->bytes,
                                     now.operations - told->operations,
                                     now.latency_ns - told->latency_ns});
    *told = now;
  }
}

static void put_away(struct sl_run *run) {
  struct sl_series_point *to = &run->result->series[run->point_index];
  to->bytes += run->point.bytes;
  to->operations += run->point.operations;
  if (run->point.max_ns > to->max_ns) to->max_ns = run->point.max_ns;
  memset(&run->point, 0, sizeof(run->point));
  if (run->result->series_parts) put_parts_away(run);
}

/* Looks at the whole intervals before this one. */
static void look_whether_steady(struct sl_run *run) {
  struct sl_workload_result *result = run->result;
  const struct sl_steady_spec *spec = &run->spec->steady;
  int64_t interval_ns = result->series_interval_ns;
  unsigned count = (unsigned)(spec->window_ns / interval_ns);
  if (count < SL_STEADY_POINTS_MIN) count = SL_STEADY_POINTS_MIN;
  if (run->point_index < count || run->ramp_end_ns) return;
  const struct sl_series_point *end = result->series + run->point_index;
  sl_steady_judge(end - count, count, spec->percent, &result->steady);
  result->steady.at_ns = run->point_index * interval_ns;
  result->steady.window_ns = count * interval_ns;
  if (result->steady.is_reached) sl_run_end(run, SL_END_COMPLETE);
}

void sl_run_series_roll(struct sl_run *run, int64_t now_ns) {
  struct sl_workload_result *result = run->result;
  int64_t since_ns = now_ns - run->started_ns;
  put_away(run);
  while (since_ns / result->series_interval_ns >= SL_SERIES_POINTS) {
    halve(result);
  }
  int64_t index = since_ns / result->series_interval_ns;
  run->point_index = (unsigned)index;
  run->point_end_ns =
      run->started_ns + (index + 1) * result->series_interval_ns;
  if (run->spec->steady.window_ns && run->going) look_whether_steady(run);
}

void sl_run_series_end(struct sl_run *run) {
  if (!run->point.operations) return; /* nothing moved at all */
  put_away(run);
  run->result->series_count = run->point_index + 1;
}
