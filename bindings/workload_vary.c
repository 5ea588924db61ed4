/* SPDX-License-Identifier: MIT */
/* The parts of a spec that vary its visits, and when it is steady. */
#include <lauxlib.h>

#include "bindings/spec_fields.h"
#include "bindings/workload.h"

/* Pushes the list `field` and returns its length; 0, and nothing useful is
 * pushed, when it is missing. */
static int list(lua_State *L, int index, const char *field, int max) {
  if (lua_getfield(L, index, field) == LUA_TNIL) return 0;
  if (!lua_istable(L, -1)) luaL_error(L, "field '%s' must be a list", field);
  lua_Unsigned count = lua_rawlen(L, -1);
  if (count < 1 || count > (lua_Unsigned)max)
    luaL_error(L, "field '%s' must have from 1 to %d entries", field, max);
  return (int)count;
}

/* Pushes entry `i` of the list on top, and returns its index. */
static int entry(lua_State *L, const char *field, int i) {
  if (lua_rawgeti(L, -1, i + 1) != LUA_TTABLE)
    luaL_error(L, "field '%s' must be a list of tables", field);
  return lua_gettop(L);
}

static void distribution(lua_State *L, int index,
                         struct sl_distribution_spec *spec) {
  static const char *const kinds[] = {"uniform", "zipf",  "pareto",
                                      "normal",  "zoned", NULL};
  spec->kind =
      (enum sl_distribution_kind)l_spec_choice(L, index, "distribution", kinds);
  lua_getfield(L, index, "zipf_theta");
  spec->zipf_theta = luaL_optnumber(L, -1, 0);
  lua_getfield(L, index, "pareto_h");
  spec->pareto_h = luaL_optnumber(L, -1, 0);
  lua_pop(L, 2);
  spec->normal_percent =
      (unsigned)l_spec_integer(L, index, "normal_percent", 0, 0, 100);
  int count = list(L, index, "zones", SL_ZONES_MAX);
  for (int i = 0; i < count; i++) {
    int at = entry(L, "zones", i);
    spec->zones[i].visit_percent =
        (unsigned)l_spec_integer(L, at, "visit_percent", 0, 0, 100);
    spec->zones[i].range_percent =
        (unsigned)l_spec_integer(L, at, "range_percent", 0, 0, 100);
    spec->zones[i].range_bytes =
        (uint64_t)l_spec_integer(L, at, "range_bytes", 0, 0, LUA_MAXINTEGER);
    lua_pop(L, 1);
  }
  spec->zone_count = (unsigned)count;
  lua_pop(L, 1);
}

void l_workload_vary(lua_State *L, int index, struct sl_workload_spec *spec) {
  distribution(L, index, &spec->distribution);
  int count = list(L, index, "size_mix", SL_SIZE_MIX_MAX);
  for (int i = 0; i < count; i++) {
    int at = entry(L, "size_mix", i);
    spec->size_mix[i].record_bytes =
        (uint64_t)l_spec_integer(L, at, "record_bytes", 0, 1, LUA_MAXINTEGER);
    spec->size_mix[i].percent =
        (unsigned)l_spec_integer(L, at, "percent", 0, 0, 100);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  spec->steady.window_ns =
      l_spec_integer(L, index, "steady_window_ns", 0, 0, LUA_MAXINTEGER);
  spec->steady.percent =
      (unsigned)l_spec_integer(L, index, "steady_percent", 0, 0, 100);
}
