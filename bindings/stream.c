/* SPDX-License-Identifier: MIT */
#include "bindings/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "bindings/error.h"
#include "bindings/host/host.h"
#include "core/run/serial.h"

#define STREAM "storlua.stream"

static struct l_stream *check_stream(lua_State *L) {
  struct l_stream *s = luaL_checkudata(L, 1, STREAM);
  luaL_argcheck(L, s->stream, 1, "the stream is closed");
  return s;
}

static void drop(lua_State *L, int *ref) {
  luaL_unref(L, LUA_REGISTRYINDEX, *ref);
  *ref = LUA_NOREF;
}

/* Calls and forgets the function in *ref with the values on top. */
static void call_once(struct l_stream *s, int *ref, int nargs) {
  int function = *ref;
  *ref = LUA_NOREF;
  l_host_call(s->host, function, nargs);
  luaL_unref(s->host->L, LUA_REGISTRYINDEX, function);
}

static int push_status(lua_State *L, int status, const char *op) {
  struct sl_error e;
  sl_error_set(&e, status, op, NULL, -1);
  return l_push_error(L, &e);
}

static void on_read(void *user, const char *data, ssize_t size) {
  struct l_stream *s = user;
  lua_State *L = s->host->L;
  int nargs = 1;
  if (size > 0)
    lua_pushlstring(L, data, (size_t)size);
  else if (size == 0)
    lua_pushboolean(L, 0);
  else
    nargs = push_status(L, (int)size, "read");
  call_once(s, &s->read_ref, nargs);
}

/* read(fn): calls fn once with the next bytes, with false at the end, or with
 * the error values.  Returns true, or the error values. */
static int l_read(lua_State *L) {
  struct l_stream *s = check_stream(L);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  int status = sl_stream_read(s->stream, on_read, s);
  if (status < 0) return push_status(L, status, "read");
  s->read_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushboolean(L, 1);
  return 1;
}

static int l_read_stop(lua_State *L) {
  struct l_stream *s = luaL_checkudata(L, 1, STREAM);
  if (s->stream) sl_stream_read_stop(s->stream);
  drop(L, &s->read_ref);
  return 0;
}

void l_stream_written(void *user, int status) {
  struct l_stream *s = user;
  lua_State *L = s->host->L;
  drop(L, &s->data_ref);
  int nargs = 1;
  if (status < 0)
    nargs = push_status(L, status, s->write_op);
  else
    lua_pushboolean(L, 1);
  call_once(s, &s->write_ref, nargs);
}

void l_stream_expect(lua_State *L, struct l_stream *s, const char *op) {
  s->write_op = op;
  s->write_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* write(text, fn) -> true when all of it was taken at once; false: fn will be
 * called with true or the error values.  Or the error values. */
static int l_write(lua_State *L) {
  struct l_stream *s = check_stream(L);
  size_t size;
  const char *text = luaL_checklstring(L, 2, &size);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 3);
  int status = sl_stream_write(s->stream, text, size, l_stream_written, s);
  if (status < 0) return push_status(L, status, "write");
  if (status == 0) {
    l_stream_expect(L, s, "write");
    s->data_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  lua_pushboolean(L, status);
  return 1;
}

/* close(): whoever waits for the stream is told ECANCELED */
static int l_close(lua_State *L) {
  struct l_stream *s = luaL_checkudata(L, 1, STREAM);
  if (!s->stream) return 0;
  sl_stream_close(s->stream);
  s->stream = NULL;
  drop(L, &s->data_ref);
  int *waiting[] = {&s->read_ref, &s->write_ref};
  for (int i = 0; i < 2; i++) {
    if (*waiting[i] == LUA_NOREF) continue;
    lua_State *main = s->host->L;
    call_once(s, waiting[i], push_status(main, -ECANCELED, "close"));
  }
  return 0;
}

static int l_gc(lua_State *L) {
  struct l_stream *s = luaL_checkudata(L, 1, STREAM);
  if (s->stream) sl_stream_close(s->stream);
  s->stream = NULL;
  drop(L, &s->data_ref);
  drop(L, &s->read_ref);
  drop(L, &s->write_ref);
  return 0;
}

static int l_tostring(lua_State *L) {
  struct l_stream *s = luaL_checkudata(L, 1, STREAM);
  lua_pushfstring(L, "storlua.stream: %s", s->stream ? "open" : "closed");
  return 1;
}

struct l_stream *l_stream_push(lua_State *L) {
  static const luaL_Reg methods[] = {{"read", l_read},
                                     {"read_stop", l_read_stop},
                                     {"write", l_write},
                                     {"close", l_close},
                                     {"__gc", l_gc},
                                     {"__close", l_close},
                                     {"__tostring", l_tostring},
                                     {NULL, NULL}};
  struct l_stream *s = lua_newuserdatauv(L, sizeof *s, 0);
  *s = (struct l_stream){NULL,      l_host(L), "write",
                         LUA_NOREF, LUA_NOREF, LUA_NOREF};
  if (luaL_newmetatable(L, STREAM)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
  return s;
}

/* open(path, "r"|"w"|"rw") -> stream: a FIFO or a device, never waiting for
 * the other side */
static int l_open(lua_State *L) {
  static const char *const modes[] = {"r", "w", "rw", NULL};
  static const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR};
  const char *path = l_check_path(L, 1);
  int mode = luaL_checkoption(L, 2, "r", modes);
  struct sl_error e;
  struct l_stream *s = l_stream_push(L);
  int fd = open(path, flags[mode] | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    sl_error_set(&e, -errno, "open", path, -1);
    return l_push_error(L, &e);
  }
  if (sl_stream_open(l_loop(L), fd, &s->stream, &e)) {
    close(fd);
    return l_push_error(L, &e);
  }
  return 1;
}

/* serial(path, baud) -> stream */
static int l_serial(lua_State *L) {
  const char *path = l_check_path(L, 1);
  lua_Integer baud = luaL_checkinteger(L, 2);
  struct sl_error e;
  struct l_stream *s = l_stream_push(L);
  if (sl_serial_open(l_loop(L), path, baud, &s->stream, &e))
    return l_push_error(L, &e);
  return 1;
}

int luaopen_storlua_core_stream(lua_State *L);
int luaopen_storlua_core_stream(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"open", l_open}, {"serial", l_serial}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
