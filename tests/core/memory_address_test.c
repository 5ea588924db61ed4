/* SPDX-License-Identifier: MIT */
/* Sizes at and beyond what the address space holds: refused by name, never cut
 * off to what fits into a size_t.  tools/cross-check runs it with 32 bits. */
#include <errno.h>

#include "core/memory/bandwidth.h"
#include "core/memory/integrity.h"
#include "core/memory/latency.h"
#include "core/test.h"

static const int64_t GIB = 1 << 30;
static const bool is_small = sizeof(size_t) < 8;
static struct sl_error error;

static void what_fits(void) {
  CHECK_EQ(sl_arena_fits(GIB, &error), 0);
  CHECK_EQ(sl_arena_fits(2 * GIB - 1, &error), 0);
  CHECK_EQ(sl_arena_fits(2 * GIB, &error), is_small ? -ENOMEM : 0);
  CHECK_EQ(sl_arena_fits(4 * GIB + 4096, &error), is_small ? -ENOMEM : 0);
  if (is_small) CHECK(strstr(error.hint, "32-bit program") != NULL);
  CHECK_EQ(sl_arena_fits(INT64_MAX, &error), is_small ? -ENOMEM : 0);
}

/* Not one that maps when it has wrapped around either. */
static void too_large(int code) {
  CHECK_EQ(code, -ENOMEM);
  CHECK(strstr(error.hint, is_small ? "address space" : "free") != NULL);
}

static void bandwidth(enum sl_memory_op op, int64_t bytes, unsigned threads) {
  static struct sl_bandwidth_result result;
  struct sl_bandwidth_progress progress;
  const struct sl_bandwidth_spec spec = {.op = op,
                                         .buffer_bytes = bytes,
                                         .threads = threads,
                                         .samples = 1,
                                         .sample_ns = 1};
  too_large(sl_bandwidth_run(&spec, NULL, &progress, &result, &error));
}

static void more_than_the_address_space(void) {
  /* As 32 bits see it: 4 KiB, half of everything, and a sum that wraps. */
  const int64_t times = is_small ? 1 : 1 << 20;
  bandwidth(SL_MEMORY_READ, (4 * GIB + 4096) * times, 1);
  bandwidth(SL_MEMORY_READ, 2 * GIB * times, 1);
  bandwidth(SL_MEMORY_TRIAD, (4 * GIB / 3 + 4096) / 4096 * 4096 * times, 1);
  bandwidth(SL_MEMORY_COPY, INT64_MAX / 4096 * 4096, 1);

  struct sl_latency_result latency;
  struct sl_latency_spec walk = {.bytes = (4 * GIB + 4096) * times,
                                 .cpu = -1,
                                 .samples = 1,
                                 .sample_ns = 1};
  if (is_small)
    too_large(sl_latency_run(&walk, NULL, &latency, &error));
  else
    CHECK_EQ(sl_latency_run(&walk, NULL, &latency, &error), -EINVAL);

  static struct sl_integrity_result result;
  struct sl_integrity_progress progress;
  struct sl_integrity_spec test = {
      .bytes = 5 * GIB * times, .threads = 1, .passes = 1};
  CHECK_EQ(sl_integrity_run(&test, NULL, &progress, &result, &error), -ENOMEM);
  test.bytes = INT64_MAX;
  CHECK_EQ(sl_integrity_run(&test, NULL, &progress, &result, &error), -ENOMEM);
  CHECK(error.hint[0] != '\0');
}

/* A refusal of the system itself, under an address space as small as that of
 * a board. */
static void what_the_system_does_not_give(void) {
  struct sl_arena arena;
  CHECK_EQ(sl_arena_map(&arena, SIZE_MAX / 2 - 4095, SL_PAGES_SYSTEM, &error),
           -ENOMEM);
  CHECK(strstr(error.hint, "address space") != NULL);
  CHECK(arena.data == NULL);
  CHECK_EQ(sl_arena_map(&arena, 0, SL_PAGES_SYSTEM, &error), -ENOMEM);
}

int main(void) {
  RUN(what_fits);
  RUN(more_than_the_address_space);
  RUN(what_the_system_does_not_give);
  return TEST_DONE();
}
