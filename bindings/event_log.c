/* SPDX-License-Identifier: MIT */
#include "core/run/event_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/class.h"
#include "bindings/error.h"
#include "bindings/host/host.h"
#include "bindings/job.h"

#define LOG "storlua.event_log"

struct l_event_log {
  struct sl_event_log *log; /* NULL when released */
  struct sl_host *host;
  int changed_ref;
};

static struct l_event_log *check_log(lua_State *L) {
  struct l_event_log *l = luaL_checkudata(L, 1, LOG);
  luaL_argcheck(L, l->log, 1, "the event log is released");
  return l;
}

static void on_changed(struct sl_event_log *log, void *user) {
  struct l_event_log *l = user;
  (void)log;
  if (l->changed_ref != LUA_NOREF) l_host_call(l->host, l->changed_ref, 0);
}

static uint64_t integer_field(lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);
  lua_Integer value = luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  return value < 0 ? 0 : (uint64_t)value;
}

struct opening {
  struct sl_event_log_options options;
  struct sl_event_files *files; /* until a log took them */
  struct sl_error error;
  int code;
  char directory[];
};

static void run_open(struct sl_job *job, void *data) {
  struct opening *o = data;
  sl_job_enter(job, "open", -1);
  o->code = sl_event_files_prepare(&o->options, &o->files, &o->error);
}

static void free_opening(void *data) {
  struct opening *o = data;
  if (o->files) sl_event_files_free(o->files);
  free(o);
}

static int push_log(lua_State *L, void *data) {
  struct opening *o = data;
  if (o->code) return l_push_error(L, &o->error);
  struct l_event_log *l = lua_newuserdatauv(L, sizeof *l, 0);
  *l = (struct l_event_log){NULL, l_host(L), LUA_NOREF};
  luaL_setmetatable(L, LOG);
  o->options.user = l;
  struct sl_event_files *files = o->files;
  o->files = NULL;
  struct sl_error e;
  if (sl_event_log_start(l_loop(L), &o->options, files, &l->log, &e))
    return l_push_error(L, &e);
  return 1;
}

/* open{directory, limit_bytes, resume, queue_bytes, stuck_ns} -> job, whose
 * result is the log */
static int l_open(lua_State *L) {
  static const struct l_job_kind kind = {
      {"open event log", run_open, free_opening}, push_log, NULL};
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  struct sl_event_log_options o = {.changed = on_changed};
  o.limit_bytes = integer_field(L, 1, "limit_bytes");
  o.queue_bytes = (size_t)integer_field(L, 1, "queue_bytes");
  o.stuck_ns = (int64_t)integer_field(L, 1, "stuck_ns");
  luaL_argcheck(L, o.limit_bytes >= SL_EVENT_LIMIT_MIN_BYTES, 1,
                "limit_bytes is less than 1 MiB");
  lua_getfield(L, 1, "resume");
  o.resume = lua_toboolean(L, -1);
  lua_getfield(L, 1, "directory");
  const char *directory = l_check_path(L, 3);
  size_t bytes = strlen(directory) + 1;
  struct opening *opening = calloc(1, sizeof *opening + bytes);
  if (!opening) return luaL_error(L, "not enough memory");
  opening->options = o;
  opening->options.directory = memcpy(opening->directory, directory, bytes);
  return l_job_start(L, &kind, opening);
}

static int push_result(lua_State *L, int code, uint64_t ticket,
                       const char *what) {
  if (code == 0) {
    lua_pushinteger(L, (lua_Integer)ticket);
    return 1;
  }
  struct sl_error e;
  sl_error_set(&e, code, what, NULL, -1);
  return l_push_error(L, &e);
}

static unsigned flags_of(const char *text) {
  unsigned flags = 0;
  for (; *text; text++) {
    if (*text == 'd') flags |= SL_EVENT_DURABLE;
    if (*text == 'f') flags |= SL_EVENT_FINAL;
    if (*text == 'r') flags |= SL_EVENT_ROTATE;
  }
  return flags;
}

/* append(line, flags) -> ticket; flags: letters of d(urable), f(inal),
 * r(otate) */
static int l_append(lua_State *L) {
  struct l_event_log *l = check_log(L);
  size_t length;
  const char *line = luaL_checklstring(L, 2, &length);
  unsigned flags = flags_of(luaL_optstring(L, 3, ""));
  uint64_t ticket = 0;
  int code = sl_event_log_append(l->log, line, length, flags, &ticket);
  return push_result(L, code, ticket, "append event");
}

/* replace(path, content) -> ticket */
static int l_replace(lua_State *L) {
  struct l_event_log *l = check_log(L);
  const char *path = l_check_path(L, 2);
  size_t length;
  const char *content = luaL_checklstring(L, 3, &length);
  uint64_t ticket = 0;
  int code = sl_event_log_replace(l->log, path, content, length, &ticket);
  return push_result(L, code, ticket, "replace file");
}

static int l_wants_rotation(lua_State *L) {
  struct l_event_log *l = check_log(L);
  lua_Integer length = l_check_range(L, 2, 0, LUA_MAXINTEGER);
  lua_pushboolean(L, sl_event_log_wants_rotation(l->log, (size_t)length));
  return 1;
}

/* A failure as a table {code, op, path, offset, hint, message}, or nothing. */
static void set_failure(lua_State *L, const struct sl_error *e,
                        const char *name) {
  if (!e->code) return;
  l_push_error(L, e); /* nil text code fields */
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "message");
  lua_setfield(L, -5, name);
  lua_pop(L, 3);
}

/* progress() -> done_ticket, has_room, failed, closed: the cheap part */
static int l_progress(lua_State *L) {
  struct sl_event_log_state state;
  sl_event_log_state(check_log(L)->log, &state);
  lua_pushinteger(L, (lua_Integer)state.done_ticket);
  lua_pushboolean(L, state.has_room);
  lua_pushboolean(L, state.failure.code != 0);
  lua_pushboolean(L, state.is_closed);
  return 4;
}

/* state() -> {lost_lines, failure, replaced, last_word, stuck_what,
 * stuck_seconds, torn_bytes, limit_bytes} */
static int l_state(lua_State *L) {
  struct l_event_log *l = check_log(L);
  struct sl_event_log_state state;
  sl_event_log_state(l->log, &state);
  lua_createtable(L, 0, 8);
  lua_pushinteger(L, (lua_Integer)state.lost_lines);
  lua_setfield(L, -2, "lost_lines");
  lua_pushinteger(L, (lua_Integer)sl_event_log_torn_bytes(l->log));
  lua_setfield(L, -2, "torn_bytes");
  lua_pushinteger(L, (lua_Integer)sl_event_log_limit_bytes(l->log));
  lua_setfield(L, -2, "limit_bytes");
  set_failure(L, &state.failure, "failure");
  set_failure(L, &state.replaced, "replaced");
  set_failure(L, &state.last_word, "last_word");
  if (state.stuck_what) {
    lua_pushstring(L, state.stuck_what);
    lua_setfield(L, -2, "stuck_what");
    lua_pushnumber(L, (double)state.stuck_ns / 1e9);
    lua_setfield(L, -2, "stuck_seconds");
  }
  return 1;
}

/* on_changed(fn): called at every change of the state; nil takes it away */
static int l_on_changed(lua_State *L) {
  struct l_event_log *l = check_log(L);
  luaL_unref(L, LUA_REGISTRYINDEX, l->changed_ref);
  l->changed_ref = LUA_NOREF;
  if (lua_isnoneornil(L, 2)) return 0;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  l->changed_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

static int l_finish(lua_State *L) {
  sl_event_log_finish(check_log(L)->log);
  return 0;
}

static int l_release(lua_State *L) {
  struct l_event_log *l = luaL_checkudata(L, 1, LOG);
  luaL_unref(L, LUA_REGISTRYINDEX, l->changed_ref);
  l->changed_ref = LUA_NOREF;
  if (l->log) sl_event_log_release(l->log);
  l->log = NULL;
  return 0;
}

static const luaL_Reg methods[] = {
    {"append", l_append},         {"replace", l_replace},
    {"progress", l_progress},     {"state", l_state},
    {"on_changed", l_on_changed}, {"wants_rotation", l_wants_rotation},
    {"finish", l_finish},         {"release", l_release},
    {"__gc", l_release},          {NULL, NULL}};

int luaopen_storlua_core_event_log(lua_State *L);
int luaopen_storlua_core_event_log(lua_State *L) {
  static const luaL_Reg functions[] = {{"open", l_open}, {NULL, NULL}};
  l_new_class(L, LOG, methods);
  luaL_newlib(L, functions);
  return 1;
}
