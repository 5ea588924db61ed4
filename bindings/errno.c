/* SPDX-License-Identifier: MIT */
#include <lauxlib.h>
#include <lua.h>

#include "core/base/error.h"

/* number(name) -> integer: 5 of "EIO" | nil of what is no errno */
static int l_number(lua_State *L) {
  int number = sl_error_number(luaL_checkstring(L, 1));
  if (number == 0) return 0;
  lua_pushinteger(L, number);
  return 1;
}

int luaopen_storlua_core_errno(lua_State *L);
int luaopen_storlua_core_errno(lua_State *L) {
  static const luaL_Reg functions[] = {{"number", l_number}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
