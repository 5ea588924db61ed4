/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_HOST_HOST_H
#define STORLUA_BINDINGS_HOST_HOST_H

/* The one Lua state and the one loop of the process, and how C code gets
 * back into Lua. */

#include <lauxlib.h>
#include <lua.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/run/loop.h"

/* What the program tells the library; storlua.core.host.on sets the
 * functions. */
enum l_host_event {
  L_HOST_STOP,      /* fn(signal, name): the first request to stop */
  L_HOST_STALL,     /* fn(seconds): the loop had been busy for so long */
  L_HOST_INTERRUPT, /* fn(what, may_raise) -> error to raise or nil, insist:
                       ask again at the next instruction; interrupt.h */
  L_HOST_FAILURE,   /* fn(text): a callback raised; text has a traceback */
  L_HOST_EVENTS
};

struct sl_host {
  struct sl_loop loop;
  lua_State *L; /* the main state: callbacks run on it */
  int on[L_HOST_EVENTS];
  unsigned callbacks; /* depth of callbacks that run now */

  /* The coroutine that runs now, or L.  Read in a signal handler. */
  _Atomic(lua_State *) running;
  lua_State *task; /* coroutine of the task that runs now (scheduler.lua) */
  unsigned alerts; /* tasks that were cancelled, and shields: while there is
                      one, a wait must ask Lua whether it may be */

  atomic_int asked; /* enum sl_stall_ask, or-ed */
  bool insists;     /* the hook fires at every instruction until it may raise */
};

/* The host of any coroutine of its state. */
struct sl_host *l_host(lua_State *L);
struct sl_loop *l_loop(lua_State *L);

/* Calls the Lua function `ref` (luaL_ref in the registry) on the main state
 * with the `nargs` values on top of it, protected; a failure goes to
 * L_HOST_FAILURE.  For libuv callbacks: never raises.  Pops the arguments. */
void l_host_call(struct sl_host *host, int ref, int nargs);

/* The same with the function of an event; only pops if there is none. */
void l_host_tell(struct sl_host *host, enum l_host_event event, int nargs);

/* lua_pcall with a traceback as message handler. */
int l_host_pcall(lua_State *L, int nargs, int nresults);

/* lua_resume that keeps `running`.  Results as of coroutine.resume: the
 * number of values on top of L, or -1 and the error on top of L. */
int l_host_resume(lua_State *L, lua_State *co, int nargs);

/* Runs a task up to its next wait, dropping what it yields; the `nargs` values
 * that its wait returns are on its own stack.  0 when it waits, 1 when it has
 * ended, -1 when it failed, with the error on top of L. */
int l_host_step(lua_State *L, lua_State *co, int nargs);

#endif
