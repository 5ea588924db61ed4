/* SPDX-License-Identifier: MIT */
#include "bindings/host/host.h"

#include "bindings/host/interrupt.h"

struct sl_host *l_host(lua_State *L) {
  return *(struct sl_host **)lua_getextraspace(L);
}

struct sl_loop *l_loop(lua_State *L) {
  return &l_host(L)->loop;
}

static int add_traceback(lua_State *L) {
  const char *message = luaL_tolstring(L, 1, NULL);
  luaL_traceback(L, L, message, 1);
  return 1;
}

int l_host_pcall(lua_State *L, int nargs, int nresults) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  int status = lua_pcall(L, nargs, nresults, base);
  lua_remove(L, base);
  return status;
}

static void report_failure(struct sl_host *host) { /* text */
  lua_State *L = host->L;
  int ref = host->on[L_HOST_FAILURE];
  if (ref == LUA_NOREF) {
    lua_writestringerror("storlua: in a callback: %s\n", lua_tostring(L, -1));
  } else {
    lua_rawgeti(L, LUA_REGISTRYINDEX, ref);             /* text fn */
    lua_pushvalue(L, -2);                               /* text fn text */
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1); /* text */
  }
  lua_pop(L, 1);
}

void l_host_call(struct sl_host *host, int ref, int nargs) {
  lua_State *L = host->L;
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  lua_insert(L, -1 - nargs);
  host->callbacks++;
  host->loop.deliveries++;
  int status = l_host_pcall(L, nargs, 0);
  host->callbacks--;
  if (status != LUA_OK) report_failure(host);
}

void l_host_tell(struct sl_host *host, enum l_host_event event, int nargs) {
  if (host->on[event] == LUA_NOREF)
    lua_pop(host->L, nargs);
  else
    l_host_call(host, host->on[event], nargs);
}

/* lua_resume that keeps `running`, which is read in signal handlers on this
 * thread only. */
static inline int run(lua_State *L, struct sl_host *host, lua_State *co,
                      int nargs, int *nresults) {
  lua_State *before =
      atomic_load_explicit(&host->running, memory_order_relaxed);
  atomic_store_explicit(&host->running, co, memory_order_relaxed);
  int status = lua_resume(co, L, nargs, nresults);
  atomic_store_explicit(&host->running, before, memory_order_relaxed);
  if (host->insists) l_interrupt_left(host, co);
  return status;
}

/* As auxresume of Lua's own library. */
int l_host_resume(lua_State *L, lua_State *co, int nargs) {
  if (!lua_checkstack(co, nargs)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, nargs);
  int nresults = 0;
  int status = run(L, l_host(L), co, nargs, &nresults);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1); /* the error */
    return -1;
  }
  if (!lua_checkstack(L, nresults + 1)) {
    lua_pop(co, nresults);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, nresults);
  return nresults;
}

__attribute__((hot)) int l_host_step(lua_State *L, lua_State *co, int nargs) {
  struct sl_host *host = l_host(L);
  int nresults = 0;
  host->task = co;
  int status = run(L, host, co, nargs, &nresults);
  host->task = NULL;
  if (status > LUA_YIELD) {
    lua_xmove(co, L, 1); /* the error */
    return -1;
  }
  if (nresults) lua_pop(co, nresults);
  return status == LUA_YIELD ? 0 : 1;
}
