/* SPDX-License-Identifier: MIT */
#include "core/memory/bandwidth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/quantity.h"
#include "core/memory/bandwidth_private.h"
#include "core/memory/limits.h"

int64_t sl_bandwidth_memory_bytes(const struct sl_bandwidth_spec *spec) {
  if (spec->buffer_bytes > INT64_MAX / 4 / SL_CREW_MAX) return INT64_MAX;
  return spec->threads * sl_buffers_arena_bytes(spec->buffer_bytes, spec->op);
}

static int invalid(struct sl_error *e, const char *op, const char *hint) {
  sl_error_set(e, -EINVAL, op, NULL, -1);
  sl_error_hint(e, "%s", hint);
  return -EINVAL;
}

int sl_bandwidth_check(const struct sl_bandwidth_spec *spec,
                       struct sl_error *e) {
  if (spec->buffer_bytes < SL_KERNEL_GRANULE ||
      spec->buffer_bytes % SL_KERNEL_GRANULE != 0)
    return invalid(e, "buffer",
                   "its size is a multiple of 4096 bytes, "
                   "at least 4096");
  if (spec->threads < 1 || spec->threads > SL_CREW_MAX)
    return invalid(e, "threads", "1 to 256 of them");
  if (spec->samples < 1 || spec->samples > SL_BANDWIDTH_SAMPLES_MAX)
    return invalid(e, "samples", "1 to 1000 of them");
  if (spec->sample_ns < 1 || spec->limit_ns < 0)
    return invalid(e, "time", "must be more than 0");
  const struct sl_kernel *list[SL_KERNELS_MAX];
  size_t count = sl_kernels(list, SL_KERNELS_MAX, spec->op);
  for (size_t i = 0; i < count; i++) {
    if (!spec->kernel[0] || strcmp(spec->kernel, list[i]->name) == 0) return 0;
  }
  return invalid(e, sl_memory_op_facts(spec->op)->name,
                 spec->kernel[0] ? "this CPU or build has no such kernel of it"
                                 : "this CPU has no instruction for it");
}

static void set_up(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  struct sl_buffers *b = &run->buffers[m->index];
  b->bytes = (size_t)run->spec->buffer_bytes;
  const int64_t bytes =
      sl_buffers_arena_bytes(run->spec->buffer_bytes, run->spec->op);
  b->code = sl_arena_map(&b->arena, (size_t)bytes, run->spec->pages, &b->error);
  if (b->code == 0) b->code = sl_arena_touch(&b->arena, m->stop, &b->error);
  if (b->code == 0)
    b->code = sl_buffers_fill(b, run->spec->op, m->index, m->stop);
}

static void tear_down(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  sl_buffers_release(&run->buffers[m->index]);
}

/* Where the memory lies, of a few pages of each thread. */
static void look_where(struct sl_bandwidth_work *run) {
  struct sl_bandwidth_result *r = run->result;
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  r->huge_bytes = 0;
  for (unsigned i = 0; i < run->spec->threads; i++) {
    const struct sl_arena *arena = &run->buffers[i].arena;
    const int64_t huge = sl_arena_huge_bytes(arena);
    r->huge_bytes = huge < 0 || r->huge_bytes < 0 ? -1 : r->huge_bytes + huge;
    r->arena_bytes += (int64_t)arena->mapped;
    for (size_t k = 0; k < 64; k++) {
      const uint64_t at =
          page * sl_physical_frame(arena->data + arena->mapped / 64 * k);
      if (at == 0) continue;
      if (r->physical_min == 0 || at < r->physical_min) r->physical_min = at;
      if (at + page > r->physical_max) r->physical_max = at + page;
    }
  }
  void *first = run->buffers[0].arena.data;
  int status = -1;
  r->node = syscall(SYS_move_pages, 0, 1UL, &first, NULL, &status, 0) == 0
                ? status
                : -1;
}

static int work(struct sl_bandwidth_work *run, struct sl_error *e) {
  sl_bandwidth_phase(run, "fill");
  int code = sl_crew_run(run->crew, run->job, run->deadline_ns, set_up, run);
  for (unsigned i = 0; i < run->spec->threads && code == 0; i++) {
    if (run->buffers[i].code == 0) continue;
    *e = run->buffers[i].error;
    return run->buffers[i].code;
  }
  if (code == 0) look_where(run);
  if (code == 0) code = sl_bandwidth_choose(run);
  if (code == 0) code = sl_bandwidth_measure(run);
  if (code == -ECANCELED) run->result->end = SL_BANDWIDTH_CANCELLED;
  if (code == -ETIMEDOUT) run->result->end = SL_BANDWIDTH_TIME_LIMIT;
  return 0;
}

static int check_room(const struct sl_bandwidth_spec *spec,
                      struct sl_error *e) {
  struct sl_memory_limits limits;
  int code = sl_memory_limits(NULL, &limits, e);
  const int64_t wanted = sl_bandwidth_memory_bytes(spec);
  if (code == 0) code = sl_arena_fits(wanted, e);
  if (code != 0 || wanted <= limits.room_bytes) return code;
  char a[32], b[32], c[32];
  sl_error_set(e, -ENOMEM, "memory", NULL, -1);
  sl_error_hint(e, "%s are needed; %s are free%s%s and %s of them stay free",
                sl_size_text(wanted, a, sizeof a),
                sl_size_text(limits.free_bytes, b, sizeof b),
                limits.cgroup_limit_bytes >= 0 ? " in cgroup " : "",
                limits.cgroup_limit_bytes >= 0 ? limits.cgroup : "",
                sl_size_text(limits.reserve_bytes, c, sizeof c));
  return -ENOMEM;
}

int sl_bandwidth_run(const struct sl_bandwidth_spec *spec, struct sl_job *job,
                     struct sl_bandwidth_progress *progress,
                     struct sl_bandwidth_result *result, struct sl_error *e) {
  memset(result, 0, sizeof *result);
  result->verified = true;
  result->node = -1;
  result->huge_bytes = -1;
  int code = sl_bandwidth_check(spec, e);
  if (code == 0)
    code = sl_crew_choose(spec->threads, spec->cpu_count ? spec->cpus : NULL,
                          spec->cpu_count, result->cpus, e);
  if (code == 0) code = check_room(spec, e);
  if (code != 0) return code;
  if (!spec->pin)
    for (unsigned i = 0; i < spec->threads; i++)
      result->cpus[i] = -1;
  struct sl_bandwidth_work *run =
      calloc(1, sizeof *run + spec->threads * sizeof run->buffers[0]);
  if (!run) return sl_error_set(e, -ENOMEM, "memory", NULL, -1);
  run->spec = spec;
  run->result = result;
  run->progress = progress;
  run->job = job;
  if (spec->limit_ns)
    run->deadline_ns = sl_deadline_ns(sl_monotonic_ns(), spec->limit_ns);
  code = sl_crew_start(spec->threads, result->cpus, &run->crew, e);
  if (code == 0) {
    code = work(run, e);
    sl_crew_run(run->crew, NULL, 0, tear_down, run);
    sl_crew_end(run->crew);
  }
  free(run);
  return code;
}
