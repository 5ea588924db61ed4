/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_HOST_INTERRUPT_H
#define STORLUA_BINDINGS_HOST_INTERRUPT_H

/* Getting a word in while Lua runs.  A permanent count hook would halve Lua's
 * speed, so one is set only on request, on the coroutine that runs now, from
 * a signal handler on the loop's thread. */

#include "bindings/host/host.h"

/* In a signal handler on the loop's thread: the running Lua code calls
 * L_HOST_INTERRUPT at its next instruction, with `what` (enum sl_stall_ask),
 * and raises what it returns. */
void l_interrupt_ask(struct sl_host *host, int what);

/* A coroutine yielded or ended: whoever insisted on its end lets go. */
void l_interrupt_left(struct sl_host *host, lua_State *co);

#endif
