/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_LATENCY_H
#define STORLUA_CORE_MEMORY_LATENCY_H

/* How long one load takes whose address comes from the load before: a walk
 * along one random cycle through all lines of a working set.  `locality_bytes`
 * keeps the walk inside a block of that size until all of its lines are
 * visited, so that misses of the TLB do not count; 0 walks over everything.
 * The same machine gives 100 or 330 ns by this alone. */

#include <stdatomic.h>

#include "core/memory/arena.h"
#include "core/memory/crew.h"

enum { SL_LATENCY_LINE = 64, SL_LATENCY_SAMPLES_MAX = 100 };

struct sl_latency_spec {
  int64_t bytes;          /* a multiple of 4096 */
  int64_t locality_bytes; /* 0, or a multiple of 4096 that divides bytes */
  enum sl_pages pages;
  int cpu; /* -1: any */
  unsigned samples;
  int64_t sample_ns;
  int64_t limit_ns; /* 0: none */
  uint64_t seed;
};

struct sl_latency_result {
  bool complete; /* else it was cancelled or ran into the limit */
  bool timed_out;
  unsigned sample_count;
  struct {
    int64_t loads, ns;
  } samples[SL_LATENCY_SAMPLES_MAX];
  unsigned retaken; /* samples that others on the CPU cut short */
  int64_t faults, huge_bytes, arena_bytes;
  bool verified; /* the cycle came back to its start after all lines */
};

int sl_latency_run(const struct sl_latency_spec *spec, struct sl_job *job,
                   struct sl_latency_result *result, struct sl_error *e);

#endif
