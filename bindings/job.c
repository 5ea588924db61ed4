/* SPDX-License-Identifier: MIT */
#include "bindings/job.h"

#include "bindings/class.h"
#include "bindings/error.h"
#include "bindings/host/host.h"

#define JOB "storlua.job"

struct l_job {
  struct sl_job *job; /* NULL when closed */
  const struct l_job_kind *kind;
  struct sl_host *host;
  int done_ref; /* the function for on_done, or LUA_NOREF */
};

static struct l_job *check_job(lua_State *L) {
  struct l_job *j = luaL_checkudata(L, 1, JOB);
  luaL_argcheck(L, j->job, 1, "the job is closed");
  return j;
}

static void call_done(struct l_job *j) {
  int ref = j->done_ref;
  if (ref == LUA_NOREF) return;
  j->done_ref = LUA_NOREF;
  l_host_call(j->host, ref, 0);
  luaL_unref(j->host->L, LUA_REGISTRYINDEX, ref);
}

static void on_done(struct sl_job *job, void *user) {
  (void)job;
  call_done(user);
}

int l_job_start(lua_State *L, const struct l_job_kind *kind, void *data) {
  struct l_job *j = lua_newuserdatauv(L, sizeof *j, 0);
  *j = (struct l_job){NULL, kind, l_host(L), LUA_NOREF};
  luaL_setmetatable(L, JOB);
  struct sl_error e;
  if (sl_job_start(l_loop(L), &kind->class, data, on_done, j, &j->job, &e)) {
    if (kind->class.release) kind->class.release(data);
    return l_push_error(L, &e);
  }
  return 1;
}

/* on_done(fn): calls fn once, soon, when the job has ended; at once when it
 * has already.  One function at a time; nil takes it away. */
static int l_on_done(lua_State *L) {
  struct l_job *j = check_job(L);
  luaL_unref(L, LUA_REGISTRYINDEX, j->done_ref);
  j->done_ref = LUA_NOREF;
  if (lua_isnoneornil(L, 2)) return 0;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  j->done_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  if (sl_job_is_done(j->job)) call_done(j);
  return 0;
}

static int l_is_done(lua_State *L) {
  lua_pushboolean(L, sl_job_is_done(check_job(L)->job));
  return 1;
}

static int l_cancel(lua_State *L) {
  sl_job_cancel(check_job(L)->job);
  return 0;
}

static int l_abandon(lua_State *L) {
  sl_job_abandon(check_job(L)->job);
  return 0;
}

static int l_result(lua_State *L) {
  struct l_job *j = check_job(L);
  if (!sl_job_is_done(j->job)) return luaL_error(L, "the job is not done");
  return j->kind->push_result(L, sl_job_data(j->job));
}

static int l_progress(lua_State *L) {
  struct l_job *j = check_job(L);
  if (!j->kind->push_progress) return 0;
  return j->kind->push_progress(L, sl_job_data(j->job));
}

/* stuck() -> nil, or {what, offset, seconds, thread, kernel_stack} while the
 * thread is inside a system call */
static int l_stuck(lua_State *L) {
  struct sl_job_stuck stuck;
  sl_job_stuck(check_job(L)->job, &stuck);
  if (!stuck.what) return 0;
  lua_createtable(L, 0, 5);
  lua_pushstring(L, stuck.what);
  lua_setfield(L, -2, "what");
  if (stuck.offset >= 0) {
    lua_pushinteger(L, stuck.offset);
    lua_setfield(L, -2, "offset");
  }
  lua_pushnumber(L, (double)(sl_monotonic_ns() - stuck.since_ns) / 1e9);
  lua_setfield(L, -2, "seconds");
  lua_pushinteger(L, stuck.thread_id);
  lua_setfield(L, -2, "thread");
  lua_pushstring(L, stuck.kernel_stack);
  lua_setfield(L, -2, "kernel_stack");
  return 1;
}

static int l_name(lua_State *L) {
  lua_pushstring(L, sl_job_name(check_job(L)->job));
  return 1;
}

/* close(): lets go of the job and all it holds; one that still runs is
 * abandoned. */
static int l_close(lua_State *L) {
  struct l_job *j = luaL_checkudata(L, 1, JOB);
  luaL_unref(L, LUA_REGISTRYINDEX, j->done_ref);
  j->done_ref = LUA_NOREF;
  if (!j->job) return 0;
  if (!sl_job_is_done(j->job)) sl_job_abandon(j->job);
  sl_job_unref(j->job);
  j->job = NULL;
  return 0;
}

static int l_tostring(lua_State *L) {
  struct l_job *j = luaL_checkudata(L, 1, JOB);
  lua_pushfstring(L, "storlua.job: %s",
                  j->job ? sl_job_name(j->job) : "closed");
  return 1;
}

static const luaL_Reg methods[] = {{"on_done", l_on_done},
                                   {"is_done", l_is_done},
                                   {"cancel", l_cancel},
                                   {"abandon", l_abandon},
                                   {"result", l_result},
                                   {"progress", l_progress},
                                   {"stuck", l_stuck},
                                   {"name", l_name},
                                   {"close", l_close},
                                   {"__gc", l_close},
                                   {"__close", l_close},
                                   {"__tostring", l_tostring},
                                   {NULL, NULL}};

int luaopen_storlua_core_job(lua_State *L);
int luaopen_storlua_core_job(lua_State *L) {
  l_new_class(L, JOB, methods);
  lua_newtable(L);
  return 1;
}
