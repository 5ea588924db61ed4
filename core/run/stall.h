/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_STALL_H
#define STORLUA_CORE_RUN_STALL_H

/* Watches that the loop comes back to waiting: a script that computes for
 * long, or a blocking call on the loop's thread, delays every timer and
 * watcher.  The supervisor reads the loop's pulse and interrupts the loop's
 * thread, which then notes where it is; the loop itself reports the stall when
 * it is over.  The supervisor keeps interrupting when a stop was requested
 * (sl_signals) and the loop does not come back to see it. */

#include <stdbool.h>

#include "core/run/loop.h"

struct sl_stall;

/* How often the supervisor looks. */
enum { SL_STALL_LOOK_MS = 100 };

enum sl_stall_ask {
  SL_STALL_WHERE = 1, /* remember where the program is now */
  SL_STALL_STOP = 2   /* it should stop, and does not return to the loop */
};

struct sl_stall_listener {
  /* On the loop's thread: it had been busy for this long. */
  void (*stalled)(int64_t busy_ns, void *user);
  void *user;
};

/* Starts the watch: a turn of more than `limit_ns` is a stall.  After
 * sl_signals_start. */
int sl_stall_start(struct sl_loop *loop, int64_t limit_ns,
                   const struct sl_stall_listener *listener,
                   struct sl_error *e);

/* Before sl_signals_end and sl_loop_close. */
void sl_stall_end(struct sl_loop *loop);

/* When the loop's thread was interrupted, in the signal handler: what it is
 * asked (enum sl_stall_ask, or-ed). */
int sl_stall_asked(struct sl_loop *loop);

/* For the loop. */
void sl_stall_turn_ended(struct sl_stall *stall, int64_t busy_ns);

/* The supervisor's side; starts as zeros. */
struct sl_stall_watch {
  int64_t asked_turn_ns; /* the turn that was asked where */
  int64_t shout_at_ns;   /* busy time of the next complaint */
};

/* Tells whether the host is to be interrupted now.  Complains about a loop
 * that has been busy for so long that it may never report itself. */
bool sl_stall_look(struct sl_stall_watch *watch);

#endif
