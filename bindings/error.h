/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_ERROR_H
#define STORLUA_BINDINGS_ERROR_H

/* Errors and arguments on their way between C and Lua. */

#include <lauxlib.h>
#include <lua.h>

#include "core/base/error.h"

/* Pushes the four results of a failed binding and returns 4:
 * nil, "EIO: pread /x at 4096: …", "EIO", {code, op, path, offset, hint}. */
int l_push_error(lua_State *L, const struct sl_error *e);

/* A path argument: a string without an embedded NUL, not empty. */
const char *l_check_path(lua_State *L, int arg);

/* An integer argument within [min, max]; raises with both bounds. */
lua_Integer l_check_range(lua_State *L, int arg, lua_Integer min,
                          lua_Integer max);

#endif
