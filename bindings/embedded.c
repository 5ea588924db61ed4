/* SPDX-License-Identifier: MIT */
#include "bindings/host/embedded.h"

/* list() -> names of all embedded files */
static int l_list(lua_State *L) {
  lua_newtable(L);
  lua_Integer count = 0;
  for (const struct sl_embedded_file *file = sl_embedded_files; file->name;
       file++) {
    lua_pushstring(L, file->name);
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

/* read(name) -> content, or nil when there is no such file */
static int l_read(lua_State *L) {
  const struct sl_embedded_file *file =
      sl_embedded_find(luaL_checkstring(L, 1));
  if (file)
    lua_pushlstring(L, (const char *)file->content, file->size);
  else
    lua_pushnil(L);
  return 1;
}

int luaopen_storlua_core_embedded(lua_State *L);
int luaopen_storlua_core_embedded(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"list", l_list}, {"read", l_read}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
