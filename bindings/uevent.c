/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "bindings/class.h"
#include "bindings/error.h"
#include "bindings/fields.h"
#include "core/device/uevent.h"

#define UEVENT "storlua.uevent"

static int *check_socket(lua_State *L) {
  int *fd = luaL_checkudata(L, 1, UEVENT);
  luaL_argcheck(L, *fd >= 0, 1, "the socket is closed");
  return fd;
}

/* open() -> socket */
static int l_open(lua_State *L) {
  struct sl_error e;
  int *fd = lua_newuserdatauv(L, sizeof *fd, 0);
  *fd = -1;
  luaL_setmetatable(L, UEVENT);
  int opened = sl_uevent_open(&e);
  if (opened < 0) return l_push_error(L, &e);
  *fd = opened;
  return 1;
}

static int l_fd(lua_State *L) {
  lua_pushinteger(L, *check_socket(L));
  return 1;
}

/* socket:next() -> {action, subsystem, name}, or false when there is none
 * now */
static int l_next(lua_State *L) {
  struct sl_uevent event;
  struct sl_error e;
  int got = sl_uevent_next(*check_socket(L), &event, &e);

  if (got < 0) return l_push_error(L, &e);
  if (got == 0) {
    lua_pushboolean(L, 0);
    return 1;
  }
  lua_createtable(L, 0, 3);
  l_set_text(L, "action", event.action);
  l_set_text(L, "subsystem", event.subsystem);
  l_set_text(L, "name", event.name);
  return 1;
}

static int l_close(lua_State *L) {
  int *fd = luaL_checkudata(L, 1, UEVENT);
  if (*fd >= 0) close(*fd);
  *fd = -1;
  return 0;
}

int luaopen_storlua_core_uevent(lua_State *L);
int luaopen_storlua_core_uevent(lua_State *L) {
  static const luaL_Reg methods[] = {{"fd", l_fd},       {"next", l_next},
                                     {"close", l_close}, {"__close", l_close},
                                     {"__gc", l_close},  {NULL, NULL}};
  static const luaL_Reg functions[] = {{"open", l_open}, {NULL, NULL}};
  l_new_class(L, UEVENT, methods);
  luaL_newlib(L, functions);
  return 1;
}
