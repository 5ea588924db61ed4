/* SPDX-License-Identifier: MIT */
#include "core/memory/bandwidth.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/memory/bandwidth_private.h"
#include "core/memory/latency.h"
#include "core/test.h"

static struct sl_bandwidth_result result;
static struct sl_error error;

static struct sl_bandwidth_spec spec_of(enum sl_memory_op op, int64_t bytes) {
  return (struct sl_bandwidth_spec){.op = op,
                                    .buffer_bytes = bytes,
                                    .threads = 1,
                                    .pin = true,
                                    .samples = 3,
                                    .sample_ns = 200000,
                                    .pages = SL_PAGES_HUGE};
}

static int run(const struct sl_bandwidth_spec *spec) {
  struct sl_bandwidth_progress progress;
  memset(&progress, 0, sizeof progress);
  return sl_bandwidth_run(spec, NULL, &progress, &result, &error);
}

/* The thread sanitizer and an emulator touch memory of their own as the
 * program goes. */
static void check_faults(int64_t faults) {
#if defined(__SANITIZE_THREAD__)
  const bool has_others = true;
#else
  const bool has_others = getenv("STORLUA_EMULATED") != NULL;
#endif
  if (!has_others) CHECK_EQ(faults, 0);
}

static void every_op_is_measured_and_verified(void) {
  for (int op = 0; op < SL_MEMORY_OPS; op++) {
    const struct sl_kernel *list[SL_KERNELS_MAX];
    if (!sl_kernels(list, SL_KERNELS_MAX, (enum sl_memory_op)op)) continue;
    const struct sl_bandwidth_spec spec =
        spec_of((enum sl_memory_op)op, op % 2 ? 12288 : 4096);
    CHECK_EQ(run(&spec), 0);
    CHECK_EQ(result.end, SL_BANDWIDTH_COMPLETE);
    CHECK(result.verified);
    CHECK_EQ(result.sample_count, 3);
    CHECK(result.kernel != NULL && result.kernel->op == spec.op);
    check_faults(result.faults);
    for (unsigned i = 0; i < result.sample_count; i++) {
      CHECK(result.samples[i].bytes % spec.buffer_bytes == 0);
      CHECK(result.samples[i].ns > 0);
    }
  }
}

/* More than one chunk, and a last one that is shorter. */
static void a_large_buffer_is_visited_in_chunks(void) {
  struct sl_bandwidth_spec spec =
      spec_of(SL_MEMORY_READ, ((int64_t)40 << 20) + 4096);
  spec.sample_ns = 10000000;
  CHECK_EQ(run(&spec), 0);
  CHECK(result.verified);
  spec.op = SL_MEMORY_TRIAD;
  CHECK_EQ(run(&spec), 0);
  CHECK(result.verified);
}

static void a_wrong_word_is_found(void) {
  struct sl_buffers b = {.bytes = 40960};
  atomic_bool stop = false;
  const int64_t bytes =
      sl_buffers_arena_bytes((int64_t)b.bytes, SL_MEMORY_COPY);
  CHECK_EQ(sl_arena_map(&b.arena, (size_t)bytes, SL_PAGES_SYSTEM, &error), 0);
  CHECK_EQ(sl_buffers_fill(&b, SL_MEMORY_COPY, 0, &stop), 0);
  memcpy(b.dst, b.a, b.bytes);
  sl_buffers_verify(&b, SL_MEMORY_COPY, 0, 0);
  CHECK_EQ(b.wrong_at, -1);
  b.dst[20483] ^= 0x10;
  sl_buffers_verify(&b, SL_MEMORY_COPY, 0, 0);
  CHECK_EQ(b.wrong_at, 20480);
  b.dst[20483] ^= 0x10;
  sl_buffers_poison(&b, 0, SL_KERNEL_GRANULE);
  b.wrong_at = -1;
  sl_buffers_verify(&b, SL_MEMORY_COPY, 0, 0);
  CHECK(b.wrong_at >= 0);
  sl_buffers_release(&b);
}

static void refuse(struct sl_bandwidth_spec spec, int code) {
  CHECK_EQ(run(&spec), code);
  CHECK(error.hint[0] != '\0');
}

static void bad_specs_are_refused(void) {
  refuse(spec_of(SL_MEMORY_READ, 0), -EINVAL);
  refuse(spec_of(SL_MEMORY_READ, 4097), -EINVAL);
  refuse(spec_of(SL_MEMORY_READ, 1000), -EINVAL);
  refuse(spec_of(SL_MEMORY_READ, INT64_MAX / 4096 * 4096), -ENOMEM);
  refuse(spec_of(SL_MEMORY_COPY, (int64_t)1 << 50), -ENOMEM);
  struct sl_bandwidth_spec spec = spec_of(SL_MEMORY_READ, 4096);
  spec.threads = 0;
  refuse(spec, -EINVAL);
  spec.threads = 200; /* more than there are CPUs */
  if (sysconf(_SC_NPROCESSORS_ONLN) < 200) refuse(spec, -EINVAL);
  spec.threads = 1;
  spec.cpu_count = 1;
  spec.cpus[0] = 1023;
  refuse(spec, -EINVAL);
  spec.cpu_count = 0;
  snprintf(spec.kernel, sizeof spec.kernel, "no-such");
  refuse(spec, -EINVAL);
}

/* Cancelling, as the time limit, ends it within one call of a kernel. */
static void the_time_limit_is_hard(void) {
  struct sl_bandwidth_spec spec = spec_of(SL_MEMORY_READ, 1 << 20);
  spec.sample_ns = 3600000000000;
  spec.limit_ns = 30000000;
  CHECK_EQ(run(&spec), 0);
  CHECK_EQ(result.end, SL_BANDWIDTH_TIME_LIMIT);
}

static void the_chase_visits_every_line(void) {
  struct sl_latency_result r;
  for (int64_t bytes = 4096; bytes <= 1 << 20; bytes *= 4) {
    for (int64_t block = 0; block <= 4096 && block < bytes; block += 4096) {
      const struct sl_latency_spec spec = {.bytes = bytes,
                                           .locality_bytes = block,
                                           .cpu = -1,
                                           .samples = 2,
                                           .sample_ns = 100000,
                                           .seed = (uint64_t)bytes};
      CHECK_EQ(sl_latency_run(&spec, NULL, &r, &error), 0);
      CHECK(r.complete && r.verified);
      CHECK_EQ(r.sample_count, 2);
      check_faults(r.faults);
    }
  }
  const struct sl_latency_spec odd = {
      .bytes = 5000, .cpu = -1, .samples = 1, .sample_ns = 1};
  CHECK_EQ(sl_latency_run(&odd, NULL, &r, &error), -EINVAL);
  const struct sl_latency_spec none = {.cpu = -1, .samples = 1, .sample_ns = 1};
  CHECK_EQ(sl_latency_run(&none, NULL, &r, &error), -EINVAL);
}

static void a_limit_beyond_the_clock_is_none(void) {
  struct sl_bandwidth_spec spec = spec_of(SL_MEMORY_COPY, 4096);
  spec.limit_ns = INT64_MAX;
  CHECK_EQ(run(&spec), 0);
  CHECK_EQ(result.end, SL_BANDWIDTH_COMPLETE);
  struct sl_latency_result r;
  const struct sl_latency_spec chase = {.bytes = 4096,
                                        .cpu = -1,
                                        .samples = 2,
                                        .sample_ns = 100000,
                                        .limit_ns = INT64_MAX};
  CHECK_EQ(sl_latency_run(&chase, NULL, &r, &error), 0);
  CHECK(r.complete && !r.timed_out);
}

int main(void) {
  RUN(every_op_is_measured_and_verified);
  RUN(a_large_buffer_is_visited_in_chunks);
  RUN(a_wrong_word_is_found);
  RUN(bad_specs_are_refused);
  RUN(the_time_limit_is_hard);
  RUN(a_limit_beyond_the_clock_is_none);
  RUN(the_chase_visits_every_line);
  return TEST_DONE();
}
