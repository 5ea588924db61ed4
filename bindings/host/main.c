/* SPDX-License-Identifier: MIT */
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/host/embedded.h"
#include "bindings/host/host.h"

/* The Lua state, ready but for the arguments. */
static int open_state(struct sl_host *host, const char *lua_dir) {
  lua_State *L = host->L = luaL_newstate();
  if (!L) return -1;
  host->running = L;
  *(struct sl_host **)lua_getextraspace(L) = host;
  luaL_openlibs(L);
  sl_embedded_install(L, lua_dir);
  return 0;
}

/* storlua.host.main(argv) -> exit code */
static int run_host(lua_State *L, int argc, char **argv) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "storlua.host");
  if (l_host_pcall(L, 1, 1) != LUA_OK) goto failed;
  lua_getfield(L, -1, "main");
  lua_createtable(L, argc, 0);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i);
  }
  if (l_host_pcall(L, 1, 1) != LUA_OK) goto failed;
  return (int)lua_tointeger(L, -1);
failed:
  fprintf(stderr, "storlua: %s\n", lua_tostring(L, -1));
  return 3;
}

int main(int argc, char **argv) {
  static struct sl_host host;
  struct sl_error e;
  const char *virtual_time = getenv("STORLUA_VIRTUAL_TIME");
  if (sl_loop_init(&host.loop, virtual_time && *virtual_time, &e)) {
    char text[SL_ERROR_TEXT_BYTES];
    fprintf(stderr, "storlua: %s\n", sl_error_text(&e, text, sizeof text));
    return 3;
  }
  if (open_state(&host, getenv("STORLUA_LUA_DIR"))) {
    fprintf(stderr, "storlua: not enough memory for Lua\n");
    return 3;
  }
  int code = run_host(host.L, argc, argv);
  lua_close(host.L);
  sl_loop_close(&host.loop);
  return code;
}
