/* SPDX-License-Identifier: MIT */
/* The timed part, and the choice of the kernel. */
#include <errno.h>
#include <string.h>

#include "core/memory/bandwidth_private.h"

/* The stop flag is read after each of these: 80 ms at 200 MB/s. */
enum { CHUNK = 16 << 20, TRIALS = 3 };

static bool reads_only(enum sl_memory_op op) {
  return sl_memory_op_facts(op)->writes == 0;
}

/* --- on the members' threads --- */

static void poison(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  sl_buffers_poison(&run->buffers[m->index]);
}

static void verify(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  sl_buffers_verify(&run->buffers[m->index], run->spec->op, run->value,
                    m->stop);
}

/* The timed part.  Small buffers are passed over many times in one call, large
 * ones in several calls. */
static void sample(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  struct sl_buffers *b = &run->buffers[m->index];
  const size_t chunk = b->bytes < CHUNK ? b->bytes : CHUNK;
  struct sl_kernel_work work = {
      b->dst, b->a, b->b, chunk, CHUNK / chunk, run->value};
  b->sum = 0;
  b->passes = 0;
  while (b->passes < run->passes) {
    const int64_t left = run->passes - b->passes;
    if (left < (int64_t)work.repeats) work.repeats = (size_t)left;
    for (size_t at = 0; at < b->bytes; at += chunk) {
      if (atomic_load_explicit(m->stop, memory_order_relaxed)) return;
      work.dst = b->dst + at;
      work.a = b->a + at;
      work.b = b->b + at;
      work.bytes = b->bytes - at < chunk ? b->bytes - at : chunk;
      b->sum += run->kernel->run(&work);
    }
    b->passes += (int64_t)work.repeats;
  }
}

/* --- on the job's thread --- */

static int crew_run(struct sl_bandwidth_work *run,
                    void (*task)(struct sl_member *m, void *data)) {
  return sl_crew_run(run->crew, run->job, run->deadline_ns, task, run);
}

static void note_wrong(struct sl_bandwidth_work *run, unsigned thread, int64_t offset,
                       uint64_t expected, uint64_t found) {
  struct sl_bandwidth_result *r = run->result;
  if (!r->verified) return;
  r->verified = false;
  r->wrong.kernel = run->kernel->name;
  r->wrong.thread = thread;
  r->wrong.offset = offset;
  r->wrong.expected = expected;
  r->wrong.found = found;
}

static void check_sums(struct sl_bandwidth_work *run) {
  for (unsigned i = 0; i < run->spec->threads; i++) {
    const struct sl_buffers *b = &run->buffers[i];
    uint64_t expected = sl_buffers_read_sum(b, run->spec->op) *
                        (uint64_t)run->passes;
    uint64_t found = b->sum;
    if (run->spec->op != SL_MEMORY_READ) {
      expected &= 0xffffffff;
      found &= 0xffffffff;
    }
    if (expected != found) note_wrong(run, i, -1, expected, found);
  }
}

static int take_sample(struct sl_bandwidth_work *run, struct sl_bandwidth_sample *s) {
  int code = crew_run(run, sample);
  if (code != 0) return code;
  s->ns = sl_crew_elapsed_ns(run->crew);
  s->bytes = run->spec->buffer_bytes * run->passes * run->spec->threads;
  atomic_fetch_add_explicit(&run->progress->bytes, s->bytes,
                            memory_order_relaxed);
  if (reads_only(run->spec->op)) check_sums(run);
  return 0;
}

static int verify_all(struct sl_bandwidth_work *run) {
  if (reads_only(run->spec->op)) return 0;
  int code = crew_run(run, verify);
  if (code != 0) return code;
  for (unsigned i = 0; i < run->spec->threads; i++) {
    const struct sl_buffers *b = &run->buffers[i];
    if (b->wrong_at >= 0)
      note_wrong(run, i, b->wrong_at, b->expected, b->found);
  }
  return 0;
}

static bool is_faster(const struct sl_bandwidth_sample *a,
                      const struct sl_bandwidth_sample *b) {
  return b->ns == 0 ||
         (double)a->bytes / (double)a->ns > (double)b->bytes / (double)b->ns;
}

/* How many passes make one sample, from one that was too short. */
static int64_t enough_passes(const struct sl_bandwidth_work *run,
                             const struct sl_bandwidth_sample *s) {
  if (s->ns >= run->spec->sample_ns) return run->passes;
  const double factor =
      1.05 * (double)run->spec->sample_ns / (double)(s->ns > 0 ? s->ns : 1);
  return 1 + (int64_t)((double)run->passes * (factor < 100 ? factor : 100));
}

void sl_bandwidth_phase(struct sl_bandwidth_work *run, const char *name) {
  atomic_store_explicit(&run->progress->phase, name, memory_order_relaxed);
}

/* Lengthens the sample until it is long enough. */
static int calibrate(struct sl_bandwidth_work *run,
                     struct sl_bandwidth_sample *s) {
  run->passes = 1;
  for (;;) {
    int code = take_sample(run, s);
    if (code != 0) return code;
    const int64_t passes = enough_passes(run, s);
    if (passes == run->passes) return 0;
    run->passes = passes;
  }
}

/* The first trial of a kernel also finds how long it takes and whether it is
 * right. */
static int first_trial(struct sl_bandwidth_work *run,
                       struct sl_bandwidth_sample *s) {
  run->value += 0x9e3779b97f4a7c15u;
  int code = 0;
  if (!reads_only(run->spec->op)) code = crew_run(run, poison);
  if (code == 0) code = calibrate(run, s);
  return code == 0 ? verify_all(run) : code;
}

static size_t list_kernels(const struct sl_bandwidth_spec *spec,
                           const struct sl_kernel **list) {
  const size_t count = sl_kernels(list, SL_KERNELS_MAX, spec->op);
  for (size_t i = 0; i < count && spec->kernel[0]; i++) {
    if (strcmp(spec->kernel, list[i]->name) != 0) continue;
    list[0] = list[i];
    return 1;
  }
  return count;
}

/* The trials go round and round, so that what else the machine does hits all
 * kernels alike; the best of each counts. */
int sl_bandwidth_choose(struct sl_bandwidth_work *run) {
  struct sl_bandwidth_result *r = run->result;
  const struct sl_kernel *list[SL_KERNELS_MAX];
  int64_t passes[SL_KERNELS_MAX];
  const size_t count = list_kernels(run->spec, list);
  const struct sl_kernel *winner = NULL;
  struct sl_bandwidth_sample fastest = {0};
  sl_bandwidth_phase(run, "choose");
  for (size_t i = 0; i < TRIALS * count; i++) {
    const size_t k = i % count;
    struct sl_bandwidth_sample s = {0};
    run->kernel = list[k];
    if (i >= count) run->passes = passes[k];
    int code = i < count ? first_trial(run, &s) : take_sample(run, &s);
    if (code != 0) return code;
    passes[k] = run->passes;
    r->tried[k].name = list[k]->name;
    if (is_faster(&s, &r->tried[k].best)) r->tried[k].best = s;
    if (i < count) r->tried_count++;
    if (is_faster(&s, &fastest)) {
      winner = list[k];
      fastest = s;
    }
  }
  run->kernel = r->kernel = winner;
  return 0;
}

int sl_bandwidth_measure(struct sl_bandwidth_work *run) {
  struct sl_bandwidth_result *r = run->result;
  struct sl_bandwidth_sample first = {0};
  int code = calibrate(run, &first);
  if (code != 0) return code;
  sl_bandwidth_phase(run, "measure");
  while (r->sample_count < run->spec->samples) {
    code = take_sample(run, &r->samples[r->sample_count]);
    if (code != 0) return code;
    r->sample_count++;
    for (unsigned i = 0; i < run->spec->threads; i++) {
      const struct sl_member *m = sl_crew_member(run->crew, i);
      r->faults += m->faults;
      r->switches += m->switches;
    }
  }
  code = verify_all(run);
  const struct sl_buffers *b = &run->buffers[0];
  r->checksum = reads_only(run->spec->op)
                    ? sl_buffers_read_sum(b, run->spec->op)
                    : sl_buffers_checksum(b);
  return code;
}
