/* SPDX-License-Identifier: MIT */
/* Kernels that leave out a part of their work must be noticed, also where the
 * right result lies in the destination from before. */
#include "core/memory/bandwidth_private.h"
#include "core/test.h"

enum { MIB = 1 << 20, PART = 16 * MIB };

static struct sl_bandwidth_result result;
static struct sl_bandwidth_progress progress;
static const unsigned char *start; /* of dst */

static uint64_t copy_all(const struct sl_kernel_work *w) {
  memcpy(w->dst, w->a, w->bytes);
  return 0;
}

static uint64_t copy_nothing(const struct sl_kernel_work *w) {
  (void)w;
  return 0;
}

/* Without one line in each page. */
static uint64_t copy_with_holes(const struct sl_kernel_work *w) {
  for (size_t i = 0; i < w->bytes; i += SL_KERNEL_GRANULE) {
    memcpy(w->dst + i, w->a + i, 1024);
    memcpy(w->dst + i + 1088, w->a + i + 1088, SL_KERNEL_GRANULE - 1088);
  }
  return 0;
}

static uint64_t copy_but_the_second_part(const struct sl_kernel_work *w) {
  return w->dst == start + PART ? 0 : copy_all(w);
}

static void set_up(struct sl_member *m, void *data) {
  struct sl_bandwidth_work *run = data;
  struct sl_buffers *b = run->buffers;
  const int64_t bytes = run->spec->buffer_bytes;
  b->bytes = (size_t)bytes;
  b->code = sl_arena_map(&b->arena,
                         (size_t)sl_buffers_arena_bytes(bytes, run->spec->op),
                         run->spec->pages, &b->error);
  if (b->code == 0)
    b->code = sl_buffers_fill(b, run->spec->op, m->index, m->stop);
}

/* Whether a copy by it is found right, after a right one over all of dst. */
static bool passes(uint64_t (*copy)(const struct sl_kernel_work *w),
                   int64_t bytes) {
  const struct sl_bandwidth_spec spec = {.op = SL_MEMORY_COPY,
                                         .buffer_bytes = bytes,
                                         .threads = 1,
                                         .samples = 3,
                                         .sample_ns = 1,
                                         .pages = SL_PAGES_SMALL};
  const struct sl_kernel kernel = {
      .name = "planted", .op = SL_MEMORY_COPY, .run = copy};
  struct sl_bandwidth_work *run =
      calloc(1, sizeof *run + sizeof run->buffers[0]);
  struct sl_error e;
  const int cpu = -1;
  memset(&result, 0, sizeof result);
  result.verified = true;
  run->spec = &spec;
  run->result = &result;
  run->progress = &progress;
  run->kernel = &kernel;
  CHECK_EQ(sl_crew_start(1, &cpu, &run->crew, &e), 0);
  CHECK_EQ(sl_crew_run(run->crew, NULL, 0, set_up, run), 0);
  CHECK_EQ(run->buffers[0].code, 0);
  start = run->buffers[0].dst;
  memcpy(run->buffers[0].dst, run->buffers[0].a, (size_t)bytes);
  CHECK_EQ(sl_bandwidth_measure(run), 0);
  CHECK_EQ(result.sample_count, 3);
  sl_buffers_release(&run->buffers[0]);
  sl_crew_end(run->crew);
  free(run);
  return result.verified;
}

static void what_is_right_passes(void) {
  CHECK(passes(copy_all, 8192));
  CHECK(passes(copy_all, 2 * PART + MIB));
}

static void what_is_left_out_is_found(void) {
  CHECK(!passes(copy_nothing, 8192));
  CHECK(!passes(copy_with_holes, 8192));
  CHECK(result.wrong.offset % SL_KERNEL_GRANULE == 1024);
  CHECK(!passes(copy_with_holes, 2 * PART + MIB));
}

/* Also in a part that the last sample did not work on. */
static void every_part_that_was_worked_on_is_compared(void) {
  CHECK(!passes(copy_but_the_second_part, 3 * PART));
  CHECK_EQ(result.wrong.offset, PART);
}

int main(void) {
  RUN(what_is_right_passes);
  RUN(what_is_left_out_is_found);
  RUN(every_part_that_was_worked_on_is_compared);
  return TEST_DONE();
}
