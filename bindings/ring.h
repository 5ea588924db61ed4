/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_RING_H
#define STORLUA_BINDINGS_RING_H

/* What the files bindings/ring*.c share.  Slots count from 1 in Lua. */

#include <lua.h>
#include <uv.h>

#include "bindings/host/host.h"
#include "core/io/ring.h"

struct l_ring {
  struct sl_ring *ring; /* NULL when closed */
  struct sl_host *host;
  uv_poll_t *poll; /* wakes the loop; its callback does nothing */
  bool is_counted; /* in the loop's in_flight */
  bool is_shut;    /* begins nothing more */
  /* What l_turn hands to the task it runs: set from there to `finish` only. */
  const lua_State *woken;
  const struct sl_ring_done *outcome;
  struct sl_ring_done done[]; /* of a turn; owners are tasks' coroutines */
};

/* The ring at stack index 1, open or closed. */
struct l_ring *l_to_ring(lua_State *L);
/* The open ring there; raises when it is closed. */
struct sl_ring *l_check_ring(lua_State *L);

/* Leaves the ring, NULL then, to the caller. */
struct sl_ring *l_take_ring(struct l_ring *r);

/* operation, turner, interrupt, shut, cancel, stuck, abandon */
extern const luaL_Reg l_ring_operation_methods[];
/* fill, verify, get_u64, put_u64, get, put */
extern const luaL_Reg l_ring_data_methods[];

#endif
