/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_HOST_EMBEDDED_H
#define STORLUA_BINDINGS_HOST_EMBEDDED_H

/* What the executable carries: the Lua library, the scripts and the C
 * modules of bindings/.  The two tables are generated at build time. */

#include <lauxlib.h>
#include <lua.h>
#include <stddef.h>

struct sl_embedded_file {
  const char *name; /* "storlua/task.lua", "scripts/soak.lua" */
  const unsigned char *content;
  size_t size;
  int is_compiled; /* by the Lua that is linked in */
};
extern const struct sl_embedded_file sl_embedded_files[];
extern const luaL_Reg sl_core_modules[];

/* NULL when there is no file of that name. */
const struct sl_embedded_file *sl_embedded_find(const char *name);

/* What --lua-dir or STORLUA_LUA_DIR says, or NULL.  Read here because it must
 * be known before Lua runs; Lua checks the option like any other. */
const char *sl_embedded_lua_dir(int argc, char **argv);

/* Puts the searcher of the embedded library first for `storlua`, `storlua.*`,
 * `argparse` and `dkjson`, so no file in the way can shadow them; registers
 * the C modules as preloads.  `lua_dir`, when not NULL, is read instead of
 * the embedded copies of storlua's own files (for development). */
void sl_embedded_install(lua_State *L, const char *lua_dir);

#endif
