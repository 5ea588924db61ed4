/* SPDX-License-Identifier: MIT */
/* Several workloads at once: nobody begins alone, and what is said about the
 * time in which all were at work adds up. */
#include "core/io/streams.h"

#include <pthread.h>

#include "core/workload_rig.h"

enum { STREAMS = 4 };

struct part {
  struct sl_workload_spec spec;
  struct sl_workload_result *result;
  struct sl_error error;
  int code;
  char path[320];
  pthread_t thread;
};

static struct part parts[STREAMS];

static void *run_part(void *arg) {
  struct part *part = arg;
  part->code = sl_workload_run(&part->spec, NULL, NULL, NULL, part->result,
                               &part->error);
  return NULL;
}

static void prepare(struct sl_streams *streams) {
  rig_open("/dev/shm");
  for (unsigned i = 0; i < STREAMS; i++) {
    struct part *part = &parts[i];
    memset(part, 0, sizeof *part);
    part->result = calloc(1, sizeof *part->result);
    snprintf(part->path, sizeof part->path, "%s/part%u", rig_dir, i);
    part->spec = rig_spec(SL_WRITE);
    part->spec.target.path = part->path;
    part->spec.range_bytes = MIB;
    part->spec.streams = streams;
    part->spec.stream = i;
  }
}

static void run_all(void) {
  for (unsigned i = 0; i < STREAMS; i++) {
    CHECK_EQ(pthread_create(&parts[i].thread, NULL, run_part, &parts[i]), 0);
    if (i % 2) usleep(20000); /* nobody begins before the last one is here */
  }
  for (unsigned i = 0; i < STREAMS; i++)
    pthread_join(parts[i].thread, NULL);
}

static void clean(struct sl_streams *streams) {
  for (unsigned i = 0; i < STREAMS; i++) {
    sl_workload_result_release(parts[i].result);
    free(parts[i].result);
    unlink(parts[i].path);
  }
  sl_streams_drop(streams);
  rig_close();
}

static void they_start_together(void) {
  struct sl_streams *streams = sl_streams_new(STREAMS, false);
  prepare(streams);
  for (unsigned i = 0; i < STREAMS; i++) {
    parts[i].spec.limit_ns = 150000000 + (int64_t)i * 50000000;
  }
  run_all();
  struct sl_window window;
  struct sl_window_share shares[STREAMS];
  CHECK(sl_streams_window(streams, &window, shares));
  int64_t first = INT64_MAX;
  for (unsigned i = 0; i < STREAMS; i++) {
    CHECK_EQ(parts[i].code, 0);
    CHECK_STR(sl_end_name(parts[i].result->end), "complete");
    CHECK_EQ(shares[i].end_ns - shares[i].start_ns, parts[i].result->total_ns);
    CHECK(shares[i].start_ns <= window.start_ns);
    CHECK(shares[i].end_ns >= window.end_ns);
    CHECK(shares[i].bytes <= parts[i].result->write.bytes);
    /* Both counters are read beside a thread that goes on: at either end of
       the window they may be one operation apart. */
    int64_t apart =
        (int64_t)shares[i].bytes - (int64_t)shares[i].operations * 4096;
    CHECK(apart >= -2 * 4096 && apart <= 2 * 4096);
    if (shares[i].start_ns < first) first = shares[i].start_ns;
  }
  CHECK_EQ(window.end_ns, shares[0].end_ns);
  CHECK(shares[0].bytes > 0 && shares[3].bytes > 0);
  CHECK(parts[3].result->write.bytes > shares[3].bytes);
  clean(streams);
}

static void a_stonewall_ends_the_others(void) {
  struct sl_streams *streams = sl_streams_new(STREAMS, true);
  prepare(streams);
  for (unsigned i = 0; i < STREAMS; i++) {
    parts[i].spec.limit_ns = INT64_C(3600000000000);
  }
  parts[2].spec.limit_ns = 50000000;
  run_all();
  for (unsigned i = 0; i < STREAMS; i++) {
    CHECK_STR(sl_end_name(parts[i].result->end),
              i == 2 ? "complete" : "stonewall");
  }
  clean(streams);
}

static void one_that_cannot_start_lets_the_others_go(void) {
  struct sl_streams *streams = sl_streams_new(STREAMS, false);
  prepare(streams);
  parts[3].spec.target.path = "/dev/shm/storlua-none/x";
  run_all();
  CHECK_EQ(parts[3].code, -ENOENT);
  for (unsigned i = 0; i < STREAMS - 1; i++) {
    CHECK_EQ(parts[i].code, -ECANCELED);
    CHECK(strstr(parts[i].error.hint, "another stream") != NULL);
    CHECK_EQ(parts[i].result->write.operations, 0);
  }
  struct sl_window window;
  struct sl_window_share shares[STREAMS];
  CHECK(!sl_streams_window(streams, &window, shares));
  clean(streams);
}

/* So short that the first may end before the last begins: then there is no
 * window, and nothing is said to lie in it. */
static void short_ones_have_an_honest_window(void) {
  for (int round = 0; round < 20; round++) {
    struct sl_streams *streams = sl_streams_new(STREAMS, false);
    prepare(streams);
    for (unsigned i = 0; i < STREAMS; i++)
      parts[i].spec.range_bytes = 4096;
    run_all();
    struct sl_window window;
    struct sl_window_share shares[STREAMS];
    CHECK(sl_streams_window(streams, &window, shares));
    for (unsigned i = 0; i < STREAMS; i++) {
      CHECK_EQ(parts[i].result->write.bytes, 4096);
      CHECK(shares[i].bytes <= 4096);
      if (window.end_ns <= window.start_ns) CHECK_EQ(shares[i].bytes, 0);
    }
    clean(streams);
  }
}

static void the_ramp_is_before_the_window(void) {
  struct sl_streams *streams = sl_streams_new(STREAMS, false);
  prepare(streams);
  for (unsigned i = 0; i < STREAMS; i++) {
    parts[i].spec.ramp_ns = 50000000;
    parts[i].spec.limit_ns = 50000000;
  }
  run_all();
  struct sl_window window;
  struct sl_window_share shares[STREAMS];
  CHECK(sl_streams_window(streams, &window, shares));
  for (unsigned i = 0; i < STREAMS; i++) {
    CHECK(shares[i].bytes <= parts[i].result->write.bytes);
    CHECK(parts[i].result->next_visit > parts[i].result->write.operations);
  }
  clean(streams);
}

int main(void) {
  RUN(they_start_together);
  RUN(a_stonewall_ends_the_others);
  RUN(one_that_cannot_start_lets_the_others_go);
  RUN(short_ones_have_an_honest_window);
  RUN(the_ramp_is_before_the_window);
  return TEST_DONE();
}
