/* SPDX-License-Identifier: MIT */
#include "bindings/error.h"

#include <string.h>

int l_push_error(lua_State *L, const struct sl_error *e) {
  char text[SL_ERROR_TEXT_BYTES];
  lua_pushnil(L);
  lua_pushstring(L, sl_error_text(e, text, sizeof text));
  lua_pushstring(L, sl_error_name(e->code));
  lua_createtable(L, 0, 5); /* nil text name fields */
  lua_pushstring(L, sl_error_name(e->code));
  lua_setfield(L, -2, "code");
  lua_pushstring(L, e->op);
  lua_setfield(L, -2, "op");
  if (e->path[0]) {
    lua_pushstring(L, e->path);
    lua_setfield(L, -2, "path");
  }
  if (e->offset >= 0) {
    lua_pushinteger(L, e->offset);
    lua_setfield(L, -2, "offset");
  }
  if (e->hint[0]) {
    lua_pushstring(L, e->hint);
    lua_setfield(L, -2, "hint");
  }
  return 4;
}

const char *l_check_path(lua_State *L, int arg) {
  size_t length;
  const char *path = luaL_checklstring(L, arg, &length);
  luaL_argcheck(L, length > 0, arg, "the path is empty");
  luaL_argcheck(L, strlen(path) == length, arg, "the path contains a NUL");
  return path;
}

lua_Integer l_check_range(lua_State *L, int arg, lua_Integer min,
                          lua_Integer max) {
  lua_Integer value = luaL_checkinteger(L, arg);
  if (value < min || value > max)
    luaL_argerror(
        L, arg,
        lua_pushfstring(L, "%I is not within %I to %I", (LUAI_UACINT)value,
                        (LUAI_UACINT)min, (LUAI_UACINT)max));
  return value;
}
