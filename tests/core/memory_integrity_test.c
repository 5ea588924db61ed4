/* SPDX-License-Identifier: MIT */
/* The checker is tested, not trusted: a flip is planted in each pattern. */
#include "core/memory/integrity.h"

#include <errno.h>
#include <unistd.h>

#include "core/memory/integrity_private.h"
#include "core/test.h"

static struct sl_integrity_result result;
static struct sl_integrity_progress progress;
static struct sl_error error;

static struct sl_integrity_spec spec_of(unsigned patterns) {
  return (struct sl_integrity_spec){.bytes = 3 << 20,
                                    .threads = 1,
                                    .pin = true,
                                    .patterns = patterns,
                                    .passes = 1,
                                    .fade_ns = 1000000,
                                    .seed = 42};
}

static int run(const struct sl_integrity_spec *spec) {
  memset(&progress, 0, sizeof progress);
  return sl_integrity_run(spec, NULL, &progress, &result, &error);
}

static void good_memory_passes(void) {
  struct sl_integrity_spec spec = spec_of(0);
  spec.passes = 2;
  spec.threads = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
  spec.bytes = (int64_t)spec.threads << 20;
  CHECK_EQ(run(&spec), 0);
  CHECK_EQ(result.end, SL_INTEGRITY_COMPLETE);
  CHECK_EQ(result.passes, 2);
  CHECK_EQ(result.errors_total, 0);
  CHECK_EQ(result.bytes, spec.bytes);
  for (int p = 0; p < SL_INTEGRITY_PATTERNS; p++) {
    CHECK_EQ(result.patterns[p].runs, 2);
    CHECK(result.patterns[p].verified_bytes >= 2 * spec.bytes);
  }
}

static void a_planted_flip_is_found(const char *engine, int pattern,
                                    int64_t offset, uint64_t bits) {
  struct sl_integrity_spec spec = spec_of(1u << pattern);
  snprintf(spec.engine, sizeof spec.engine, "%s", engine);
  spec.plants[0] = (struct sl_integrity_plant){
      (enum sl_integrity_pattern)pattern, offset, bits};
  spec.plant_count = 1;
  CHECK_EQ(run(&spec), 0);
  const struct sl_integrity_error *e = &result.errors[0];
  CHECK(result.errors_total >= 1);
  CHECK_EQ(e->pattern, pattern);
  CHECK_EQ(e->expected ^ e->found, bits);
  CHECK_EQ(e->reread, e->found);
  CHECK_EQ(e->after_flush, e->found);
  CHECK(e->repeats);
  CHECK_EQ(e->address % 8, 0);
  /* A word of the lower half is also found where it was copied to. */
  if (pattern == SL_INTEGRITY_BLOCK_MOVE) {
    CHECK_EQ(result.errors_total, 2);
    CHECK(e->offset == offset || e->offset == offset + (3 << 19));
  } else {
    CHECK_EQ(result.errors_total, 1);
    CHECK_EQ(e->offset, offset);
  }
  if (geteuid() == 0 && access("/proc/self/pagemap", R_OK) == 0)
    CHECK(e->physical == 0 || e->physical % 4096 == e->address % 4096);
}

static void flips_are_found_in_every_pattern_by_every_engine(void) {
  static const uint64_t bits[] = {1, (uint64_t)1 << 63, 0x8000000180000001u};
  for (const char *const *e = sl_pattern_engines(); *e; e++) {
    for (int p = 0; p < SL_INTEGRITY_PATTERNS; p++) {
      for (int i = 0; i < 3; i++)
        a_planted_flip_is_found(*e, p, 8 * (131 * i + 17), bits[i]);
    }
  }
  a_planted_flip_is_found("", SL_INTEGRITY_RANDOM, 0, 2);
  a_planted_flip_is_found("", SL_INTEGRITY_ADDRESS, (3 << 20) - 8, 4);
}

/* What a pass of its own writes, as one of a longer test. */
static void passes_count_on_from_the_first(void) {
  struct sl_integrity_spec spec = spec_of(1u << SL_INTEGRITY_WALKING);
  spec.plants[0] =
      (struct sl_integrity_plant){SL_INTEGRITY_WALKING, 8 * 3, 1 << 20};
  spec.plant_count = 1;
  for (spec.first_pass = 0; spec.first_pass < 10; spec.first_pass++) {
    CHECK_EQ(run(&spec), 0);
    CHECK_EQ(result.passes, 1);
    CHECK_EQ(result.errors_total, 1);
    CHECK_EQ(result.errors[0].pass, spec.first_pass);
    CHECK_EQ(result.errors[0].expected, 8u << spec.first_pass % 8);
    CHECK_EQ(atomic_load(&progress.pass), spec.first_pass);
  }
  spec.first_pass = -1;
  CHECK_EQ(run(&spec), -EINVAL);
  spec.first_pass = INT64_MAX;
  CHECK_EQ(run(&spec), -EINVAL);
}

static void walking_reaches_every_bit_in_eight_passes(void) {
  struct sl_integrity_step steps[SL_INTEGRITY_STEPS_MAX];
  uint64_t set[SL_PATTERN_WORDS] = {0}, cleared[SL_PATTERN_WORDS] = {0};
  for (int64_t pass = 0; pass < 8; pass++) {
    const unsigned count =
        sl_integrity_steps(SL_INTEGRITY_WALKING, pass, 1, steps);
    for (unsigned i = 0; i < count; i++) {
      for (unsigned w = 0; w < SL_PATTERN_WORDS; w++) {
        const uint64_t word = steps[i].next.table[w];
        if (__builtin_popcountll(word) == 1) set[w] |= word;
        if (__builtin_popcountll(~word) == 1) cleared[w] |= ~word;
      }
    }
  }
  for (unsigned w = 0; w < SL_PATTERN_WORDS; w++) {
    CHECK_EQ(set[w], UINT64_MAX);
    CHECK_EQ(cleared[w], UINT64_MAX);
  }
}

static void many_errors_are_counted_and_some_kept(void) {
  struct sl_integrity_spec spec = spec_of(1u << SL_INTEGRITY_CHECKERBOARD);
  for (unsigned i = 0; i < 16; i++)
    spec.plants[i] = (struct sl_integrity_plant){SL_INTEGRITY_CHECKERBOARD,
                                                 8 * (int64_t)i, 1};
  spec.plant_count = 16;
  CHECK_EQ(run(&spec), 0);
  CHECK_EQ(result.errors_total, 16);
  CHECK_EQ(result.error_count, 16);
  CHECK_EQ(result.patterns[SL_INTEGRITY_CHECKERBOARD].errors, 16);
}

static void it_ends_with_its_time(void) {
  struct sl_integrity_spec spec = spec_of(0);
  spec.passes = 0;
  spec.fade_ns = 3600000000000;
  spec.duration_ns = 100000000;
#ifdef __SANITIZE_ADDRESS__
  spec.duration_ns = 2000000000; /* nothing is verified in less */
#endif
  CHECK_EQ(run(&spec), 0);
  CHECK_EQ(result.end, SL_INTEGRITY_COMPLETE);
  CHECK_EQ(result.errors_total, 0);
  CHECK(atomic_load(&progress.verified_bytes) > 0);
}

static void times_beyond_the_clock_last(void) {
  struct sl_integrity_spec spec = spec_of(1u << SL_INTEGRITY_FADE);
  spec.fade_ns = INT64_MAX;
  spec.duration_ns = 50000000;
  CHECK_EQ(run(&spec), 0); /* it ends within the pause */
  CHECK_EQ(result.patterns[SL_INTEGRITY_FADE].runs, 0);
  CHECK_EQ(result.patterns[SL_INTEGRITY_FADE].verified_bytes, 0);
  spec = spec_of(1u << SL_INTEGRITY_ADDRESS);
  spec.duration_ns = INT64_MAX;
  CHECK_EQ(run(&spec), 0);
  CHECK_EQ(result.passes, 1);
}

static void the_tables_are_aligned(void) {
  struct sl_integrity_work *works[32];
  for (unsigned i = 0; i < 32; i++) {
    works[i] = sl_integrity_allocate(i + 1);
    CHECK(works[i] != NULL);
    CHECK_EQ((uintptr_t)works[i]->step.old.table % 64, 0);
    CHECK_EQ((uintptr_t)works[i]->step.next.table % 64, 0);
    CHECK_EQ(works[i]->slices[i].blocks, 0);
  }
  for (unsigned i = 0; i < 32; i++)
    free(works[i]);
}

static void bad_specs_are_refused(void) {
  struct sl_integrity_spec spec = spec_of(0);
  spec.bytes = 0;
  CHECK_EQ(run(&spec), -EINVAL);
  spec.bytes = (int64_t)1 << 50;
  CHECK_EQ(run(&spec), -ENOMEM);
  spec = spec_of(0);
  spec.passes = 0;
  CHECK_EQ(run(&spec), -EINVAL);
  spec = spec_of(0);
  snprintf(spec.engine, sizeof spec.engine, "none");
  CHECK_EQ(run(&spec), -EINVAL);
  spec = spec_of(0);
  spec.threads = 250;
  spec.bytes = (int64_t)250 << 20;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 250) CHECK_EQ(run(&spec), -EINVAL);
}

int main(void) {
  RUN(good_memory_passes);
  RUN(flips_are_found_in_every_pattern_by_every_engine);
  RUN(passes_count_on_from_the_first);
  RUN(walking_reaches_every_bit_in_eight_passes);
  RUN(many_errors_are_counted_and_some_kept);
  RUN(it_ends_with_its_time);
  RUN(times_beyond_the_clock_last);
  RUN(the_tables_are_aligned);
  RUN(bad_specs_are_refused);
  return TEST_DONE();
}
