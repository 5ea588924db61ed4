/* SPDX-License-Identifier: MIT */
#include "core/run/loop.h"

#include "bindings/host/host.h"

/* turn(wait) -> alive: one turn of the loop; its callbacks run inside */
static int l_turn(lua_State *L) {
  int alive = sl_loop_turn(l_loop(L), lua_toboolean(L, 1));
  lua_pushboolean(L, alive);
  return 1;
}

/* now_ns() -> integer: the clock of the run (boot time or virtual) */
static int l_now_ns(lua_State *L) {
  lua_pushinteger(L, sl_clock_now_ns(&l_loop(L)->clock));
  return 1;
}

/* monotonic_ns() -> integer: the clock that times operations */
static int l_monotonic_ns(lua_State *L) {
  lua_pushinteger(L, sl_monotonic_ns());
  return 1;
}

static int l_is_virtual(lua_State *L) {
  lua_pushboolean(L, l_loop(L)->clock.is_virtual);
  return 1;
}

/* wall() -> string: a label, never for durations */
static int l_wall(lua_State *L) {
  char text[SL_WALL_BYTES];
  lua_pushstring(L, sl_wall_text(text, sizeof text));
  return 1;
}

static int l_boot_id(lua_State *L) {
  char text[SL_BOOT_ID_BYTES];
  lua_pushstring(L, sl_boot_id(text, sizeof text));
  return 1;
}

/* handles() -> handles, in_flight: what is open now, for leak tests */
static int l_handles(lua_State *L) {
  lua_pushinteger(L, l_loop(L)->handles);
  lua_pushinteger(L, l_loop(L)->in_flight);
  return 2;
}

int luaopen_storlua_core_loop(lua_State *L);
int luaopen_storlua_core_loop(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"turn", l_turn},       {"now_ns", l_now_ns},
      {"wall", l_wall},       {"monotonic_ns", l_monotonic_ns},
      {"boot_id", l_boot_id}, {"is_virtual", l_is_virtual},
      {"handles", l_handles}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
