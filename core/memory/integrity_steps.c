/* SPDX-License-Identifier: MIT */
/* The patterns as sequences of steps, and a step on one slice. */
#include <string.h>
#include <unistd.h>

#include "core/memory/integrity_private.h"

/* 4 MiB: the stop flag is read after each. */
enum { RUN_BLOCKS = 8192 };

static struct sl_pattern repeated(uint64_t even, uint64_t odd) {
  struct sl_pattern p = {.key = SL_KEY_NONE};
  for (unsigned w = 0; w < SL_PATTERN_WORDS; w++)
    p.table[w] = w % 2 ? odd : even;
  return p;
}

static struct sl_pattern solid(uint64_t word) { return repeated(word, word); }

static struct sl_pattern walking(unsigned shift, uint64_t flip) {
  struct sl_pattern p = {.key = SL_KEY_NONE};
  for (unsigned w = 0; w < SL_PATTERN_WORDS; w++)
    p.table[w] = ((uint64_t)1 << ((w + shift) % 64)) ^ flip;
  return p;
}

static struct sl_pattern own_address(uint64_t flip) {
  struct sl_pattern p = {.key = SL_KEY_ADDRESS};
  for (unsigned w = 0; w < SL_PATTERN_WORDS; w++)
    p.table[w] = (8 * w) ^ flip;
  return p;
}

static struct sl_pattern random_words(uint64_t seed, uint64_t flip) {
  struct sl_pattern p = {.key = SL_KEY_RANDOM, .seed = seed};
  uint64_t state = seed;
  for (unsigned w = 0; w < SL_PATTERN_WORDS; w++) {
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    p.table[w] = x ^ (x >> 31) ^ flip;
  }
  return p;
}

struct list {
  struct sl_integrity_step *steps;
  unsigned count;
  struct sl_pattern now;
};

static void add(struct list *l, enum step_kind kind, bool down,
                struct sl_pattern next) {
  struct sl_integrity_step *s = &l->steps[l->count++];
  s->kind = kind;
  s->down = down;
  s->old = l->now;
  s->next = next;
  l->now = next;
}

static void fill(struct list *l, struct sl_pattern p) {
  add(l, STEP_FILL, false, p);
}
static void up(struct list *l, struct sl_pattern p) {
  add(l, STEP_SWAP, false, p);
}
static void down(struct list *l, struct sl_pattern p) {
  add(l, STEP_SWAP, true, p);
}
static void check(struct list *l) { add(l, STEP_CHECK, false, l->now); }

/* After 8 passes each word has held each of its bits alone, both ways. */
static void add_walking(struct list *l, int64_t pass) {
  const unsigned start = (unsigned)(pass % 8);
  fill(l, walking(start, 0));
  for (unsigned i = 1; i < 16; i++)
    up(l, walking(start + i / 2 * 8, i % 2 ? UINT64_MAX : 0));
  check(l);
}

static void add_inversions(struct list *l) {
  const uint64_t five = 0x5555555555555555u;
  fill(l, solid(0));
  up(l, solid(UINT64_MAX));
  down(l, solid(0));
  up(l, solid(five));
  up(l, solid(~five));
  down(l, solid(five));
  check(l);
}

static void add_random(struct list *l, uint64_t seed) {
  fill(l, random_words(seed, 0));
  up(l, random_words(seed, UINT64_MAX));
  down(l, random_words(seed + 1, 0));
  check(l);
}

static void add_fade(struct list *l) {
  fill(l, solid(UINT64_MAX));
  add(l, STEP_PAUSE, false, l->now);
  up(l, solid(0));
  add(l, STEP_PAUSE, false, l->now);
  check(l);
}

unsigned sl_integrity_steps(enum sl_integrity_pattern pattern, int64_t pass,
                            uint64_t seed, struct sl_integrity_step *steps) {
  struct list l = {.steps = steps};
  const uint64_t here = seed + (uint64_t)pass * 1000003u;
  const uint64_t a = 0xaaaaaaaaaaaaaaaau;
  switch (pattern) {
    case SL_INTEGRITY_WALKING:
      add_walking(&l, pass);
      break;
    case SL_INTEGRITY_INVERSIONS:
      add_inversions(&l);
      break;
    case SL_INTEGRITY_RANDOM:
      add_random(&l, here);
      break;
    case SL_INTEGRITY_ADDRESS:
      fill(&l, own_address(0));
      up(&l, own_address(UINT64_MAX));
      check(&l);
      break;
    case SL_INTEGRITY_CHECKERBOARD:
      fill(&l, repeated(a, ~a));
      up(&l, repeated(~a, a));
      check(&l);
      break;
    case SL_INTEGRITY_BLOCK_MOVE:
      fill(&l, random_words(here + 7, 0));
      add(&l, STEP_MOVE, false, l.now);
      break;
    case SL_INTEGRITY_FADE:
      add_fade(&l);
      break;
    case SL_INTEGRITY_PATTERNS:
      break;
  }
  return l.count;
}

/* --- one step, on a member's thread --- */

static void flush_line(const void *at) {
#if defined(__x86_64__)
  __asm__ volatile("clflush (%0)\n\tmfence" : : "r"(at) : "memory");
#elif defined(__aarch64__)
  __asm__ volatile("dc civac, %0\n\tdsb sy" : : "r"(at) : "memory");
#else
  (void)at; /* 32-bit ARM has none for user space */
#endif
}

static void note_word(struct sl_integrity_work *w, unsigned thread,
                      const uint64_t *at, uint64_t expected, uint64_t found) {
  const struct sl_integrity_slice *slice = &w->slices[thread];
  const uint64_t reread = *(const volatile uint64_t *)at;
  flush_line(at);
  const uint64_t after_flush = *(const volatile uint64_t *)at;
  struct sl_integrity_result *r = w->result;
  pthread_mutex_lock(&w->lock);
  r->errors_total++;
  r->patterns[w->pattern].errors++;
  atomic_fetch_add(&w->progress->errors, 1);
  if (r->error_count < SL_INTEGRITY_ERRORS_MAX) {
    const int64_t offset =
        (int64_t)((const unsigned char *)at - slice->arena.data);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t frame = sl_physical_frame(at);
    r->errors[r->error_count++] = (struct sl_integrity_error){
        .pattern = w->pattern,
        .pass = w->pass,
        .thread = thread,
        .offset = offset,
        .address = (uint64_t)(uintptr_t)at,
        .physical = frame ? frame * page + (uint64_t)(uintptr_t)at % page : 0,
        .expected = expected,
        .found = found,
        .reread = reread,
        .after_flush = after_flush,
        .repeats = after_flush != expected};
  }
  pthread_mutex_unlock(&w->lock);
}

static void note_block(struct sl_integrity_work *w, unsigned thread,
                       const struct sl_pattern *p, const unsigned char *at,
                       uint64_t block, const uint64_t *found) {
  for (unsigned i = 0; i < SL_PATTERN_WORDS; i++) {
    const uint64_t expected = sl_pattern_word(p, block, i);
    if (found[i] != expected)
      note_word(w, thread, (const uint64_t *)(const void *)(at + 8 * i),
                expected, found[i]);
  }
}

/* A run of blocks that may hold bad ones: those are noted and passed over. */
static void compare(struct sl_integrity_work *w, unsigned thread,
                    struct sl_pattern_run run, const struct sl_pattern *p,
                    const struct sl_pattern *next) {
  uint64_t found[SL_PATTERN_WORDS];
  while (run.count > 0) {
    const size_t good = next ? w->engine->swap(&run, p, next, found)
                             : w->engine->check(&run, p, found);
    if (good == run.count) return;
    const ptrdiff_t step = run.down ? -SL_PATTERN_BLOCK : SL_PATTERN_BLOCK;
    run.data += (ptrdiff_t)good * step;
    run.first = run.down ? run.first - good : run.first + good;
    note_block(w, thread, p, run.data, run.first, found);
    if (next) {
      struct sl_pattern_run one = run;
      one.count = 1;
      w->engine->fill(&one, next);
    }
    run.data += step;
    run.first = run.down ? run.first - 1 : run.first + 1;
    run.count -= good + 1;
  }
}

static void move(struct sl_integrity_work *w, unsigned thread,
                 const struct sl_pattern *p, size_t from, size_t count) {
  unsigned char *data = w->slices[thread].arena.data;
  const size_t half = w->slices[thread].blocks / 2;
  unsigned char *source = data + from * SL_PATTERN_BLOCK;
  unsigned char *target = data + (half + from) * SL_PATTERN_BLOCK;
  memcpy(target, source, count * SL_PATTERN_BLOCK);
  const struct sl_pattern_run moved = {target, count, from, false};
  const struct sl_pattern_run stayed = {source, count, from, false};
  compare(w, thread, moved, p, NULL);
  compare(w, thread, stayed, p, NULL);
}

void sl_integrity_do(struct sl_member *m, void *data) {
  struct sl_integrity_work *w = data;
  struct sl_integrity_slice *slice = &w->slices[m->index];
  struct sl_integrity_step step = w->step; /* the base is the slice's own */
  step.old.base = step.next.base = (uint64_t)(uintptr_t)slice->arena.data;
  const size_t blocks =
      step.kind == STEP_MOVE ? slice->blocks / 2 : slice->blocks;
  slice->verified = slice->moved = 0;
  for (size_t done = 0; done < blocks; done += RUN_BLOCKS) {
    if (atomic_load_explicit(m->stop, memory_order_relaxed)) return;
    const size_t count =
        blocks - done < RUN_BLOCKS ? blocks - done : RUN_BLOCKS;
    const size_t first = step.down ? blocks - 1 - done : done;
    const struct sl_pattern_run run = {
        slice->arena.data + first * SL_PATTERN_BLOCK, count, first, step.down};
    const int64_t bytes = (int64_t)(count * SL_PATTERN_BLOCK);
    switch (step.kind) {
      case STEP_FILL:
        w->engine->fill(&run, &step.next);
        break;
      case STEP_SWAP:
        compare(w, m->index, run, &step.old, &step.next);
        break;
      case STEP_CHECK:
        compare(w, m->index, run, &step.old, NULL);
        break;
      case STEP_MOVE:
        move(w, m->index, &step.old, done, count);
        break;
      case STEP_PAUSE:
        return;
    }
    const bool checks = step.kind != STEP_FILL;
    slice->verified += checks ? bytes * (step.kind == STEP_MOVE ? 2 : 1) : 0;
    slice->moved += bytes * (step.kind == STEP_SWAP   ? 2
                             : step.kind == STEP_MOVE ? 4
                                                      : 1);
    atomic_fetch_add_explicit(&w->progress->verified_bytes, checks ? bytes : 0,
                              memory_order_relaxed);
  }
}
