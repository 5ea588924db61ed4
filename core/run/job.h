/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_JOB_H
#define STORLUA_CORE_RUN_JOB_H

/* Work that may block, on a thread of its own.
 *
 * Never libuv's pool: four long items there delay every other file call, and
 * leaving the process joins them.  A job that hangs in the kernel is reported
 * while it hangs (sl_job_stuck), then abandoned: its thread and memory are
 * left behind and the process ends without them. */

#include <stdbool.h>
#include <stdint.h>

#include "core/run/loop.h"

struct sl_job;

struct sl_job_class {
  const char *name; /* "workload", "sync", … static */
  /* The work, on the job's thread.  Reads sl_job_cancelled between steps. */
  void (*run)(struct sl_job *job, void *data);
  /* Frees `data` on the loop thread, once the job is done and its owner has
   * let go.  For an abandoned job on its own thread, when that comes back. */
  void (*release)(void *data);
};

/* Starts a thread (all signals blocked) that runs `class->run(job, data)`.
 * `done(job, user)` is called on the loop thread when it has returned; not
 * after sl_job_abandon.  Takes ownership of `data` on success only.
 * The caller owns *out and gives it up with sl_job_unref. */
int sl_job_start(struct sl_loop *loop, const struct sl_job_class *class,
                 void *data, void (*done)(struct sl_job *job, void *user),
                 void *user, struct sl_job **out, struct sl_error *e);

void *sl_job_data(struct sl_job *job);
const char *sl_job_name(const struct sl_job *job);
/* True once `done` has been or is about to be called.  Loop thread. */
bool sl_job_is_done(const struct sl_job *job);

/* Asks the job to stop at its next check.  Also interrupts a blocking system
 * call once with a signal that does nothing, so a sleeping pace or a slow pipe
 * ends at once.  Loop thread. */
void sl_job_cancel(struct sl_job *job);

/* Gives the job up: `done` will not be called.  Loop thread. */
void sl_job_abandon(struct sl_job *job);

/* How many given-up jobs have not come back: while there is one, the process
 * may not be able to end. */
unsigned sl_job_abandoned_running(void);

/* The same for another thread that was given up (+1) or came back (-1). */
void sl_job_count_abandoned(int change);

/* The owner's last word.  Frees the job now or when its thread returns. */
void sl_job_unref(struct sl_job *job);

/* --- for the job's own thread --- */

/* One relaxed load: cheap enough for every record. */
bool sl_job_cancelled(const struct sl_job *job);

/* Says what the thread is about to do, for sl_job_stuck: `what` must be a
 * static string; NULL says that it is not in a system call any more. */
void sl_job_enter(struct sl_job *job, const char *what, int64_t offset);

/* The same for a loop that has just read the monotonic clock: three stores.
 * Returns sl_job_cancelled(job), so that one call per turn is enough. */
bool sl_job_enter_at(struct sl_job *job, const char *what, int64_t offset,
                     int64_t now_ns);

/* --- for whoever watches it, loop thread --- */

struct sl_job_stuck {
  const char *what; /* NULL when the thread is not in a system call */
  int64_t offset;
  int64_t since_ns; /* monotonic */
  int thread_id;
  char kernel_stack[512]; /* /proc/self/task/<tid>/stack when readable, else
                             wchan, else empty */
};
void sl_job_stuck(struct sl_job *job, struct sl_job_stuck *stuck);

#endif
