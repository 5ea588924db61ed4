/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_STALL_H
#define STORLUA_CORE_RUN_STALL_H

/* Watches that the loop comes back to waiting: a script that computes for
 * long, or a blocking call on the loop's thread, delays every timer and
 * watcher.  A small thread reads the loop's heartbeat and asks for the place
 * while the loop is busy; the loop itself reports the stall when it is over.
 * The same thread keeps asking when a stop was requested (sl_signals) and the
 * loop does not come back to see it. */

#include "core/run/loop.h"

struct sl_stall;

enum sl_stall_ask {
  SL_STALL_WHERE = 1, /* remember where the program is now */
  SL_STALL_STOP = 2   /* it should stop, and does not return to the loop */
};

struct sl_stall_listener {
  /* On the watch's thread: pass the question to the loop's thread. */
  void (*ask)(enum sl_stall_ask what, void *user);
  /* On the loop's thread: it had been busy for this long. */
  void (*stalled)(int64_t busy_ns, void *user);
  void *user;
};

/* Starts the watch: a turn of more than `limit_ns` is a stall. */
int sl_stall_start(struct sl_loop *loop, int64_t limit_ns,
                   const struct sl_stall_listener *listener,
                   struct sl_error *e);

/* Ends the thread.  Before sl_signals_end and sl_loop_close. */
void sl_stall_end(struct sl_loop *loop);

/* For the loop. */
void sl_stall_turn_ended(struct sl_stall *stall, int64_t busy_ns);

#endif
