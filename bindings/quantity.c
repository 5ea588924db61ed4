/* SPDX-License-Identifier: MIT */
#include "core/base/quantity.h"

#include <errno.h>
#include <string.h>

#include "bindings/error.h"

/* parse(kind, text) -> integer (bytes, ns, pieces, bytes per second)
 *                    | nil, why, "EINVAL" or "ERANGE" */
static int l_parse(lua_State *L) {
  static const char *const kinds[] = {"size", "duration", "count", "rate",
                                      NULL};
  int kind = luaL_checkoption(L, 1, NULL, kinds);
  size_t length;
  const char *text = luaL_checklstring(L, 2, &length);
  const char *why = "text after a NUL byte";
  int64_t value = 0;
  int code = -EINVAL;
  if (strlen(text) == length)
    code = sl_quantity_parse((enum sl_quantity)kind, text, &value, &why);
  if (code == 0) {
    lua_pushinteger(L, value);
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, why);
  lua_pushstring(L, sl_error_name(code));
  return 3;
}

/* size_text(bytes) -> "4 KiB" */
static int l_size_text(lua_State *L) {
  char text[32];
  lua_pushstring(L, sl_size_text(luaL_checkinteger(L, 1), text, sizeof text));
  return 1;
}

/* duration_text(ns) -> "3 min 07 s" */
static int l_duration_text(lua_State *L) {
  char text[32];
  lua_pushstring(L,
                 sl_duration_text(luaL_checkinteger(L, 1), text, sizeof text));
  return 1;
}

int luaopen_storlua_core_quantity(lua_State *L);
int luaopen_storlua_core_quantity(lua_State *L) {
  static const luaL_Reg functions[] = {{"parse", l_parse},
                                       {"size_text", l_size_text},
                                       {"duration_text", l_duration_text},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
