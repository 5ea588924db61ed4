/* SPDX-License-Identifier: MIT */
#include "bindings/host/host.h"
#include "core/run/job.h"
#include "core/run/signals.h"
#include "core/run/supervisor.h"

/* on(event, fn): "stop", "stall", "interrupt", "failure"; see host.h */
static int l_on(lua_State *L) {
  static const char *const names[] = {"stop", "stall", "interrupt", "failure",
                                      NULL};
  struct sl_host *host = l_host(L);
  int event = luaL_checkoption(L, 1, NULL, names);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  luaL_unref(L, LUA_REGISTRYINDEX, host->on[event]);
  host->on[event] = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

static lua_State *check_thread(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  if (!co) luaL_typeerror(L, 1, "coroutine");
  return co;
}

static int can_resume(lua_State *co) {
  if (lua_status(co) == LUA_YIELD) return 1;
  lua_Debug ar;
  return lua_status(co) == LUA_OK && lua_getstack(co, 0, &ar) == 0 &&
         lua_gettop(co) > 0;
}

/* Both say what Lua's own functions say. */
static int resume_checked(lua_State *L, lua_State *co, int nargs) {
  if (can_resume(co)) return l_host_resume(L, co, nargs);
  lua_Debug ar;
  int is_dead =
      co != L && (lua_status(co) > LUA_YIELD || lua_getstack(co, 0, &ar) == 0);
  lua_pushfstring(L, "cannot resume %s coroutine",
                  is_dead ? "dead" : "non-suspended");
  return -1;
}

/* resume(co, ...) -> true, ... | false, error; as coroutine.resume */
static int l_resume(lua_State *L) {
  lua_State *co = check_thread(L);
  int n = resume_checked(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, n >= 0);
  if (n < 0) n = 1;
  lua_insert(L, -(n + 1));
  return n + 1;
}

/* step(co) -> nothing: it waits | true: it has ended | false, error
 * Runs a task up to its next wait. */
static int l_step(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  if (!co || !can_resume(co)) return luaL_error(L, "this task cannot run");
  int status = l_host_step(L, co, 0);
  if (status == 0) return 0;
  lua_pushboolean(L, status > 0);
  if (status > 0) return 1;
  lua_insert(L, -2);
  return 2;
}

/* task() -> coroutine of the task that runs now, or nil */
static int l_task(lua_State *L) {
  lua_State *co = l_host(L)->task;
  if (!co) return 0;
  lua_pushthread(co);
  lua_xmove(co, L, co != L);
  return 1;
}

/* alert(change): counts cancelled tasks and shields, see host.h */
static int l_alert(lua_State *L) {
  l_host(L)->alerts += (unsigned)luaL_checkinteger(L, 1);
  return 0;
}

static int l_wrapped(lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  int n = resume_checked(L, co, lua_gettop(L));
  if (n >= 0) return n;
  if (lua_status(co) > LUA_YIELD) { /* it failed: run its pending closes */
    lua_pop(L, 1);
    lua_resetthread(co);
    lua_xmove(co, L, 1);
  }
  if (lua_type(L, -1) == LUA_TSTRING) { /* add position, as Lua does */
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* wrap(fn) -> function; as coroutine.wrap */
static int l_wrap(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushcclosure(L, l_wrapped, 1);
  return 1;
}

/* stopped_by() -> number, name of the signal that asked to stop; 0 for none */
static int l_stopped_by(lua_State *L) {
  int number = sl_signals_stopped_by();
  lua_pushinteger(L, number);
  lua_pushstring(L, sl_signal_name(number));
  return 2;
}

/* signal_name(number) -> "SIGINT" */
static int l_signal_name(lua_State *L) {
  lua_pushstring(L, sl_signal_name((int)luaL_checkinteger(L, 1)));
  return 1;
}

/* abandoned_jobs() -> how many given-up jobs have not come back */
static int l_abandoned_jobs(lua_State *L) {
  lua_pushinteger(L, sl_job_abandoned_running());
  return 1;
}

/* supervisor() -> process id, 0 without one */
static int l_supervisor(lua_State *L) {
  lua_pushinteger(L, sl_supervisor_pid());
  return 1;
}

int luaopen_storlua_core_host(lua_State *L);
int luaopen_storlua_core_host(lua_State *L) {
  static const luaL_Reg functions[] = {{"on", l_on},
                                       {"resume", l_resume},
                                       {"step", l_step},
                                       {"task", l_task},
                                       {"alert", l_alert},
                                       {"wrap", l_wrap},
                                       {"stopped_by", l_stopped_by},
                                       {"signal_name", l_signal_name},
                                       {"abandoned_jobs", l_abandoned_jobs},
                                       {"supervisor", l_supervisor},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
