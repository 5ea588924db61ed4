/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "bindings/class.h"
#include "bindings/error.h"
#include "bindings/fields.h"
#include "core/device/counters.h"

#define COUNTERS "storlua.counters"

/* A device number argument, "179:0". */
static struct sl_device_number check_number(lua_State *L, int arg) {
  struct sl_device_number number = {0, 0};
  char end;
  const char *text = luaL_checkstring(L, arg);
  luaL_argcheck(
      L, sscanf(text, "%u:%u%c", &number.major, &number.minor, &end) == 2, arg,
      "not a device number like \"179:0\"");
  return number;
}

static void push_direction(lua_State *L, const char *key,
                           const struct sl_direction_counters *d) {
  lua_createtable(L, 0, 4);
  l_set_count(L, "operations", (int64_t)d->operations);
  l_set_count(L, "merges", (int64_t)d->merges);
  l_set_count(L, "bytes", (int64_t)d->bytes);
  l_set_count(L, "wait_ns", (int64_t)d->wait_ns);
  lua_setfield(L, -2, key);
}

static int push_counters(lua_State *L, const struct sl_counters *c) {
  lua_createtable(L, 0, 7);
  push_direction(L, "read", &c->read);
  push_direction(L, "write", &c->write);
  if (c->has_discard) push_direction(L, "discard", &c->discard);
  if (c->has_flush) {
    l_set_count(L, "flushes", (int64_t)c->flushes);
    l_set_count(L, "flush_wait_ns", (int64_t)c->flush_wait_ns);
  }
  l_set_count(L, "busy_ns", (int64_t)c->busy_ns);
  l_set_count(L, "in_flight", (int64_t)c->in_flight);
  return 1;
}

/* read("179:0") -> snapshot */
static int l_read(lua_State *L) {
  struct sl_device_number number = check_number(L, 1);
  struct sl_counters *c = lua_newuserdatauv(L, sizeof *c, 0);
  struct sl_error e;
  luaL_setmetatable(L, COUNTERS);
  if (sl_counters_read(NULL, number, c, &e) != 0) return l_push_error(L, &e);
  return 1;
}

/* snapshot:values() -> {read, write, discard, flushes, busy_ns, …} */
static int l_values(lua_State *L) {
  return push_counters(L, luaL_checkudata(L, 1, COUNTERS));
}

/* snapshot:since(earlier) -> the same of the difference */
static int l_since(lua_State *L) {
  const struct sl_counters *after = luaL_checkudata(L, 1, COUNTERS);
  const struct sl_counters *before = luaL_checkudata(L, 2, COUNTERS);
  struct sl_counters difference;
  int code = sl_counters_since(before, after, &difference);
  if (code != 0) {
    struct sl_error e;
    sl_error_set(&e, code, "compare counters", NULL, -1);
    sl_error_hint(&e, "they went back: the device was exchanged");
    return l_push_error(L, &e);
  }
  return push_counters(L, &difference);
}

int luaopen_storlua_core_counters(lua_State *L);
int luaopen_storlua_core_counters(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"values", l_values}, {"since", l_since}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"read", l_read}, {NULL, NULL}};
  l_new_class(L, COUNTERS, methods);
  luaL_newlib(L, functions);
  return 1;
}
