/* SPDX-License-Identifier: MIT */
/* The way of one operation: a call of Lua queues it and yields; a turn hands
 * over what is queued and finds what is done. */
#include "bindings/ring.h"

#include <errno.h>
#include <lauxlib.h>

#include "bindings/error.h"

static int raise_error(lua_State *L, const struct sl_error *e) {
  lua_pushvalue(L, lua_upvalueindex(3));
  l_push_error(L, e);
  lua_remove(L, -4); /* nil */
  lua_call(L, 3, 0);
  return 0;
}

/* Lets the scheduler raise what stands against a wait. */
static void check_task(lua_State *L, const struct l_ring *r) {
  if (r->host->task == L && !r->host->alerts) return;
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_call(L, 0, 0);
}

static int finish(lua_State *L, int status, lua_KContext slot) {
  (void)status;
  const struct l_ring *r = lua_touserdata(L, lua_upvalueindex(1));
  struct sl_error e;
  check_task(L, r);
  if (!r->ring) {
    sl_error_set(&e, -ECANCELED, "ring", NULL, -1);
    sl_error_hint(&e, "the ring was closed before the kernel had answered");
    return raise_error(L, &e);
  }
  int64_t result = sl_ring_result(r->ring, (unsigned)slot, &e);
  if (result < 0) return raise_error(L, &e);
  lua_pushinteger(L, result);
  return 1;
}

static int refuse(lua_State *L, const struct sl_ring *ring, int code) {
  switch (code) {
    case -EBUSY:
      return luaL_error(L, "the slot has an operation under way");
    case -EBADF:
      return luaL_error(L, "the ring was opened for reading: write = true");
    default:
      return luaL_error(L, "no such operation: slots 1 to %d, %d bytes at most",
                        (int)sl_ring_slots(ring),
                        (int)sl_ring_record_bytes(ring));
  }
}

/* The way of each operation, so a closure: ring, checkpoint, raise, op.
 * operate(self, slot, offset [, bytes]) waits -> bytes moved
 * A slot is the kernel's until its operation is done: a task that is
 * cancelled waits for that before it raises. */
static int l_operate(lua_State *L) {
  struct l_ring *r = lua_touserdata(L, lua_upvalueindex(1));
  if (!r->ring) return luaL_error(L, "the ring is closed");
  check_task(L, r);
  if (!lua_isyieldable(L)) return luaL_error(L, "this call cannot wait here");
  lua_Integer slot = luaL_checkinteger(L, 2) - 1;
  lua_Integer offset = luaL_checkinteger(L, 3);
  lua_Integer bytes = (lua_Integer)sl_ring_record_bytes(r->ring);
  if (!lua_isnoneornil(L, 4)) bytes = luaL_checkinteger(L, 4);
  luaL_argcheck(L, slot >= 0 && slot < 2 * SL_RING_SLOTS_MAX, 2,
                "there is no such slot");
  int op = (int)lua_tointeger(L, lua_upvalueindex(4));
  int code = sl_ring_queue(r->ring, (unsigned)slot, (enum sl_ring_op)op,
                           (uint64_t)bytes, (uint64_t)offset);
  if (code != 0) return refuse(L, r->ring, code);
  r->waiting[slot] = L;
  return lua_yieldk(L, 0, (lua_KContext)slot, finish);
}

/* ring:operation(op, checkpoint, raise) -> operate; 0 read, 1 write, 2 fsync
 * checkpoint() raises if the task was cancelled; raise(message, code, fields)
 * raises an error of the library. */
static int l_operation(lua_State *L) {
  l_check_ring(L);
  l_check_range(L, 2, 0, SL_RING_OPS - 1);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  luaL_checktype(L, 4, LUA_TFUNCTION);
  lua_settop(L, 4);
  lua_rotate(L, 2, -1); /* ring, checkpoint, raise, op */
  lua_pushcclosure(L, l_operate, 4);
  return 1;
}

/* An idle ring keeps no loop alive. */
static void count_in(struct l_ring *r, struct sl_loop *loop) {
  bool is_busy = sl_ring_in_flight(r->ring) > 0;
  if (is_busy == r->is_counted) return;
  r->is_counted = is_busy;
  if (is_busy) {
    uv_ref((uv_handle_t *)r->poll);
    loop->in_flight++;
  } else {
    uv_unref((uv_handle_t *)r->poll);
    loop->in_flight--;
  }
}

/* The error is on top when it has failed. */
static void tell_end(lua_State *L, lua_State *co, bool ok) {
  int error = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushthread(co);
  lua_xmove(co, L, 1);
  lua_pushboolean(L, ok);
  if (ok) {
    lua_pushnil(L);
  } else {
    lua_pushvalue(L, error);
  }
  lua_call(L, 3, 0);
  if (!ok) lua_pop(L, 1);
}

/* turn() -> count, held_up: submits, and runs the tasks whose operations are
 * done up to their next wait.  A closure: ring, ended(coroutine, ok, error). */
static int l_turn(lua_State *L) {
  struct l_ring *r = lua_touserdata(L, lua_upvalueindex(1));
  struct sl_loop *loop = &r->host->loop;
  if (!r->ring) return 0;
  int count = sl_ring_turn(r->ring, r->done, 2 * SL_RING_SLOTS_MAX);
  if (count < 0) return luaL_error(L, "io_uring: %s", sl_error_name(count));
  count_in(r, loop);
  for (int i = 0; i < count; i++)
    r->woken[i] = r->waiting[r->done[i]];
  for (int i = 0; i < count; i++) {
    int status = l_host_step(L, r->woken[i]);
    if (status != 0) tell_end(L, r->woken[i], status > 0);
  }
  lua_pushinteger(L, count);
  lua_pushboolean(L, r->ring && sl_ring_is_held_up(r->ring));
  return 2;
}

/* ring:turner(ended) -> turn */
static int l_turner(lua_State *L) {
  l_check_ring(L);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_pushcclosure(L, l_turn, 2);
  return 1;
}

const luaL_Reg l_ring_operation_methods[] = {
    {"operation", l_operation}, {"turner", l_turner}, {NULL, NULL}};
