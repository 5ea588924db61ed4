/* SPDX-License-Identifier: MIT */
#include "core/run/child.h"

#include <string.h>

#include "bindings/class.h"
#include "bindings/error.h"
#include "bindings/host/host.h"
#include "bindings/stream.h"

#define CHILD "storlua.child"

struct l_child {
  struct sl_child *child; /* NULL when closed */
  struct sl_host *host;
  int change_ref;
};

static struct l_child *check_child(lua_State *L) {
  struct l_child *c = luaL_checkudata(L, 1, CHILD);
  luaL_argcheck(L, c->child, 1, "the child is closed");
  return c;
}

static void on_change(struct sl_child *child, void *user) {
  (void)child;
  struct l_child *c = user;
  if (c->change_ref != LUA_NOREF) l_host_call(c->host, c->change_ref, 0);
}

/* The strings of the list at `index` as a NULL-terminated array, which is
 * pushed; the strings stay borrowed from the list. */
static const char **string_array(lua_State *L, int index, const char *what) {
  lua_Integer count = luaL_len(L, index);
  if (count > INT32_MAX / 16) luaL_error(L, "%s: too many", what);
  const char **array =
      lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *array, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    size_t length;
    if (lua_rawgeti(L, index, i) != LUA_TSTRING)
      luaL_error(L, "%s %I is not a string", what, (LUAI_UACINT)i);
    const char *text = lua_tolstring(L, -1, &length);
    if (strlen(text) != length)
      luaL_error(L, "%s %I contains a NUL", what, (LUAI_UACINT)i);
    array[i - 1] = text;
    lua_pop(L, 1);
  }
  array[count] = NULL;
  return array;
}

/* stdio[1..3]: {kind, path} */
static void read_stdio(lua_State *L, int index, struct sl_child_stdio *stdio) {
  static const char *const kinds[] = {"null", "pipe",   "inherit",
                                      "file", "append", "merge"};
  luaL_checktype(L, index, LUA_TTABLE);
  for (int i = 0; i < 3; i++) {
    lua_rawgeti(L, index, i + 1); /* entry */
    lua_rawgeti(L, -1, 1);        /* entry kind */
    lua_rawgeti(L, -2, 2);        /* entry kind path */
    const char *kind = luaL_checkstring(L, -2);
    unsigned k = 0;
    while (k < 5 && strcmp(kinds[k], kind) != 0)
      k++;
    stdio[i].kind = (enum sl_child_stdio_kind)k;
    stdio[i].path = NULL;
    if (stdio[i].kind == SL_CHILD_FILE || stdio[i].kind == SL_CHILD_APPEND)
      stdio[i].path = l_check_path(L, lua_gettop(L));
    lua_pop(L, 3);
  }
}

/* start(argv, env, cwd, stdio) -> child, stdin, stdout, stderr: streams, nil
 * where stdio says no "pipe".  env: list of "NAME=value" and "NAME". */
static int l_start(lua_State *L) {
  struct sl_child_spec spec = {0};
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  if (!lua_isnoneornil(L, 3)) spec.cwd = l_check_path(L, 3);
  read_stdio(L, 4, spec.stdio);
  lua_settop(L, 4);
  union {
    const char **in;
    char **out; /* execvp's type; nobody writes to it */
  } argv = {.in = string_array(L, 1, "argument")};
  spec.argv = argv.out;
  luaL_argcheck(L, spec.argv[0], 1, "the list is empty");
  spec.env = string_array(L, 2, "environment entry");

  struct l_child *c = lua_newuserdatauv(L, sizeof *c, 0);
  *c = (struct l_child){NULL, l_host(L), LUA_NOREF};
  luaL_setmetatable(L, CHILD);
  struct l_stream *streams[3];
  struct sl_stream *pipes[3];
  for (int i = 0; i < 3; i++)
    streams[i] = l_stream_push(L);
  struct sl_error e;
  if (sl_child_start(l_loop(L), &spec, on_change, c, &c->child, pipes, &e))
    return l_push_error(L, &e);
  for (int i = 0; i < 3; i++) { /* child in out err */
    streams[i]->stream = pipes[i];
    if (pipes[i]) continue;
    lua_pushnil(L);
    lua_replace(L, i - 4);
  }
  return 4;
}

/* on_change(fn): calls fn, soon, when the child has ended and when its group
 * has gone.  One function at a time; nil takes it away. */
static int l_on_change(lua_State *L) {
  struct l_child *c = check_child(L);
  luaL_unref(L, LUA_REGISTRYINDEX, c->change_ref);
  c->change_ref = LUA_NOREF;
  if (lua_isnoneornil(L, 2)) return 0;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  c->change_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

/* result() -> nil while it runs, then code, signal (0: none) */
static int l_result(lua_State *L) {
  int64_t code;
  int number;
  if (!sl_child_result(check_child(L)->child, &code, &number)) return 0;
  lua_pushinteger(L, code);
  lua_pushinteger(L, number);
  return 2;
}

static int l_is_gone(lua_State *L) {
  lua_pushboolean(L, sl_child_is_gone(check_child(L)->child));
  return 1;
}

static int l_pid(lua_State *L) {
  lua_pushinteger(L, sl_child_pid(check_child(L)->child));
  return 1;
}

/* kill(number) -> true, or the error values */
static int l_kill(lua_State *L) {
  int number = (int)l_check_range(L, 2, 0, 64);
  int status = sl_child_kill(check_child(L)->child, number);
  if (status < 0) {
    struct sl_error e;
    sl_error_set(&e, status, "kill", NULL, -1);
    return l_push_error(L, &e);
  }
  lua_pushboolean(L, 1);
  return 1;
}

/* terminate(grace_ms): SIGTERM to the group, SIGKILL after the grace */
static int l_terminate(lua_State *L) {
  lua_Integer grace_ms = l_check_range(L, 2, 0, INT32_MAX);
  sl_child_terminate(check_child(L)->child, (uint64_t)grace_ms);
  return 0;
}

/* A child that nobody holds any more has no claim to go on. */
static int l_close(lua_State *L) {
  struct l_child *c = luaL_checkudata(L, 1, CHILD);
  luaL_unref(L, LUA_REGISTRYINDEX, c->change_ref);
  c->change_ref = LUA_NOREF;
  if (!c->child) return 0;
  sl_child_terminate(c->child, 0);
  sl_child_unref(c->child);
  c->child = NULL;
  return 0;
}

int luaopen_storlua_core_child(lua_State *L);
int luaopen_storlua_core_child(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"on_change", l_on_change}, {"result", l_result},
      {"is_gone", l_is_gone},     {"pid", l_pid},
      {"kill", l_kill},           {"terminate", l_terminate},
      {"close", l_close},         {"__gc", l_close},
      {"__close", l_close},       {NULL, NULL}};
  static const luaL_Reg functions[] = {{"start", l_start}, {NULL, NULL}};
  l_new_class(L, CHILD, methods);
  luaL_newlib(L, functions);
  return 1;
}
