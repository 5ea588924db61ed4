/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_CLASS_H
#define STORLUA_BINDINGS_CLASS_H

#include <lauxlib.h>
#include <lua.h>

/* Makes the metatable `name` for userdata with these methods, metamethods
 * among them; it is its own __index.  Leaves nothing on the stack. */
static inline void l_new_class(lua_State *L, const char *name,
                               const luaL_Reg *methods) {
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

#endif
