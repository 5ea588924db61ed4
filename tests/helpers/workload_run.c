/* SPDX-License-Identifier: MIT */
/* Runs one workload as a job, as the host does but without it, so that its
 * instructions, system calls and bytes can be counted from outside:
 *
 *   workload_run ENGINE PATH read|write|mixed ORDER RECORD RANGE OPERATIONS
 *                [stamp] [verify] [direct] [depth=N]
 *
 * prints operations, bytes, calls, errors, bad sectors and ns per operation. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/workload.h"
#include "core/run/job.h"

static uint64_t number(const char *text) { return strtoull(text, NULL, 0); }

static enum sl_order_kind order(const char *name) {
  if (strcmp(name, "random") == 0) return SL_ORDER_RANDOM;
  if (strcmp(name, "backward") == 0) return SL_ORDER_BACKWARD;
  if (strcmp(name, "strided") == 0) return SL_ORDER_STRIDED;
  return SL_ORDER_SEQUENTIAL;
}

struct work {
  struct sl_workload_spec spec;
  struct sl_workload_progress progress;
  struct sl_workload_result *result;
  struct sl_error error;
  int code;
  bool done;
};

static void work_run(struct sl_job *job, void *data) {
  struct work *work = data;
  work->code = sl_workload_run(&work->spec, job, NULL, &work->progress,
                               work->result, &work->error);
}

static void work_done(struct sl_job *job, void *user) {
  (void)job;
  ((struct work *)user)->done = true;
}

static const struct sl_job_class work_class = {"workload", work_run, NULL};

int main(int argc, char **argv) {
  if (argc < 8) return 2;
  struct sl_workload_spec spec = {
      .engine = sl_engine_find(argv[1]),
      .target.path = argv[2],
      .operation = strcmp(argv[3], "read") == 0    ? SL_READ
                   : strcmp(argv[3], "write") == 0 ? SL_WRITE
                                                   : SL_MIXED,
      .read_percent = 50,
      .order = order(argv[4]),
      .stride_records = 17,
      .record_bytes = number(argv[5]),
      .range_bytes = number(argv[6]),
      .limit_records = number(argv[7]),
      .seed = 1,
      .identity = {.run = 7, .generation = 1},
  };
  spec.target.create = spec.operation != SL_READ;
  for (int i = 8; i < argc; i++) {
    if (strcmp(argv[i], "stamp") == 0) spec.stamp = true;
    if (strcmp(argv[i], "verify") == 0) spec.verify = true;
    if (strcmp(argv[i], "direct") == 0) spec.target.direct = true;
    if (strncmp(argv[i], "depth=", 6) == 0) {
      spec.queue_depth = (unsigned)number(argv[i] + 6);
    }
  }
  struct work work = {.spec = spec, .result = malloc(sizeof *work.result)};
  struct sl_workload_result *result = work.result;
  struct sl_loop loop;
  struct sl_job *job;
  if (!result || sl_loop_init(&loop, 0, &work.error) != 0 ||
      sl_job_start(&loop, &work_class, &work, work_done, &work, &job,
                   &work.error) != 0)
    return 1;
  while (!work.done)
    sl_loop_turn(&loop, 1);
  sl_job_unref(job);
  sl_loop_close(&loop);
  if (work.code != 0) {
    char text[SL_ERROR_TEXT_BYTES];
    fprintf(stderr, "%s\n", sl_error_text(&work.error, text, sizeof text));
    free(result);
    return 1;
  }
  uint64_t operations = result->read.operations + result->write.operations;
  printf("%s operations %" PRIu64 " bytes %" PRIu64 " calls %" PRIu64
         " errors %" PRIu64 " bad %" PRIu64 " ns_per_operation %.1f\n",
         sl_end_name(result->end), operations,
         result->read.bytes + result->write.bytes,
         result->read.calls + result->write.calls, result->errors_total,
         result->bad_sectors,
         (double)result->total_ns / (double)(operations ? operations : 1));
  sl_workload_result_release(result);
  free(result);
  return 0;
}
