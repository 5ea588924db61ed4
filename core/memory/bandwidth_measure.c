/* SPDX-License-Identifier: MIT */
/* The timed part, and the choice of the kernel. */
#include <errno.h>
#include <string.h>

#include "core/memory/bandwidth_private.h"

enum {
  TRIALS = 3,
  CALL_BYTES = 16 << 20 /* of small buffers, in one call of a kernel */
};

static bool reads_only(enum sl_memory_op op) {
  return sl_memory_op_facts(op)->writes == 0;
}

/* --- on the members' threads --- */

static bool stopped(const struct sl_member *m) {
  return atomic_load_explicit(m->stop, memory_order_relaxed);
}

static void poison(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  struct sl_buffers *b = &run->buffers[m->index];
  for (size_t i = 0; i < b->chunks && !stopped(m); i++)
    sl_buffers_poison(b, i, run->poison_step);
}

/* All chunks that were worked on since dst was poisoned. */
static void verify(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  struct sl_buffers *b = &run->buffers[m->index];
  const size_t count =
      run->reached < (int64_t)b->chunks ? (size_t)run->reached : b->chunks;
  b->wrong_at = -1;
  for (size_t i = 0; i < count && b->wrong_at < 0 && !stopped(m); i++)
    sl_buffers_verify(b, run->spec->op, run->value,
                      (run->poisoned + i) % b->chunks);
}

static void checksum(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  if (m->index == 0)
    run->result->checksum = sl_buffers_checksum(&run->buffers[0], m->stop);
}

/* The timed part.  Small buffers are passed over many times in one call. */
static void sample(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  struct sl_buffers *b = &run->buffers[m->index];
  size_t chunk = run->first;
  b->sum = b->expected_sum = 0;
  b->done_bytes = 0;
  struct sl_kernel_work work = {.value = run->value, .repeats = 1};
  for (int64_t left = run->visits; left > 0; left -= (int64_t)work.repeats) {
    if (stopped(m)) return;
    const size_t at = chunk * b->chunk;
    work.dst = b->dst + at;
    work.a = b->a + at;
    work.b = b->b + at;
    work.bytes = b->bytes - at < b->chunk ? b->bytes - at : b->chunk;
    if (b->chunks == 1) work.repeats = CALL_BYTES / b->chunk;
    if (left < (int64_t)work.repeats) work.repeats = (size_t)left;
    b->sum += run->kernel->run(&work);
    b->expected_sum += b->sums[chunk] * work.repeats;
    b->done_bytes += (int64_t)(work.bytes * work.repeats);
    chunk = chunk + 1 < b->chunks ? chunk + 1 : 0;
  }
}

/* --- on the job's thread --- */

static int crew_run(struct sl_bandwidth_work *run,
                    void (*task)(struct sl_member *m, void *data)) {
  return sl_crew_run(run->crew, run->job, run->deadline_ns, task, run);
}

static void note_wrong(struct sl_bandwidth_work *run, unsigned thread,
                       int64_t offset, uint64_t expected, uint64_t found) {
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
  const uint64_t mask =
      run->spec->op == SL_MEMORY_READ ? UINT64_MAX : UINT32_MAX;
  for (unsigned i = 0; i < run->spec->threads; i++) {
    const struct sl_buffers *b = &run->buffers[i];
    if (((b->sum ^ b->expected_sum) & mask) != 0)
      note_wrong(run, i, -1, b->expected_sum & mask, b->sum & mask);
  }
}

/* What lies in dst does not pass for what the samples to come write.  Every
 * word before they are measured; for the trials, of which there are many, one
 * in each page. */
static int poison_all(struct sl_bandwidth_work *run, size_t step) {
  run->value += 0x9e3779b97f4a7c15u;
  run->poison_step = step;
  run->poisoned = run->first;
  run->gone = run->reached = 0;
  return reads_only(run->spec->op) ? 0 : crew_run(run, poison);
}

static int take_sample(struct sl_bandwidth_work *run,
                       struct sl_bandwidth_sample *s) {
  int code = crew_run(run, sample);
  if (code != 0) return code;
  s->ns = sl_crew_elapsed_ns(run->crew);
  s->bytes = 0;
  for (unsigned i = 0; i < run->spec->threads; i++)
    s->bytes += run->buffers[i].done_bytes;
  atomic_fetch_add_explicit(&run->progress->bytes, s->bytes,
                            memory_order_relaxed);
  if (run->reached < run->gone + run->visits)
    run->reached = run->gone + run->visits;
  if (reads_only(run->spec->op)) check_sums(run);
  return 0;
}

static void go_on(struct sl_bandwidth_work *run) {
  run->first = (run->first + (size_t)run->visits) % run->buffers[0].chunks;
  run->gone += run->visits;
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

/* How many visits make one sample, from one that was too short. */
static int64_t enough_visits(const struct sl_bandwidth_work *run,
                             const struct sl_bandwidth_sample *s) {
  if (s->ns >= run->spec->sample_ns) return run->visits;
  const double factor =
      1.05 * (double)run->spec->sample_ns / (double)(s->ns > 0 ? s->ns : 1);
  return 1 + (int64_t)((double)run->visits * (factor < 100 ? factor : 100));
}

void sl_bandwidth_phase(struct sl_bandwidth_work *run, const char *name) {
  atomic_store_explicit(&run->progress->phase, name, memory_order_relaxed);
}

/* Lengthens the sample until it is long enough. */
static int calibrate(struct sl_bandwidth_work *run,
                     struct sl_bandwidth_sample *s) {
  run->visits = 1;
  for (;;) {
    int code = take_sample(run, s);
    if (code != 0) return code;
    const int64_t visits = enough_visits(run, s);
    if (visits == run->visits) return 0;
    go_on(run);
    run->visits = visits;
  }
}

/* The first trial of a kernel also finds how long it takes and whether it is
 * right. */
static int first_trial(struct sl_bandwidth_work *run,
                       struct sl_bandwidth_sample *s) {
  int code = poison_all(run, SL_KERNEL_GRANULE);
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
  int64_t visits[SL_KERNELS_MAX];
  const size_t count = list_kernels(run->spec, list);
  const struct sl_kernel *winner = NULL;
  struct sl_bandwidth_sample fastest = {0};
  sl_bandwidth_phase(run, "choose");
  for (size_t i = 0; i < TRIALS * count; i++) {
    const size_t k = i % count;
    struct sl_bandwidth_sample s = {0};
    run->kernel = list[k];
    if (i >= count) run->visits = visits[k];
    int code = i < count ? first_trial(run, &s) : take_sample(run, &s);
    if (code != 0) return code;
    visits[k] = run->visits;
    go_on(run);
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

/* A sample that lost a hundredth of its time to others on its CPUs measured
 * them too.  It is taken again, though not for ever: a busy machine has no
 * better ones. */
static bool keep_sample(struct sl_bandwidth_work *run) {
  struct sl_bandwidth_result *r = run->result;
  const int64_t most_ns = r->samples[r->sample_count].ns / 100;
  int64_t switches = 0;
  bool lost = false;
  for (unsigned i = 0; i < run->spec->threads; i++) {
    const struct sl_member *m = sl_crew_member(run->crew, i);
    r->faults += m->faults;
    switches += m->switches;
    lost |= m->off_cpu_ns > most_ns;
  }
  if (lost && r->retaken < run->spec->samples) {
    r->retaken++;
    return false;
  }
  r->switches += switches;
  return true;
}

int sl_bandwidth_measure(struct sl_bandwidth_work *run) {
  struct sl_bandwidth_result *r = run->result;
  struct sl_bandwidth_sample first = {0};
  int code = poison_all(run, sizeof(uint64_t));
  if (code == 0) code = calibrate(run, &first);
  if (code != 0) return code;
  sl_bandwidth_phase(run, "measure");
  for (;;) {
    code = take_sample(run, &r->samples[r->sample_count]);
    if (code != 0) return code;
    if (keep_sample(run)) r->sample_count++;
    if (r->sample_count == run->spec->samples) break;
    go_on(run);
  }
  code = verify_all(run);
  if (reads_only(run->spec->op))
    r->checksum = run->buffers[0].sums[0];
  else if (code == 0)
    code = crew_run(run, checksum);
  return code;
}
