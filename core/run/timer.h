/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_TIMER_H
#define STORLUA_CORE_RUN_TIMER_H

/* One-shot timers on the loop's clock.  Real time is measured from the call
 * that arms (libuv measures from its cached start of turn, which makes a
 * timer after a busy stretch fire early); virtual time comes from the loop. */

#include <stdint.h>

#include "core/run/loop.h"

struct sl_timer;
typedef void (*sl_timer_fn)(struct sl_timer *timer, void *user);

/* Arms a timer that calls `fire` on the loop thread `after_ns` from now
 * (negative acts as 0).  The timer frees itself after `fire` returns or after
 * sl_timer_cancel: neither may be followed by another use of it.  Returns
 * NULL when memory is out. */
struct sl_timer *sl_timer_start(struct sl_loop *loop, int64_t after_ns,
                                sl_timer_fn fire, void *user);

/* Disarms and frees a timer that has not fired. */
void sl_timer_cancel(struct sl_timer *timer);

#endif
