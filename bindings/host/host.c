/* SPDX-License-Identifier: MIT */
#include "bindings/host/host.h"

struct sl_host *l_host(lua_State *L) {
  return *(struct sl_host **)lua_getextraspace(L);
}

struct sl_loop *l_loop(lua_State *L) { return &l_host(L)->loop; }

static int add_traceback(lua_State *L) {
  const char *message = luaL_tolstring(L, 1, NULL);
  luaL_traceback(L, L, message, 1);
  return 1;
}

int l_host_pcall(lua_State *L, int nargs, int nresults) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  int status = lua_pcall(L, nargs, nresults, base);
  lua_remove(L, base);
  return status;
}

void l_host_call(struct sl_host *host, int ref, int nargs) {
  lua_State *L = host->L;
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  lua_insert(L, -1 - nargs);
  if (l_host_pcall(L, nargs, 0) == LUA_OK) return;
  host->callback_failed = true;
  lua_writestringerror("storlua: in a callback: %s\n", lua_tostring(L, -1));
  lua_pop(L, 1);
}
