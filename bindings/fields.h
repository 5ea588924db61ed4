/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_FIELDS_H
#define STORLUA_BINDINGS_FIELDS_H

/* Setting fields of the table on top of the stack from C values in which ""
 * and -1 mean "unknown": an unknown field is left out. */

#include <lua.h>
#include <stdint.h>

static inline void l_set_text(lua_State *L, const char *key, const char *text) {
  if (!text || !text[0]) return;
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

static inline void l_set_count(lua_State *L, const char *key, int64_t value) {
  if (value < 0) return;
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, key);
}

static inline void l_set_flag(lua_State *L, const char *key, int64_t value) {
  if (value < 0) return;
  lua_pushboolean(L, value != 0);
  lua_setfield(L, -2, key);
}

#endif
