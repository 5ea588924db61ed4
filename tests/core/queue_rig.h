/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_TESTS_CORE_QUEUE_RIG_H
#define STORLUA_TESTS_CORE_QUEUE_RIG_H

/* The queued engines, and a spec for one of them. */

#include "core/workload_rig.h"

static const char *const engines[] = {"libaio", "posixaio", "io_uring"};
enum { ENGINES = 3 };

static inline bool have(const char *engine) {
#ifdef __SANITIZE_THREAD__
  /* The C library starts these threads from threads of its own that the
   * sanitizer never saw begin, and it crashes in them. */
  if (strcmp(engine, "posixaio") == 0) return false;
#endif
  return sl_engine_probe(engine, NULL) == 0;
}

static inline struct sl_workload_spec spec_of(const char *engine,
                                              enum sl_operation operation,
                                              unsigned depth) {
  struct sl_workload_spec spec = rig_spec(operation);
  spec.engine = sl_engine_find(engine);
  spec.queue_depth = depth;
  spec.engine_forced = true; /* the queue is what is tested, also in memory */
  spec.order = SL_ORDER_RANDOM;
  return spec;
}

#endif
