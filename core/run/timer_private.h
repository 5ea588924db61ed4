/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_TIMER_PRIVATE_H
#define STORLUA_CORE_RUN_TIMER_PRIVATE_H

#include "core/run/timer.h"

/* Advances virtual time to the soonest armed timer and fires it, with all
 * others due at the same instant.  For sl_loop_turn. */
void sl_timer_fire_virtual(struct sl_loop *loop);

/* Frees a timer of ours that the loop finds when it is closed.  Returns 0 for
 * any other handle. */
int sl_timer_close_leftover(uv_handle_t *handle);

#endif
