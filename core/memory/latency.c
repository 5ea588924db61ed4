/* SPDX-License-Identifier: MIT */
#include "core/memory/latency.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/quantity.h"
#include "core/memory/limits.h"

enum { STEP = 4096 }; /* loads between two looks at the stop flag */

struct walk {
  const struct sl_latency_spec *spec;
  struct sl_arena arena;
  void **at;
  int64_t loads;
  bool verified;
  int code;
  struct sl_error error;
};

static uint64_t next_random(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static void **line(const struct walk *w, size_t index) {
  return (void **)(void *)(w->arena.data + index * SL_LATENCY_LINE);
}

/* Below `bound`, from the upper half of the product: no division. */
static size_t below(uint64_t *state, size_t bound) {
  return (size_t)(((next_random(state) >> 32) * (uint64_t)bound) >> 32);
}

static bool stopped(const struct sl_member *m) {
  return atomic_load_explicit(m->stop, memory_order_relaxed);
}

/* Sattolo's algorithm: one cycle through all lines of a block. */
static void link_block(struct walk *w, const struct sl_member *m, size_t first,
                       size_t count, uint64_t *state) {
  for (size_t i = 0; i < count; i++) {
    if (i % STEP == 0 && stopped(m)) return;
    *line(w, first + i) = line(w, first + i);
  }
  for (size_t i = count; i-- > 1;) {
    if (i % STEP == 0 && stopped(m)) return;
    const size_t other = below(state, i);
    void *swap = *line(w, first + i);
    *line(w, first + i) = *line(w, first + other);
    *line(w, first + other) = swap;
  }
}

/* The cycles of the blocks become one: the line that leads to the first of its
 * block leads to the first of the next block instead. */
static void join_blocks(struct walk *w, const struct sl_member *m, size_t count,
                        size_t block) {
  const size_t blocks = count / block;
  for (size_t b = 0; b < blocks && blocks > 1; b++) {
    void **first = line(w, b * block), **last = first;
    while (*last != (void *)first && !stopped(m))
      last = *last;
    *last = line(w, (b + 1) % blocks * block);
  }
}

static void set_up(struct sl_member *m, void *data) {
  struct walk *w = data;
  const size_t bytes = (size_t)w->spec->bytes;
  w->code = sl_arena_map(&w->arena, bytes, w->spec->pages, &w->error);
  if (w->code == 0) w->code = sl_arena_touch(&w->arena, m->stop, &w->error);
  if (w->code != 0) return;
  const size_t count = bytes / SL_LATENCY_LINE;
  const size_t block = w->spec->locality_bytes
                           ? (size_t)w->spec->locality_bytes / SL_LATENCY_LINE
                           : count;
  uint64_t state = w->spec->seed;
  for (size_t first = 0; first < count; first += block) {
    link_block(w, m, first, block, &state);
    if (stopped(m)) return;
  }
  join_blocks(w, m, count, block);
  w->at = line(w, 0);
  size_t visited = 0;
  do {
    w->at = *w->at;
    visited++;
  } while (w->at != line(w, 0) && visited <= count && !stopped(m));
  w->verified = visited == count;
}

static void chase(struct sl_member *m, void *data) {
  struct walk *w = data;
  void **at = w->at;
  for (int64_t done = 0; done < w->loads; done += STEP) {
    if (stopped(m)) break;
    for (int i = 0; i < STEP; i += 8) {
      at = *at, at = *at, at = *at, at = *at;
      at = *at, at = *at, at = *at, at = *at;
    }
    __asm__ volatile("" : "+r"(at) : : "memory");
  }
  w->at = at;
}

static int check(const struct sl_latency_spec *spec, struct sl_error *e) {
  const char *hint = NULL;
  if (spec->bytes < 4096 || spec->bytes % 4096 != 0 ||
      spec->bytes / SL_LATENCY_LINE > UINT32_MAX)
    hint = "the working set is a multiple of 4096 bytes, at least 4096";
  else if (spec->locality_bytes < 0 || spec->locality_bytes % 4096 != 0 ||
           (spec->locality_bytes && spec->bytes % spec->locality_bytes != 0))
    hint = "the locality is a multiple of 4096 that divides the working set";
  else if (spec->samples < 1 || spec->samples > SL_LATENCY_SAMPLES_MAX ||
           spec->sample_ns < 1)
    hint = "1 to 100 samples of more than 0 ns";
  struct sl_memory_limits limits;
  if (!hint) {
    int code = sl_memory_limits(NULL, &limits, e);
    if (code == 0) code = sl_arena_fits(spec->bytes, e);
    if (code != 0 || spec->bytes <= limits.room_bytes) return code;
    sl_error_set(e, -ENOMEM, "memory", NULL, -1);
    sl_error_hint(e,
                  "%" PRId64 " MiB are needed and %" PRId64 " MiB may be taken",
                  spec->bytes >> 20, limits.room_bytes >> 20);
    return -ENOMEM;
  }
  sl_error_set(e, -EINVAL, "latency", NULL, -1);
  sl_error_hint(e, "%s", hint);
  return -EINVAL;
}

static int measure(struct walk *w, struct sl_crew *crew, struct sl_job *job,
                   struct sl_latency_result *r) {
  const int64_t deadline =
      w->spec->limit_ns ? sl_deadline_ns(sl_monotonic_ns(), w->spec->limit_ns)
                        : 0;
  int code = sl_crew_run(crew, job, deadline, set_up, w);
  if (code != 0 || w->code != 0) return code;
  r->huge_bytes = sl_arena_huge_bytes(&w->arena);
  r->arena_bytes = (int64_t)w->arena.mapped;
  r->verified = w->verified;
  w->loads = STEP;
  while (r->sample_count < w->spec->samples) {
    code = sl_crew_run(crew, job, deadline, chase, w);
    if (code != 0) return code;
    const int64_t ns = sl_crew_elapsed_ns(crew);
    if (ns < w->spec->sample_ns) {
      const double factor = 1.1 * (double)w->spec->sample_ns / (double)(ns + 1);
      w->loads = STEP * (1 + (int64_t)((double)(w->loads / STEP) *
                                       (factor < 100 ? factor : 100)));
      continue;
    }
    /* As in bandwidth: one that lost its CPU is taken again. */
    if (sl_crew_member(crew, 0)->off_cpu_ns > ns / 100 &&
        r->retaken < w->spec->samples) {
      r->retaken++;
      continue;
    }
    r->samples[r->sample_count].ns = ns;
    r->samples[r->sample_count++].loads = w->loads;
    r->faults += sl_crew_member(crew, 0)->faults;
  }
  r->complete = true;
  return 0;
}

int sl_latency_run(const struct sl_latency_spec *spec, struct sl_job *job,
                   struct sl_latency_result *result, struct sl_error *e) {
  memset(result, 0, sizeof *result);
  int code = check(spec, e), cpu = spec->cpu;
  if (code == 0)
    code = sl_crew_choose(1, cpu >= 0 ? &spec->cpu : NULL, 1, &cpu, e);
  struct sl_crew *crew;
  if (code == 0) code = sl_crew_start(1, &cpu, &crew, e);
  if (code != 0) return code;
  struct walk w = {.spec = spec};
  code = measure(&w, crew, job, result);
  result->timed_out = code == -ETIMEDOUT;
  sl_crew_end(crew);
  sl_arena_unmap(&w.arena);
  if (w.code != 0 && w.code != -ECANCELED) {
    *e = w.error;
    return w.code;
  }
  return 0;
}
