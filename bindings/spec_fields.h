/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_SPEC_FIELDS_H
#define STORLUA_BINDINGS_SPEC_FIELDS_H

/* Reading the fields of a spec, the table at `index`.  What is missing is the
 * default; what is wrong raises and names the field. */

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <string.h>

static inline lua_Integer l_spec_integer(lua_State *L, int index,
                                         const char *field, lua_Integer missing,
                                         lua_Integer min, lua_Integer max) {
  lua_getfield(L, index, field);
  int is_integer = 1;
  lua_Integer value =
      lua_isnil(L, -1) ? missing : lua_tointegerx(L, -1, &is_integer);
  if (!is_integer || lua_type(L, -1) == LUA_TSTRING)
    luaL_error(L, "field '%s' must be an integer, not %s", field,
               luaL_tolstring(L, -1, NULL));
  if (value < min || value > max)
    luaL_error(L, "field '%s' is %I: it must be from %I to %I", field,
               (LUAI_UACINT)value, (LUAI_UACINT)min, (LUAI_UACINT)max);
  lua_pop(L, 1);
  return value;
}

static inline bool l_spec_flag(lua_State *L, int index, const char *field) {
  lua_getfield(L, index, field);
  bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}

/* Copies the text; "" when it is missing. */
static inline void l_spec_text(lua_State *L, int index, const char *field,
                               char *text, size_t size) {
  lua_getfield(L, index, field);
  size_t length;
  const char *value = luaL_optlstring(L, -1, "", &length);
  if (length >= size) luaL_error(L, "field '%s' is too long", field);
  memcpy(text, value, length);
  text[length] = '\0';
  lua_pop(L, 1);
}

/* Index of the field's text among `choices`; the first when it is missing. */
static inline int l_spec_choice(lua_State *L, int index, const char *field,
                                const char *const *choices) {
  lua_getfield(L, index, field);
  const char *text = luaL_optstring(L, -1, choices[0]);
  int found = 0;
  while (choices[found] && strcmp(choices[found], text) != 0)
    found++;
  if (!choices[found]) luaL_error(L, "field '%s' cannot be %s", field, text);
  lua_pop(L, 1);
  return found;
}

#endif
