/* SPDX-License-Identifier: MIT */
/* Runs one workload without the host, so that its instructions, system calls
 * and bytes can be counted from outside:
 *
 *   workload_run ENGINE PATH read|write|mixed ORDER RECORD RANGE OPERATIONS
 *                [stamp] [verify] [direct]
 *
 * prints operations, bytes, calls, errors, bad sectors and ns per operation. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/workload.h"

static uint64_t number(const char *text) {
  return strtoull(text, NULL, 0);
}

static enum sl_order_kind order(const char *name) {
  if (strcmp(name, "random") == 0) return SL_ORDER_RANDOM;
  if (strcmp(name, "backward") == 0) return SL_ORDER_BACKWARD;
  if (strcmp(name, "strided") == 0) return SL_ORDER_STRIDED;
  return SL_ORDER_SEQUENTIAL;
}

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
  }
  struct sl_workload_result *result = malloc(sizeof *result);
  if (!result) return 1;
  struct sl_error e = {0};
  if (sl_workload_run(&spec, NULL, NULL, NULL, result, &e) != 0) {
    char text[SL_ERROR_TEXT_BYTES];
    fprintf(stderr, "%s\n", sl_error_text(&e, text, sizeof text));
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
