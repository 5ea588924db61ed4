/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_BANDWIDTH_H
#define STORLUA_CORE_MEMORY_BANDWIDTH_H

/* One measurement of memory bandwidth: an operation, a size, some threads.
 *
 * Every thread has buffers of its own and touches and fills them itself.  All
 * kernels that the CPU can run are tried shortly, then the best is measured.
 * Read sums are compared in every sample.  Destinations are destroyed before
 * the samples, outside the timed part, and compared after them, word by word,
 * wherever a sample worked: nothing is optimised away, and no wrong copy is
 * fast.  For the trials one word in each page is destroyed, all are compared.
 *
 * Payload is buffer_bytes for each pass and thread, as STREAM's N: what the
 * loop reads and writes (moved) is payload times facts.reads + facts.writes.
 */

#include <stdatomic.h>

#include "core/memory/arena.h"
#include "core/memory/crew.h"
#include "core/memory/kernel.h"

enum { SL_BANDWIDTH_SAMPLES_MAX = 1000, SL_KERNEL_NAME_BYTES = 32 };

struct sl_bandwidth_spec {
  enum sl_memory_op op;
  char kernel[SL_KERNEL_NAME_BYTES]; /* "": the best */
  int64_t buffer_bytes; /* of each buffer of each thread; of 4096 a multiple */
  unsigned threads;
  unsigned cpu_count; /* 0: any */
  int cpus[SL_CREW_MAX];
  bool pin; /* else the system moves the threads about */
  enum sl_pages pages;
  unsigned samples;
  int64_t sample_ns; /* least length of one */
  int64_t limit_ns;  /* of all of it; 0: none */
};

enum sl_bandwidth_end {
  SL_BANDWIDTH_COMPLETE,
  SL_BANDWIDTH_CANCELLED,
  SL_BANDWIDTH_TIME_LIMIT
};

struct sl_bandwidth_sample {
  int64_t bytes; /* payload of all threads */
  int64_t ns;    /* first begin to last end */
};

struct sl_bandwidth_result {
  enum sl_bandwidth_end end;
  const struct sl_kernel *kernel; /* NULL when it ended before */
  struct {
    const char *name;
    struct sl_bandwidth_sample best;
  } tried[SL_KERNELS_MAX];
  unsigned tried_count;
  struct sl_bandwidth_sample samples[SL_BANDWIDTH_SAMPLES_MAX];
  unsigned sample_count;
  unsigned retaken;   /* samples that others on the CPUs cut short: taken again,
                         at most as many as were asked for */
  int64_t faults;     /* page faults inside all of the timed parts */
  int64_t switches;   /* involuntary ones, inside the samples */
  int64_t huge_bytes; /* of all arenas; -1 unknown */
  int64_t arena_bytes;
  int node; /* NUMA node of the first page; -1 unknown */
  uint64_t physical_min, physical_max; /* of sampled pages; 0 unknown */
  int cpus[SL_CREW_MAX];
  bool verified;     /* all that was compared was right */
  uint64_t checksum; /* sum of the 64-bit words of the destination, or what
                        a read of its first chunk returns */
  struct {           /* the first wrong word, when not verified */
    const char *kernel;
    unsigned thread;
    int64_t offset; /* -1: a wrong sum of a read */
    uint64_t expected, found;
  } wrong;
};

struct sl_bandwidth_progress {
  _Atomic(const char *) phase; /* static text */
  _Atomic int64_t bytes;       /* payload so far */
};

/* -EINVAL with a hint; touches nothing. */
int sl_bandwidth_check(const struct sl_bandwidth_spec *spec,
                       struct sl_error *e);

/* Runs on the calling thread and the crew's.  -ENOMEM with the numbers when
 * the memory is not free, before any of it is taken.  `job` may be NULL. */
int sl_bandwidth_run(const struct sl_bandwidth_spec *spec, struct sl_job *job,
                     struct sl_bandwidth_progress *progress,
                     struct sl_bandwidth_result *result, struct sl_error *e);

/* What it takes, with the space between the buffers. */
int64_t sl_bandwidth_memory_bytes(const struct sl_bandwidth_spec *spec);

#endif
