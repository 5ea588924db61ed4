/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_TESTS_CORE_SYNC_RIG_H
#define STORLUA_TESTS_CORE_SYNC_RIG_H

/* The synchronous engines, and a spec for one of them. */

#include "core/workload_rig.h"

static const char *const engines[] = {"psync", "sync", "vsync", "stdio",
                                      "mmap"};
enum { ENGINES = 5, FILE_BYTES = 37 * 4096 + 1536 };

static inline struct sl_workload_spec spec_of(const char *engine,
                                              enum sl_operation operation) {
  struct sl_workload_spec spec = rig_spec(operation);
  spec.engine = sl_engine_find(engine);
  if (strcmp(engine, "vsync") == 0) spec.vectors = 3;
  spec.range_bytes = FILE_BYTES;
  spec.order = SL_ORDER_RANDOM;
  return spec;
}

#endif
