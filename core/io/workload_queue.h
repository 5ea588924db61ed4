/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_WORKLOAD_QUEUE_H
#define STORLUA_CORE_IO_WORKLOAD_QUEUE_H

/* The slots of a queued workload; for workload_queue*.c only. */

#include "core/io/workload_private.h"

struct sl_slot {
  struct sl_request request; /* first: reap gives back its address */
  struct sl_step step;
};

struct sl_queue {
  unsigned depth;
  struct sl_slot *slots;
  struct sl_slot **idle; /* a stack */
  unsigned idle_count;
  struct sl_request **ready; /* not yet taken by the engine */
  unsigned ready_count;
  struct sl_request **done;
  unsigned busy[2]; /* by enum sl_op: ready or under way */
  int64_t busy_since_ns[2];
  uint64_t bytes;        /* of what is busy */
  uint64_t oldest;       /* no visit before this one is busy */
  uint64_t ended;        /* first visit that did not end */
  int64_t hold_until_ns; /* the rate lets nobody start before; or -1 */
};

/* The earliest visit that is ready or under way, else the next one. */
uint64_t sl_queue_oldest(const struct sl_run *run, const struct sl_queue *q);

/* The queue itself failed: what became of the operations in it is not known.
 * The engine waits for them when it is closed. */
void sl_queue_give_up(struct sl_run *run, struct sl_queue *q, int code);

#endif
