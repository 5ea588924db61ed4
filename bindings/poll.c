/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "bindings/class.h"
#include "bindings/error.h"
#include "bindings/host/host.h"

#define POLL "storlua.poll"

/* Watches a file descriptor that somebody else owns: serial ports, /dev/kmsg.
 * The descriptor must stay open until close(). */
struct l_poll {
  uv_poll_t *uv; /* NULL when closed */
  struct sl_host *host;
  int ready_ref;
};

static void free_poll(uv_handle_t *handle) { free(handle); }

static void on_poll(uv_poll_t *handle, int status, int events) {
  struct l_poll *p = handle->data;
  lua_State *L = p->host->L;
  lua_pushboolean(L, events & UV_READABLE);
  lua_pushboolean(L, events & UV_WRITABLE);
  lua_pushinteger(L, status);
  l_host_call(p->host, p->ready_ref, 3);
}

/* start(fd, "r"|"w"|"rw", fn(readable, writable, status)) -> poll */
static int l_start(lua_State *L) {
  int fd = (int)l_check_range(L, 1, 0, INT32_MAX);
  const char *mode = luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 3);
  int events = (strchr(mode, 'r') ? UV_READABLE : 0) |
               (strchr(mode, 'w') ? UV_WRITABLE : 0);
  luaL_argcheck(L, events, 2, "one of r, w, rw");
  struct l_poll *p = lua_newuserdatauv(L, sizeof *p, 0); /* fd mode fn poll */
  *p = (struct l_poll){NULL, l_host(L), LUA_NOREF};
  luaL_setmetatable(L, POLL);
  uv_poll_t *uv = malloc(sizeof *uv);
  if (!uv) return luaL_error(L, "not enough memory for a poll handle");
  int status = uv_poll_init(&l_loop(L)->uv, uv, fd);
  if (status < 0) {
    free(uv);
    struct sl_error e;
    sl_error_set(&e, status, "watch descriptor", NULL, fd);
    return l_push_error(L, &e);
  }
  uv->data = p;
  p->uv = uv;
  l_loop(L)->handles++;
  lua_pushvalue(L, 3);
  p->ready_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  uv_poll_start(uv, events, on_poll);
  return 1;
}

static int l_close(lua_State *L) {
  struct l_poll *p = luaL_checkudata(L, 1, POLL);
  if (!p->uv) return 0;
  p->host->loop.handles--;
  uv_poll_stop(p->uv);
  uv_close((uv_handle_t *)p->uv, free_poll);
  p->uv = NULL;
  luaL_unref(L, LUA_REGISTRYINDEX, p->ready_ref);
  p->ready_ref = LUA_NOREF;
  return 0;
}

int luaopen_storlua_core_poll(lua_State *L);
int luaopen_storlua_core_poll(lua_State *L) {
  static const luaL_Reg methods[] = {{"close", l_close},
                                     {"__gc", l_close},
                                     {"__close", l_close},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {{"start", l_start}, {NULL, NULL}};
  l_new_class(L, POLL, methods);
  luaL_newlib(L, functions);
  return 1;
}
