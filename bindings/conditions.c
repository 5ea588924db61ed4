/* SPDX-License-Identifier: MIT */
#include <lauxlib.h>
#include <lua.h>

#include "bindings/fields.h"
#include "core/base/clock.h"
#include "core/device/conditions.h"

/* read() -> {kernel, machine, model, governor, cpus, memory_bytes, boot_id,
 * zones = {{type, celsius}, …}} */
static int l_read(lua_State *L) {
  struct sl_conditions c;
  char boot_id[SL_BOOT_ID_BYTES];

  sl_conditions_read(NULL, &c);
  lua_createtable(L, 0, 8);
  l_set_text(L, "kernel", c.kernel);
  l_set_text(L, "machine", c.machine);
  l_set_text(L, "model", c.model);
  l_set_text(L, "governor", c.governor);
  l_set_count(L, "cpus", c.cpus);
  l_set_count(L, "memory_bytes", c.memory_bytes);
  l_set_text(L, "boot_id", sl_boot_id(boot_id, sizeof boot_id));
  lua_createtable(L, (int)c.zone_count, 0);
  for (unsigned i = 0; i < c.zone_count; i++) {
    lua_createtable(L, 0, 2);
    l_set_text(L, "type", c.zones[i].type);
    if (c.zones[i].is_known) {
      lua_pushnumber(L, (lua_Number)c.zones[i].millicelsius / 1000.0);
      lua_setfield(L, -2, "celsius");
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "zones");
  return 1;
}

int luaopen_storlua_core_conditions(lua_State *L);
int luaopen_storlua_core_conditions(lua_State *L) {
  static const luaL_Reg functions[] = {{"read", l_read}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
