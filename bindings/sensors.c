/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"
#include "bindings/job.h"
#include "core/device/sensors.h"

enum { PATHS_MAX = 512 };

static void run(struct sl_job *job, void *data) { sl_sensors_read(data, job); }

static void release(void *data) { sl_sensors_free(data); }

static int push(lua_State *L, void *data) {
  const struct sl_sensors *sensors = data;

  lua_createtable(L, 0, (int)sensors->count);
  lua_createtable(L, 0, 0);
  for (size_t i = 0; i < sensors->count; i++) {
    const struct sl_sensor *s = &sensors->list[i];
    if (s->text) {
      lua_pushlstring(L, s->text, s->length);
      lua_setfield(L, -3, s->path);
    } else {
      lua_pushstring(L, sl_error_name(s->code));
      lua_setfield(L, -2, s->path);
    }
  }
  return 2;
}

/* read(paths [, wake_node]) -> job -> {path → text}, {path → why not} */
static int l_read(lua_State *L) {
  static const struct l_job_kind kind = {
      {"read sensors", run, release}, push, NULL};
  luaL_checktype(L, 1, LUA_TTABLE);
  const char *node = lua_isnoneornil(L, 2) ? NULL : l_check_path(L, 2);
  lua_Integer count = luaL_len(L, 1);
  luaL_argcheck(L, count >= 0 && count <= PATHS_MAX, 1, "too many paths");
  for (lua_Integer i = 1; i <= count; i++) {
    lua_geti(L, 1, i);
    size_t length;
    const char *path = lua_tolstring(L, -1, &length);
    luaL_argcheck(L, path && strlen(path) == length, 1, "a list of paths");
    lua_pop(L, 1);
  }
  struct sl_sensors *sensors = sl_sensors_new((size_t)count);
  if (!sensors) return luaL_error(L, "not enough memory");
  int full = node && !(sensors->wake_node = strdup(node));
  for (lua_Integer i = 1; i <= count && !full; i++) {
    lua_rawgeti(L, 1, i);
    const char *path = lua_tostring(L, -1);
    full = !path || !(sensors->list[i - 1].path = strdup(path));
    lua_pop(L, 1);
  }
  if (full) {
    sl_sensors_free(sensors);
    return luaL_error(L, "not enough memory");
  }
  return l_job_start(L, &kind, sensors);
}

int luaopen_storlua_core_sensors(lua_State *L);
int luaopen_storlua_core_sensors(lua_State *L) {
  static const luaL_Reg functions[] = {{"read", l_read}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
