/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_STREAMS_H
#define STORLUA_CORE_IO_STREAMS_H

/* Several workloads with a common start, each in a job of its own.
 *
 * Every stream opens and prepares, then waits until all have; nobody begins
 * when one of them cannot.  What they did at the same time is told apart from
 * the rest: the window reaches from the latest start to the earliest end, and
 * what each moved within it is read off at these two moments.  With a
 * stonewall the first that ends also ends the others.
 *
 * Any thread; held by everybody who may still look at it. */

#include <stdbool.h>
#include <stdint.h>

struct sl_job;
struct sl_workload_progress;

struct sl_streams;

enum { SL_STREAMS_MAX = 1024 };

/* For `count` streams (1 .. SL_STREAMS_MAX), held once; NULL without memory. */
struct sl_streams *sl_streams_new(unsigned count, bool stonewall);
struct sl_streams *sl_streams_hold(struct sl_streams *streams);
void sl_streams_drop(struct sl_streams *streams);

/* --- for the thread of stream `index`, each once and in this order --- */

/* Waits for the others.  0, or -ECANCELED when `job` (may be NULL) was
 * cancelled or another stream left.  `progress` is read until sl_streams_end
 * of the first one that ends. */
int sl_streams_wait(struct sl_streams *streams, unsigned index,
                    const struct sl_workload_progress *progress,
                    const struct sl_job *job);
/* It cannot begin, or not now: those that wait are let go with -ECANCELED. */
void sl_streams_leave(struct sl_streams *streams);
/* Its first counted operation is next. */
void sl_streams_begin(struct sl_streams *streams, unsigned index,
                      int64_t now_ns);
void sl_streams_end(struct sl_streams *streams, unsigned index, int64_t now_ns);
/* True when there is a stonewall and one has ended.  One relaxed load. */
bool sl_streams_stopped(const struct sl_streams *streams);
bool sl_streams_have_stonewall(const struct sl_streams *streams);

/* --- when all have ended --- */

struct sl_window {
  int64_t start_ns, end_ns; /* monotonic; end <= start: never all at once */
};

struct sl_window_share {
  int64_t start_ns, end_ns;   /* of this stream; 0 when it never began */
  uint64_t bytes, operations; /* within the window */
};

/* False unless every stream began and ended.  `shares` has one entry for each
 * stream. */
bool sl_streams_window(struct sl_streams *streams, struct sl_window *window,
                       struct sl_window_share *shares);
unsigned sl_streams_count(const struct sl_streams *streams);

#endif
