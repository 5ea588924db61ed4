/* SPDX-License-Identifier: MIT */
#include "bindings/host/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct sl_embedded_file *sl_embedded_find(const char *name) {
  const struct sl_embedded_file *file = sl_embedded_files;
  while (file->name && strcmp(file->name, name) != 0)
    file++;
  return file->name ? file : NULL;
}

const char *sl_embedded_lua_dir(int argc, char **argv) {
  static const char option[] = "--lua-dir";
  size_t length = sizeof option - 1;
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (strncmp(argv[i], option, length) != 0) continue;
    if (argv[i][length] == '=') return argv[i] + length + 1;
    if (argv[i][length] == '\0' && i + 1 < argc) return argv[i + 1];
  }
  return getenv("STORLUA_LUA_DIR");
}

static int is_ours(const char *module) {
  return strcmp(module, "storlua") == 0 ||
         strncmp(module, "storlua.", 8) == 0 ||
         strcmp(module, "argparse") == 0 || strcmp(module, "dkjson") == 0;
}

/* searcher(module) -> loader, chunkname; upvalue 1: lua_dir or nil */
static int search(lua_State *L) {
  const char *module = luaL_checkstring(L, 1);
  if (!is_ours(module)) return 0;
  const char *path = luaL_gsub(L, module, ".", "/"); /* path */
  path = lua_pushfstring(L, "%s.lua", path);         /* path file */
  if (lua_isstring(L, lua_upvalueindex(1))) {
    const char *on_disk =
        lua_pushfstring(L, "%s/%s", lua_tostring(L, lua_upvalueindex(1)), path);
    FILE *probe = fopen(on_disk, "r");
    if (probe) {
      fclose(probe);
      if (luaL_loadfilex(L, on_disk, "t") != LUA_OK) return lua_error(L);
      lua_pushstring(L, on_disk);
      return 2;
    }
  }
  const struct sl_embedded_file *file = sl_embedded_find(path);
  if (!file) {
    /* Modules in C may come as shared objects; Lua ones never from a folder
     * that happens to have this name. */
    if (strncmp(module, "storlua.core.", 13) != 0)
      return luaL_error(L, "module '%s' is not in storlua's library", module);
    lua_pushfstring(L, "no embedded module '%s'", module);
    return 1;
  }
  const char *chunk = lua_pushfstring(L, "@%s", path);
  if (luaL_loadbufferx(L, (const char *)file->content, file->size, chunk,
                       file->is_compiled ? "b" : "t") != LUA_OK)
    return lua_error(L);
  lua_pushstring(L, path);
  return 2;
}

void sl_embedded_install(lua_State *L, const char *lua_dir) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE); /* preload */
  luaL_setfuncs(L, sl_core_modules, 0);
  lua_pop(L, 1);
  lua_getglobal(L, "package");      /* package */
  lua_getfield(L, -1, "searchers"); /* package searchers */
  lua_Integer count = luaL_len(L, -1);
  for (lua_Integer i = count; i >= 2; i--) { /* keep preload first */
    lua_rawgeti(L, -1, i);
    lua_rawseti(L, -2, i + 1);
  }
  lua_pushstring(L, lua_dir); /* pushes nil for NULL */
  lua_pushcclosure(L, search, 1);
  lua_rawseti(L, -2, 2);
  lua_pop(L, 2);
}
