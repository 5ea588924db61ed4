/* SPDX-License-Identifier: MIT */
#include "bindings/host/interrupt.h"

#include "core/run/stall.h"

static void on_hook(lua_State *L, lua_Debug *where) {
  (void)where;
  struct sl_host *host = l_host(L);
  int what = atomic_exchange(&host->asked, 0);
  if (host->insists) what |= SL_STALL_STOP;
  host->insists = false;
  int ref = host->on[L_HOST_INTERRUPT];
  if (!what || ref == LUA_NOREF || !lua_checkstack(L, 8)) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  lua_pushinteger(L, what);
  /* On the main state itself only callbacks may be interrupted: an error
   * anywhere else there would end the scheduler. */
  lua_pushboolean(L, L != host->L || host->callbacks > 0);
  lua_call(L, 2, 2); /* error insist */
  host->insists = lua_toboolean(L, -1);
  lua_pop(L, 1);
  if (!host->insists) lua_sethook(L, NULL, 0, 0);
  if (!lua_isnil(L, -1)) lua_error(L);
  lua_pop(L, 1);
}

void l_interrupt_left(struct sl_host *host, lua_State *co) {
  if (!host->insists) return;
  host->insists = false;
  lua_sethook(co, NULL, 0, 0);
}

void l_interrupt_ask(struct sl_host *host, int what) {
  lua_State *L = atomic_load(&host->running);
  atomic_fetch_or(&host->asked, what);
  /* A hook of the script's own (a debugger, a coverage tool) stays. */
  if (L && !lua_gethook(L)) lua_sethook(L, on_hook, LUA_MASKCOUNT, 1);
}
