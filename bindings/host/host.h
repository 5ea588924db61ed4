/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_HOST_HOST_H
#define STORLUA_BINDINGS_HOST_HOST_H

/* The one Lua state and the one loop of the process, and how C code gets
 * back into Lua. */

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

#include "core/run/loop.h"

struct sl_host {
  struct sl_loop loop;
  lua_State *L;          /* the main state: callbacks run on it */
  lua_State *running;    /* coroutine of the task that runs now, or L */
  bool callback_failed;  /* a callback raised: a defect of ours or of a
                            script's on_… handler; ends in exit code 3 */
};

/* The host of any coroutine of its state. */
struct sl_host *l_host(lua_State *L);
struct sl_loop *l_loop(lua_State *L);

/* Calls the Lua function `ref` (luaL_ref in the registry) on the main state
 * with the `nargs` values on top of it, protected, with a traceback to stderr
 * on failure.  For libuv callbacks: never raises.  Pops the arguments. */
void l_host_call(struct sl_host *host, int ref, int nargs);

/* lua_pcall with a traceback as message handler. */
int l_host_pcall(lua_State *L, int nargs, int nresults);

#endif
