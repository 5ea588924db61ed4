/* SPDX-License-Identifier: MIT */
#include "core/run/timer.h"

#include "bindings/class.h"
#include "bindings/host/host.h"

#define TIMER "storlua.timer"

/* An armed timer is anchored in the registry by its own userdata, so one
 * that nobody holds still fires; firing or cancelling lets it go. */
struct l_timer {
  struct sl_timer *timer; /* NULL when fired or cancelled */
  struct sl_host *host;
  int fire_ref;
  int self_ref;
};

static void disarm(lua_State *L, struct l_timer *t) {
  t->timer = NULL;
  luaL_unref(L, LUA_REGISTRYINDEX, t->fire_ref);
  luaL_unref(L, LUA_REGISTRYINDEX, t->self_ref);
  t->fire_ref = t->self_ref = LUA_NOREF;
}

static void on_fire(struct sl_timer *timer, void *user) {
  (void)timer;
  struct l_timer *t = user;
  t->timer = NULL;
  l_host_call(t->host, t->fire_ref, 0);
  disarm(t->host->L, t);
}

/* start(after_ns, fn) -> timer: calls fn once, not before its time */
static int l_start(lua_State *L) {
  lua_Integer after_ns = luaL_checkinteger(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  struct l_timer *t = lua_newuserdatauv(L, sizeof *t, 0); /* ns fn timer */
  *t = (struct l_timer){NULL, l_host(L), LUA_NOREF, LUA_NOREF};
  luaL_setmetatable(L, TIMER);
  lua_pushvalue(L, 2);
  t->fire_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushvalue(L, 3);
  t->self_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  t->timer = sl_timer_start(l_loop(L), after_ns, on_fire, t);
  if (!t->timer) {
    disarm(L, t);
    return luaL_error(L, "not enough memory for a timer");
  }
  return 1;
}

static int l_cancel(lua_State *L) {
  struct l_timer *t = luaL_checkudata(L, 1, TIMER);
  if (!t->timer) return 0;
  sl_timer_cancel(t->timer);
  disarm(L, t);
  return 0;
}

int luaopen_storlua_core_timer(lua_State *L);
int luaopen_storlua_core_timer(lua_State *L) {
  static const luaL_Reg methods[] = {{"cancel", l_cancel}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"start", l_start}, {NULL, NULL}};
  l_new_class(L, TIMER, methods);
  luaL_newlib(L, functions);
  return 1;
}
