/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_CREW_H
#define STORLUA_CORE_MEMORY_CREW_H

/* Threads that do the same thing at the same time, each on a CPU of its own.
 * A job's thread leads them: it gives the task, waits, and watches for cancel
 * and for the time limit. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/run/job.h"

enum { SL_CREW_MAX = 256 };

struct sl_member {
  unsigned index;
  int cpu;                  /* -1: not pinned */
  const atomic_bool *stop;  /* to be read every 50 ms of work or less */
  int64_t begin_ns, end_ns; /* of the last task */
  int64_t off_cpu_ns;       /* of it: the CPU was somebody else's */
  int64_t faults, switches; /* page faults and involuntary switches in it */
};

struct sl_crew;

/* How many CPUs this process may use now, at most SL_CREW_MAX.  (What the
 * kernel lists as allowed holds those that are offline, too.) */
unsigned sl_crew_cpus(void);

/* Chooses `count` of the CPUs this process may use.  `asked` lists CPUs, or
 * is NULL for any.  -EINVAL with a hint when there are not so many, or when
 * one of the list is forbidden, absent or named twice. */
int sl_crew_choose(unsigned count, const int *asked, unsigned asked_count,
                   int *cpus, struct sl_error *e);

/* Starts the threads; cpus[i] < 0 leaves one unpinned.  The caller owns *out
 * and ends it with sl_crew_end. */
int sl_crew_start(unsigned count, const int *cpus, struct sl_crew **out,
                  struct sl_error *e);

/* Every member runs `task` once; they begin together.  Returns when all have
 * ended: 0, or -ECANCELED when the job was cancelled, or -ETIMEDOUT after
 * `deadline_ns` (monotonic, 0 for none); `stop` was then set for them, and
 * stays set. */
int sl_crew_run(struct sl_crew *crew, struct sl_job *job, int64_t deadline_ns,
                void (*task)(struct sl_member *member, void *data), void *data);

unsigned sl_crew_count(const struct sl_crew *crew);
const struct sl_member *sl_crew_member(const struct sl_crew *crew,
                                       unsigned index);

/* From the first begin to the last end of the last task. */
int64_t sl_crew_elapsed_ns(const struct sl_crew *crew);

void sl_crew_end(struct sl_crew *crew);

#endif
