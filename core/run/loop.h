/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_LOOP_H
#define STORLUA_CORE_RUN_LOOP_H

/* The event loop of the host: libuv's loop, the clock of the run, and the
 * count of handles that somebody still owns.  All of core/run hangs on one of
 * these.  Loop thread only, except where a function says otherwise. */

#include <stdatomic.h>
#include <stdint.h>
#include <uv.h>

#include "core/base/clock.h"
#include "core/base/error.h"

struct sl_timer;
struct sl_stall;

struct sl_loop {
  uv_loop_t uv;
  uv_prepare_t before_wait; /* these two mark where a turn ends and begins */
  uv_check_t after_wait;
  struct sl_stall *stall; /* NULL without a stall watch */
  struct sl_clock clock;
  struct sl_timer *timers; /* armed virtual timers, soonest first */
  unsigned handles;        /* open handles of ours: timers, jobs, children */
  unsigned in_flight;      /* jobs and children that have not delivered */
  uint64_t deliveries;     /* counted by who calls back the loop's owner:
                              virtual time waits for what they cause */
  /* Told about every process group of ours that begins or has gone, for the
   * supervisor, who kills what is left when the host dies.  May be NULL. */
  void (*on_group)(void *user, int pgid, int alive);
  void *on_group_user;
};

/* `virtual_time` non-zero: timers run on virtual time, which moves only when
 * no job runs and nothing else is ready. */
int sl_loop_init(struct sl_loop *loop, int virtual_time, struct sl_error *e);

/* One turn: waits for events if `wait` is non-zero, then runs their
 * callbacks.  Under virtual time it advances the clock to the next timer when
 * nothing else is pending.  Returns 0 when no active handle is left. */
int sl_loop_turn(struct sl_loop *loop, int wait);

/* Closes every handle that is still open, runs the close callbacks and frees
 * the loop.  Returns the number of handles that had been left open. */
unsigned sl_loop_close(struct sl_loop *loop);

#endif
