/* SPDX-License-Identifier: MIT */
#include "bindings/streams.h"

#include <errno.h>

#include "bindings/error.h"

#define STREAMS "storlua.streams"

struct sl_streams *l_check_streams(lua_State *L, int index) {
  return *(struct sl_streams **)luaL_checkudata(L, index, STREAMS);
}

/* new(count, stonewall) -> streams */
static int l_new(lua_State *L) {
  unsigned count = (unsigned)l_check_range(L, 1, 1, SL_STREAMS_MAX);
  struct sl_streams **streams = lua_newuserdatauv(L, sizeof(*streams), 0);
  *streams = NULL;
  luaL_setmetatable(L, STREAMS);
  *streams = sl_streams_new(count, lua_toboolean(L, 2));
  if (*streams) return 1;
  struct sl_error e;
  sl_error_set(&e, -ENOMEM, "streams", NULL, -1);
  return l_push_error(L, &e);
}

static int l_drop(lua_State *L) {
  struct sl_streams **streams = luaL_checkudata(L, 1, STREAMS);
  sl_streams_drop(*streams);
  *streams = NULL;
  return 0;
}

/* streams:window() -> start_ns, end_ns, list of {start_ns, end_ns, bytes,
 * operations}; nil unless all of them ran */
static int l_window(lua_State *L) {
  struct sl_streams *streams = l_check_streams(L, 1);
  unsigned count = sl_streams_count(streams);
  struct sl_window window;
  struct sl_window_share *shares =
      lua_newuserdatauv(L, count * sizeof(*shares), 0);
  if (!sl_streams_window(streams, &window, shares)) return 0;
  lua_pushinteger(L, (lua_Integer)window.start_ns);
  lua_pushinteger(L, (lua_Integer)window.end_ns);
  lua_createtable(L, (int)count, 0);
  for (unsigned i = 0; i < count; i++) {
    lua_createtable(L, 0, 4);
    lua_pushinteger(L, (lua_Integer)shares[i].start_ns);
    lua_setfield(L, -2, "start_ns");
    lua_pushinteger(L, (lua_Integer)shares[i].end_ns);
    lua_setfield(L, -2, "end_ns");
    lua_pushinteger(L, (lua_Integer)shares[i].bytes);
    lua_setfield(L, -2, "bytes");
    lua_pushinteger(L, (lua_Integer)shares[i].operations);
    lua_setfield(L, -2, "operations");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 3;
}

int luaopen_storlua_core_streams(lua_State *L);
int luaopen_storlua_core_streams(lua_State *L) {
  static const luaL_Reg methods[] = {{"window", l_window}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"new", l_new}, {NULL, NULL}};
  luaL_newmetatable(L, STREAMS);
  lua_pushcfunction(L, l_drop);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
