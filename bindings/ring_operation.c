/* SPDX-License-Identifier: MIT */
/* The way of one operation: a call of Lua queues it and yields; a turn hands
 * over what is queued and finds what is done. */
#include "bindings/ring.h"

#include <errno.h>
#include <lauxlib.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "core/base/clock.h"

enum { RING = 1, CHECKPOINT, ARM, RAISE }; /* upvalues of an operation */

static int raise_error(lua_State *L, const struct sl_error *e) {
  lua_pushvalue(L, lua_upvalueindex(RAISE));
  l_push_error(L, e);
  lua_remove(L, -4); /* nil */
  lua_call(L, 3, 0);
  return 0;
}

static void call_upvalue(lua_State *L, int index) {
  lua_pushvalue(L, lua_upvalueindex(index));
  lua_call(L, 0, 0);
}

/* Something stands against the wait, or it has failed, or was ended. */
static int finish_other(lua_State *L, const struct l_ring *r,
                        const struct sl_ring_done *done) {
  struct sl_error e;
  call_upvalue(L, CHECKPOINT);
  if (!done || !r->ring) {
    sl_error_set(&e, -ECANCELED, "ring", NULL, -1);
    sl_error_hint(&e, "the wait was ended before the kernel had answered");
    return raise_error(L, &e);
  }
  if (done->result >= 0) {
    lua_pushinteger(L, done->result);
    return 1;
  }
  sl_ring_result(r->ring, done->slot, &e);
  return raise_error(L, &e);
}

/* With the result on top when l_turn has resumed it; else the wait has been
 * ended by the scheduler. */
static int finish(lua_State *L, int status, lua_KContext context) {
  (void)status;
  struct l_ring *r = (struct l_ring *)context;
  const struct sl_ring_done *done = r->woken == L ? r->outcome : NULL;
  r->woken = NULL;
  if (done && done->result >= 0 && !r->host->alerts) return 1;
  return finish_other(L, r, done);
}

static int refuse(lua_State *L, const struct sl_ring *ring, enum sl_ring_op op,
                  int code) {
  switch (code) {
    case -EBUSY:
      return luaL_error(L, op == SL_RING_FSYNC
                               ? "more flushes under way than slots"
                               : "the slot has an operation under way");
    case -EBADF:
      return luaL_error(L, "the ring was opened for reading: write = true");
    default:
      return luaL_error(L, "no such operation: slots 1 to %d, %d bytes at most",
                        (int)sl_ring_slots(ring),
                        (int)sl_ring_record_bytes(ring));
  }
}

/* luaL_checkinteger at half the price, for all but 0. */
static inline lua_Integer integer(lua_State *L, int index) {
  lua_Integer value = lua_tointegerx(L, index, NULL);
  return value ? value : luaL_checkinteger(L, index);
}

/* The way of each operation: operate(self, slot, offset [, bytes]) waits ->
 * bytes moved */
static inline int operate(lua_State *L, enum sl_ring_op op) {
  struct l_ring *r = lua_touserdata(L, lua_upvalueindex(RING));
  if (r->is_shut) return luaL_error(L, "the ring is closed");
  bool is_plain = r->host->task == L && !r->host->alerts;
  if (!is_plain) call_upvalue(L, CHECKPOINT);
  if (!lua_isyieldable(L)) return luaL_error(L, "this call cannot wait here");
  lua_Integer slot = 0, offset = 0, bytes = 0;
  if (op != SL_RING_FSYNC) {
    slot = integer(L, 2) - 1;
    offset = integer(L, 3);
    bytes = lua_gettop(L) > 3 && !lua_isnil(L, 4)
                ? integer(L, 4)
                : (lua_Integer)sl_ring_record_bytes(r->ring);
    luaL_argcheck(L, (lua_Unsigned)slot < SL_RING_SLOTS_MAX, 2,
                  "there is no such slot");
  }
  int code = sl_ring_queue(r->ring, (unsigned)slot, op, (uint64_t)bytes,
                           (uint64_t)offset, L);
  if (code != 0) return refuse(L, r->ring, op, code);
  if (!is_plain) call_upvalue(L, ARM);
  return lua_yieldk(L, 0, (lua_KContext)r, finish);
}

static int l_read(lua_State *L) { return operate(L, SL_RING_READ); }

static int l_write(lua_State *L) { return operate(L, SL_RING_WRITE); }

static int l_fsync(lua_State *L) { return operate(L, SL_RING_FSYNC); }

/* ring:operation(op, checkpoint, arm, raise) -> operate
 * op: 0 read, 1 write, 2 fsync.  checkpoint() raises if the task was
 * cancelled, and is called before and after the wait; arm() is called when it
 * begins under a shield; raise(message, code, fields) raises an error of the
 * library. */
static int l_operation(lua_State *L) {
  static const lua_CFunction operations[SL_RING_OPS] = {l_read, l_write,
                                                        l_fsync};
  l_check_ring(L);
  lua_Integer op = l_check_range(L, 2, 0, SL_RING_OPS - 1);
  lua_remove(L, 2);
  lua_settop(L, RAISE);
  for (int i = CHECKPOINT; i <= RAISE; i++)
    luaL_checktype(L, i, LUA_TFUNCTION);
  lua_pushcclosure(L, operations[op], RAISE);
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
  if (ok) lua_pushnil(L);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushthread(co);
  lua_xmove(co, L, 1);
  lua_pushboolean(L, ok);
  lua_rotate(L, -4, -1); /* ended, coroutine, ok, error */
  lua_call(L, 3, 0);
}

static inline void wake(lua_State *L, struct l_ring *r,
                        const struct sl_ring_done *done) {
  lua_State *co = done->owner;
  int given = done->result >= 0;
  if (given) lua_pushinteger(co, done->result);
  r->woken = co;
  r->outcome = done;
  int status = l_host_step(L, co, given);
  if (status != 0) tell_end(L, co, status > 0);
}

/* turn() -> count: submits, and runs the tasks whose operations are done up to
 * their next wait.  A closure: ring, ended(coroutine, ok, error), idle(). */
static int l_turn(lua_State *L) {
  struct l_ring *r = lua_touserdata(L, lua_upvalueindex(RING));
  if (!r->ring) {
    lua_pushinteger(L, 0);
    return 1;
  }
  int count = sl_ring_turn(r->ring, r->done, 2 * sl_ring_slots(r->ring));
  if (count < 0) return luaL_error(L, "io_uring: %s", sl_error_name(count));
  count_in(r, &r->host->loop);
  for (int i = 0; i < count; i++) {
    if (r->done[i].owner) wake(L, r, &r->done[i]);
  }
  if (r->ring && sl_ring_in_flight(r->ring) == 0) call_upvalue(L, 3);
  lua_pushinteger(L, count + (r->ring && sl_ring_is_held_up(r->ring)));
  return 1;
}

/* ring:turner(ended, idle) -> turn; idle() is called when nothing is under
 * way */
static int l_turner(lua_State *L) {
  l_check_ring(L);
  lua_settop(L, 3);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_pushcclosure(L, l_turn, 3);
  return 1;
}

/* ring:interrupt(coroutine) -> whether it was waiting: its operations are
 * nobody's any more.  Whoever calls it wakes the task. */
static int l_interrupt(lua_State *L) {
  const struct l_ring *r = l_to_ring(L);
  luaL_checktype(L, 2, LUA_TTHREAD);
  lua_pushboolean(L,
                  r->ring && sl_ring_cancel(r->ring, lua_tothread(L, 2)) > 0);
  return 1;
}

/* ring:shut(): no operation begins any more */
static int l_shut(lua_State *L) {
  l_to_ring(L)->is_shut = true;
  return 0;
}

/* ring:cancel(): asks the kernel to end all that is under way */
static int l_cancel(lua_State *L) {
  sl_ring_cancel(l_check_ring(L), NULL);
  return 0;
}

static int push_stuck(lua_State *L, const struct sl_ring *ring) {
  struct sl_ring_stuck stuck = sl_ring_stuck(ring);
  if (!stuck.what) return 0;
  lua_createtable(L, 0, 5);
  l_set_text(L, "what", stuck.what);
  if (stuck.offset >= 0) l_set_count(L, "offset", stuck.offset);
  lua_pushnumber(L, (double)(sl_monotonic_ns() - stuck.since_ns) / 1e9);
  lua_setfield(L, -2, "seconds");
  return 1;
}

/* ring:stuck() -> nil, or {what, offset, seconds} of the oldest operation */
static int l_stuck(lua_State *L) { return push_stuck(L, l_check_ring(L)); }

/* ring:abandon() -> {what, offset, seconds} of the oldest operation, coroutines
 * of the tasks that waited; the ring is closed then, and something must have
 * been under way */
static int l_abandon(lua_State *L) {
  if (!push_stuck(L, l_check_ring(L))) return luaL_error(L, "the ring is idle");
  struct l_ring *r = l_to_ring(L);
  unsigned max = 2 * sl_ring_slots(r->ring);
  unsigned count = sl_ring_abandon(l_take_ring(r), r->done, max);
  lua_createtable(L, (int)count, 0);
  for (unsigned i = 0; i < count; i++) {
    lua_State *co = r->done[i].owner;
    lua_pushthread(co);
    if (co != L) lua_xmove(co, L, 1);
    lua_rawseti(L, -2, i + 1);
  }
  return 2;
}

const luaL_Reg l_ring_operation_methods[] = {
    {"operation", l_operation}, {"turner", l_turner},
    {"interrupt", l_interrupt}, {"shut", l_shut},
    {"cancel", l_cancel},       {"stuck", l_stuck},
    {"abandon", l_abandon},     {NULL, NULL}};
