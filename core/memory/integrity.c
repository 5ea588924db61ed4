/* SPDX-License-Identifier: MIT */
#include "core/memory/integrity.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/quantity.h"
#include "core/memory/integrity_private.h"
#include "core/memory/limits.h"

static const int64_t PASS_MAX = INT64_C(1) << 62;

static const char *const names[SL_INTEGRITY_PATTERNS] = {
    "walking",      "inversions", "random", "address",
    "checkerboard", "block_move", "fade"};

const char *sl_integrity_pattern_name(enum sl_integrity_pattern pattern) {
  return names[pattern];
}

static size_t slice_bytes(const struct sl_integrity_spec *spec) {
  const int64_t bytes = spec->bytes / spec->threads;
  return (size_t)(bytes - bytes % (1 << 20));
}

static int check(const struct sl_integrity_spec *spec, struct sl_error *e) {
  const char *hint = NULL;
  if (spec->threads < 1 || spec->threads > SL_CREW_MAX)
    hint = "1 to 256 threads";
  else if (spec->bytes < (int64_t)spec->threads << 20)
    hint = "1 MiB or more for each thread";
  else if (spec->passes < 1 && spec->duration_ns < 1)
    hint = "a number of passes or a duration ends it";
  else if (spec->first_pass < 0 || spec->first_pass > PASS_MAX)
    hint = "the first pass is a number from 0 to 2^62";
  else if (spec->plant_count > SL_INTEGRITY_PLANTS_MAX)
    hint = "16 planted flips at most";
  else if (!sl_pattern_engine(spec->engine[0] ? spec->engine : NULL))
    hint = "this CPU or build has no such engine";
  if (!hint) return 0;
  sl_error_set(e, -EINVAL, "memory test", NULL, -1);
  sl_error_hint(e, "%s", hint);
  return -EINVAL;
}

static int check_room(const struct sl_integrity_spec *spec,
                      struct sl_error *e) {
  struct sl_memory_limits limits;
  int code = sl_memory_limits(NULL, &limits, e);
  if (code == 0) code = sl_arena_fits(spec->bytes, e);
  if (code != 0 || spec->bytes <= limits.room_bytes) return code;
  sl_error_set(e, -ENOMEM, "memory test", NULL, -1);
  sl_error_hint(e,
                "%" PRId64 " MiB are asked for; %" PRId64
                " MiB are free and %" PRId64 " MiB of them stay for others",
                spec->bytes >> 20, limits.free_bytes >> 20,
                limits.reserve_bytes >> 20);
  return -ENOMEM;
}

static void set_up(struct sl_member *m, void *data) {
  struct sl_integrity_work *w = data;
  struct sl_integrity_slice *s = &w->slices[m->index];
  const size_t bytes = slice_bytes(w->spec);
  s->blocks = bytes / SL_PATTERN_BLOCK;
  s->code = sl_arena_map(&s->arena, bytes, w->spec->pages, &s->error);
  if (s->code == 0) s->code = sl_arena_touch(&s->arena, m->stop, &s->error);
  if (s->code == 0 && w->spec->lock && mlock(s->arena.data, bytes) != 0)
    s->lock_error = errno;
}

static void tear_down(struct sl_member *m, void *data) {
  struct sl_integrity_work *w = data;
  sl_arena_unmap(&w->slices[m->index].arena);
}

static void plant(struct sl_integrity_work *w) {
  for (unsigned i = 0; i < w->spec->plant_count; i++) {
    const struct sl_integrity_plant *p = &w->spec->plants[i];
    const int64_t last = (int64_t)w->slices[0].arena.size - 8;
    if (p->pattern != w->pattern || p->offset < 0 || p->offset > last) continue;
    uint64_t word;
    unsigned char *at = w->slices[0].arena.data + p->offset / 8 * 8;
    memcpy(&word, at, sizeof word);
    word ^= p->bits;
    memcpy(at, &word, sizeof word);
  }
}

/* The pause of fade; a cancel interrupts the sleep. */
static int rest(struct sl_integrity_work *w) {
  const int64_t until = sl_deadline_ns(sl_monotonic_ns(), w->spec->fade_ns);
  for (int64_t now; (now = sl_monotonic_ns()) < until;) {
    if (w->job && sl_job_cancelled(w->job)) return -ECANCELED;
    if (w->deadline_ns && now >= w->deadline_ns) return -ETIMEDOUT;
    const int64_t left = until - now < 50000000 ? until - now : 50000000;
    const struct timespec t = {0, (long)left};
    nanosleep(&t, NULL);
  }
  return 0;
}

/* Half of what must stay free is gone: others need it more. */
static bool memory_is_short(void) {
  struct sl_memory_limits limits;
  struct sl_error e;
  return sl_memory_limits(NULL, &limits, &e) == 0 &&
         limits.free_bytes < limits.reserve_bytes / 2;
}

static int do_step(struct sl_integrity_work *w) {
  if (w->step.kind == STEP_PAUSE) return rest(w);
  if (memory_is_short()) return -ENOMEM;
  int code = sl_crew_run(w->crew, w->job, w->deadline_ns, sl_integrity_do, w);
  struct sl_integrity_result *r = w->result;
  r->patterns[w->pattern].ns += sl_crew_elapsed_ns(w->crew);
  for (unsigned i = 0; i < w->spec->threads; i++) {
    r->patterns[w->pattern].verified_bytes += w->slices[i].verified;
    r->patterns[w->pattern].moved_bytes += w->slices[i].moved;
  }
  return code;
}

static int do_pattern(struct sl_integrity_work *w) {
  struct sl_integrity_step steps[SL_INTEGRITY_STEPS_MAX];
  const unsigned count =
      sl_integrity_steps(w->pattern, w->pass, w->spec->seed, steps);
  atomic_store(&w->progress->pattern, names[w->pattern]);
  for (unsigned i = 0; i < count; i++) {
    w->step = steps[i];
    int code = do_step(w);
    if (code != 0) return code;
    if (i == 0) plant(w);
  }
  w->result->patterns[w->pattern].runs++;
  return 0;
}

static int do_passes(struct sl_integrity_work *w) {
  const unsigned wanted = w->spec->patterns ? w->spec->patterns : UINT_MAX;
  int64_t *done = &w->result->passes;
  while (w->spec->passes == 0 || *done < w->spec->passes) {
    w->pass = w->spec->first_pass + *done;
    atomic_store(&w->progress->pass, w->pass);
    for (unsigned p = 0; p < SL_INTEGRITY_PATTERNS; p++) {
      if (!(wanted >> p & 1)) continue;
      w->pattern = (enum sl_integrity_pattern)p;
      int code = do_pattern(w);
      if (code != 0) return code;
    }
    ++*done;
  }
  return 0;
}

static void look_at_slices(struct sl_integrity_work *w) {
  struct sl_integrity_result *r = w->result;
  r->locked = w->spec->lock;
  for (unsigned i = 0; i < w->spec->threads; i++) {
    const struct sl_integrity_slice *s = &w->slices[i];
    const int64_t huge = sl_arena_huge_bytes(&s->arena);
    r->huge_bytes = huge < 0 || r->huge_bytes < 0 ? -1 : r->huge_bytes + huge;
    r->bytes += (int64_t)s->arena.size;
    if (s->lock_error == 0) continue;
    r->locked = false;
    if (r->lock_error == 0) r->lock_error = s->lock_error;
  }
}

static int work(struct sl_integrity_work *w, struct sl_error *e) {
  atomic_store(&w->progress->pattern, "prepare");
  int code = sl_crew_run(w->crew, w->job, w->deadline_ns, set_up, w);
  for (unsigned i = 0; i < w->spec->threads && code == 0; i++) {
    if (w->slices[i].code == 0) continue;
    *e = w->slices[i].error;
    return w->slices[i].code;
  }
  if (code == 0) {
    look_at_slices(w);
    code = do_passes(w);
  }
  /* The end of the time is the end that was asked for. */
  if (code == -ECANCELED) w->result->end = SL_INTEGRITY_CANCELLED;
  if (code == -ENOMEM) w->result->end = SL_INTEGRITY_MEMORY_SHORT;
  return 0;
}

struct sl_integrity_work *sl_integrity_allocate(unsigned threads) {
  const size_t size = sizeof(struct sl_integrity_work) +
                      threads * sizeof(struct sl_integrity_slice);
  void *at;
  if (posix_memalign(&at, _Alignof(struct sl_integrity_work), size) != 0)
    return NULL;
  return memset(at, 0, size);
}

int sl_integrity_run(const struct sl_integrity_spec *spec, struct sl_job *job,
                     struct sl_integrity_progress *progress,
                     struct sl_integrity_result *result, struct sl_error *e) {
  memset(result, 0, sizeof *result);
  int cpus[SL_CREW_MAX];
  int code = check(spec, e);
  if (code == 0)
    code = sl_crew_choose(spec->threads, spec->cpu_count ? spec->cpus : NULL,
                          spec->cpu_count, cpus, e);
  if (code == 0) code = check_room(spec, e);
  if (code != 0) return code;
  for (unsigned i = 0; i < spec->threads && !spec->pin; i++)
    cpus[i] = -1;
  struct sl_integrity_work *w = sl_integrity_allocate(spec->threads);
  if (!w) return sl_error_set(e, -ENOMEM, "memory test", NULL, -1);
  w->spec = spec;
  w->result = result;
  w->progress = progress;
  w->job = job;
  w->engine = sl_pattern_engine(spec->engine[0] ? spec->engine : NULL);
  result->engine = w->engine->name;
  if (spec->duration_ns)
    w->deadline_ns = sl_deadline_ns(sl_monotonic_ns(), spec->duration_ns);
  pthread_mutex_init(&w->lock, NULL);
  code = sl_crew_start(spec->threads, cpus, &w->crew, e);
  if (code == 0) {
    code = work(w, e);
    sl_crew_run(w->crew, NULL, 0, tear_down, w);
    sl_crew_end(w->crew);
  }
  pthread_mutex_destroy(&w->lock);
  free(w);
  return code;
}
