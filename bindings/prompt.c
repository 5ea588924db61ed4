/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <unistd.h>

#include "bindings/error.h"
#include "core/run/terminal.h"

#define MODE "storlua.cli.prompt.mode"

struct l_mode {
  struct termios saved;
  int is_raw;
};

/* is_terminal() -> are both standard input and output one? */
static int l_is_terminal(lua_State *L) {
  lua_pushboolean(L, isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
  return 1;
}

/* raw() -> a value that gives the terminal its mode back when closed */
static int l_raw(lua_State *L) {
  struct l_mode *mode = lua_newuserdatauv(L, sizeof *mode, 0);
  mode->is_raw = 0;
  luaL_setmetatable(L, MODE);
  struct sl_error e;
  if (sl_terminal_raw(STDIN_FILENO, &mode->saved, &e))
    return l_push_error(L, &e);
  mode->is_raw = 1;
  return 1;
}

static int l_restore(lua_State *L) {
  struct l_mode *mode = luaL_checkudata(L, 1, MODE);
  if (mode->is_raw) sl_terminal_restore(STDIN_FILENO, &mode->saved);
  mode->is_raw = 0;
  return 0;
}

static int l_columns(lua_State *L) {
  lua_pushinteger(L, sl_terminal_columns(STDOUT_FILENO));
  return 1;
}

/* keys() -> what has been typed, or nil; for a line that keeps the loop busy */
static int l_keys(lua_State *L) {
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 0) <= 0) return 0;
  char keys[256];
  ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
  if (n <= 0) return 0;
  lua_pushlstring(L, keys, (size_t)n);
  return 1;
}

int luaopen_storlua_core_prompt(lua_State *L);
int luaopen_storlua_core_prompt(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"__gc", l_restore}, {"__close", l_restore}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"is_terminal", l_is_terminal},
                                       {"raw", l_raw},
                                       {"columns", l_columns},
                                       {"keys", l_keys},
                                       {NULL, NULL}};
  luaL_newmetatable(L, MODE);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
  luaL_newlib(L, functions);
  return 1;
}
