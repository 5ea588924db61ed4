/* SPDX-License-Identifier: MIT */
#include "bindings/error.h"
#include "bindings/fields.h"
#include "core/memory/crew.h"
#include "core/memory/kernel.h"
#include "core/memory/limits.h"

/* limits([root]) -> {total_bytes, available_bytes, cgroup, cgroup_limit_bytes,
 * cgroup_used_bytes, cgroup_unknown, free_bytes, reserve_bytes, room_bytes};
 * root is put before /proc and /sys */
static int l_limits(lua_State *L) {
  const char *root = lua_isnoneornil(L, 1) ? NULL : l_check_path(L, 1);
  struct sl_memory_limits limits;
  struct sl_error e;
  if (sl_memory_limits(root, &limits, &e) != 0) return l_push_error(L, &e);
  lua_createtable(L, 0, 9);
  l_set_count(L, "total_bytes", limits.total_bytes);
  l_set_count(L, "available_bytes", limits.available_bytes);
  l_set_text(L, "cgroup", limits.cgroup);
  l_set_count(L, "cgroup_limit_bytes", limits.cgroup_limit_bytes);
  l_set_count(L, "cgroup_used_bytes", limits.cgroup_used_bytes);
  l_set_flag(L, "cgroup_unknown", limits.cgroup_unknown);
  l_set_count(L, "free_bytes", limits.free_bytes);
  l_set_count(L, "reserve_bytes", limits.reserve_bytes);
  l_set_count(L, "room_bytes", limits.room_bytes);
  return 1;
}

/* operations() -> list of {name, reads, writes, touched} */
static int l_operations(lua_State *L) {
  lua_createtable(L, SL_MEMORY_OPS, 0);
  for (int op = 0; op < SL_MEMORY_OPS; op++) {
    const struct sl_memory_op_facts *facts =
        sl_memory_op_facts((enum sl_memory_op)op);
    lua_createtable(L, 0, 4);
    l_set_text(L, "name", facts->name);
    l_set_count(L, "reads", facts->reads);
    l_set_count(L, "writes", facts->writes);
    l_set_count(L, "touched", facts->touched);
    lua_rawseti(L, -2, op + 1);
  }
  return 1;
}

/* kernels(name) -> names of the kernels of an operation that this CPU runs */
static int l_kernels(lua_State *L) {
  const enum sl_memory_op op = sl_memory_op_find(luaL_checkstring(L, 1));
  luaL_argcheck(L, op < SL_MEMORY_OPS, 1, "no such operation");
  const struct sl_kernel *list[SL_KERNELS_MAX];
  const size_t count = sl_kernels(list, SL_KERNELS_MAX, op);
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushstring(L, list[i]->name);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* instruction_sets() -> "avx512 avx2 …" */
static int l_instruction_sets(lua_State *L) {
  lua_pushstring(L, sl_kernel_isas());
  return 1;
}

/* cpus() -> how many threads can have a CPU of their own */
static int l_cpus(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)sl_crew_cpus());
  return 1;
}

int luaopen_storlua_core_memory(lua_State *L);
int luaopen_storlua_core_memory(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"limits", l_limits},   {"operations", l_operations},
      {"kernels", l_kernels}, {"instruction_sets", l_instruction_sets},
      {"cpus", l_cpus},       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
