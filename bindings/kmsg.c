/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "bindings/class.h"
#include "bindings/error.h"
#include "bindings/fields.h"
#include "core/device/kernel_verdict.h"
#include "core/device/kmsg.h"

#define KMSG "storlua.kmsg"

/* 8 KiB each for the read and for the decoded record: not on a stack. */
struct l_kmsg {
  struct sl_kmsg log;
  struct sl_kernel_record record;
  struct sl_chain chain;
};

static struct l_kmsg *check_log(lua_State *L) {
  struct l_kmsg *k = luaL_checkudata(L, 1, KMSG);
  luaL_argcheck(L, k->log.fd >= 0, 1, "the kernel log is closed");
  return k;
}

/* The chain as device.of_path gives it: a list of {name, number}. */
static void read_chain(lua_State *L, int arg, struct sl_chain *chain) {
  luaL_checktype(L, arg, LUA_TTABLE);
  *chain = (struct sl_chain){0};
  for (lua_Integer i = 1; lua_geti(L, arg, i) == LUA_TTABLE; i++) {
    struct sl_device_number number;
    char end;
    lua_getfield(L, -1, "name");
    lua_getfield(L, -2, "number");
    const char *name = luaL_checkstring(L, -2);
    const char *text = lua_tostring(L, -1);
    if (text &&
        sscanf(text, "%u:%u%c", &number.major, &number.minor, &end) == 2) {
      sl_chain_add_block(chain, name, number);
    } else {
      sl_chain_add_name(chain, name);
    }
    lua_pop(L, 3);
  }
  lua_pop(L, 1);
}

/* open(chain [, path]) -> log */
static int l_open(lua_State *L) {
  const char *path = lua_isnoneornil(L, 2) ? NULL : l_check_path(L, 2);
  struct l_kmsg *k = lua_newuserdatauv(L, sizeof *k, 0);
  struct sl_error e;
  k->log.fd = -1;
  luaL_setmetatable(L, KMSG);
  read_chain(L, 1, &k->chain);
  if (sl_kmsg_open(&k->log, path, &e) != 0) return l_push_error(L, &e);
  return 1;
}

static int l_fd(lua_State *L) {
  lua_pushinteger(L, check_log(L)->log.fd);
  return 1;
}

/* log:lost() -> records that were overwritten before they were read */
static int l_lost(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)check_log(L)->log.lost);
  return 1;
}

/* log:next() -> {class, text, priority, k_seq, k_time_ns, device, facility
 * (when not the kernel's)}, or false when there is none now */
static int l_next(lua_State *L) {
  struct l_kmsg *k = check_log(L);
  struct sl_kernel_record *r = &k->record;
  struct sl_error e;
  int got = sl_kmsg_next(&k->log, r, &e);

  if (got < 0) return l_push_error(L, &e);
  if (got == 0) {
    lua_pushboolean(L, 0);
    return 1;
  }
  lua_createtable(L, 0, 8);
  l_set_text(L, "class",
             sl_kernel_class_name(sl_kernel_classify(r, &k->chain)));
  lua_pushlstring(L, r->text, r->text_length);
  lua_setfield(L, -2, "text");
  l_set_count(L, "priority", r->level);
  if (r->facility != SL_KERNEL_FACILITY_KERN) {
    l_set_count(L, "facility", r->facility);
  }
  l_set_count(L, "k_seq", (int64_t)r->sequence);
  l_set_count(L, "k_time_ns", r->time_ns);
  l_set_text(L, "device", sl_kernel_about(r, &k->chain));
  return 1;
}

static int l_close(lua_State *L) {
  struct l_kmsg *k = luaL_checkudata(L, 1, KMSG);
  sl_kmsg_close(&k->log);
  return 0;
}

int luaopen_storlua_core_kmsg(lua_State *L);
int luaopen_storlua_core_kmsg(lua_State *L) {
  static const luaL_Reg methods[] = {{"fd", l_fd},         {"next", l_next},
                                     {"lost", l_lost},     {"close", l_close},
                                     {"__close", l_close}, {"__gc", l_close},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {{"open", l_open}, {NULL, NULL}};
  l_new_class(L, KMSG, methods);
  luaL_newlib(L, functions);
  return 1;
}
