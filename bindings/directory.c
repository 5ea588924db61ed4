/* SPDX-License-Identifier: MIT */
#include "core/base/directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"

/* Names are gathered outside Lua: a memory error of Lua would leak the open
 * folder. */
struct names {
  char *text; /* NUL-terminated names, one after the other */
  size_t used, size;
};

static int gather(const char *name, void *user) {
  struct names *names = user;
  size_t length = strlen(name) + 1;
  if (names->used + length > names->size) {
    size_t size = 2 * (names->size + length);
    char *text = realloc(names->text, size);
    if (!text) return -ENOMEM;
    names->text = text;
    names->size = size;
  }
  memcpy(names->text + names->used, name, length);
  names->used += length;
  return 0;
}

/* The userdata frees what realloc gave when pushing the names raises. */
static int l_free(lua_State *L) {
  struct names *names = lua_touserdata(L, 1);
  free(names->text);
  names->text = NULL;
  return 0;
}

/* list(path) -> names in no particular order, without "." and ".." */
static int l_list(lua_State *L) {
  const char *path = l_check_path(L, 1);
  struct names *names = lua_newuserdatauv(L, sizeof *names, 0);
  *names = (struct names){NULL, 0, 0};
  if (luaL_newmetatable(L, "storlua.directory")) {
    lua_pushcfunction(L, l_free);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  struct sl_error e = {0};
  int code = sl_directory_list(path, gather, names, &e);
  if (code && !e.code) sl_error_set(&e, code, "malloc", path, -1);
  if (code) return l_push_error(L, &e);
  lua_newtable(L);
  lua_Integer count = 0;
  for (size_t at = 0; at < names->used;
       at += strlen(names->text + at) + 1) {
    lua_pushstring(L, names->text + at);
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

int luaopen_storlua_core_directory(lua_State *L);
int luaopen_storlua_core_directory(lua_State *L) {
  static const luaL_Reg functions[] = {{"list", l_list}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
