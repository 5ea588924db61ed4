/* SPDX-License-Identifier: MIT */
#include <lauxlib.h>
#include <lua.h>
#include <uv.h>

#include "core/device/signature.h"
#include "core/io/engine.h"
#include "core/io/stamp.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

#ifdef STORLUA_STATIC
#define LINKED "static"
#else
#define LINKED "dynamic"
#endif

static void push_engines(lua_State *L) {
  const char *const *names = sl_engine_names();
  lua_newtable(L);
  for (lua_Integer i = 0; names[i]; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

static void set_string(lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

/* text() -> all of it for a person */
static int l_text(lua_State *L) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  luaL_addstring(&text,
                 "storlua " STORLUA_VERSION "\n  " LUA_RELEASE ", libuv ");
  luaL_addstring(&text, uv_version_string());
  luaL_addstring(&text, "\n  engines:");
  for (const char *const *name = sl_engine_names(); *name; name++) {
    luaL_addchar(&text, ' ');
    luaL_addstring(&text, *name);
  }
  luaL_addstring(&text, "\n  sector stamps: ");
  luaL_addstring(&text, sl_stamp_kernel());
  luaL_addstring(&text, sl_signature_is_built()
                            ? "\n  device contents: libblkid"
                            : "\n  device contents: not recognised");
  luaL_addstring(&text, "\n  " LINKED ", " COMPILER "\n");
  luaL_pushresult(&text);
  return 1;
}

int luaopen_storlua_core_version(lua_State *L);
int luaopen_storlua_core_version(lua_State *L) {
  static const luaL_Reg functions[] = {{"text", l_text}, {NULL, NULL}};
  luaL_newlib(L, functions);
  set_string(L, "storlua", STORLUA_VERSION);
  set_string(L, "lua", LUA_RELEASE);
  set_string(L, "libuv", uv_version_string());
  set_string(L, "compiler", COMPILER);
  set_string(L, "linked", LINKED);
  set_string(L, "stamp_kernel", sl_stamp_kernel());
  push_engines(L);
  lua_setfield(L, -2, "engines");
  return 1;
}
