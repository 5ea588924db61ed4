/* SPDX-License-Identifier: MIT */
/* The spec as a Lua table.  lua/storlua/workload/spec.lua fills it in with
 * base units; what is missing here is zero. */
#include <string.h>

#include "bindings/error.h"
#include "bindings/streams.h"
#include "bindings/workload.h"

static uint64_t number(lua_State *L, int index, const char *field,
                       uint64_t max) {
  lua_getfield(L, index, field);
  int is_integer = 1;
  lua_Integer value = lua_isnil(L, -1) ? 0 : lua_tointegerx(L, -1, &is_integer);
  if (!is_integer || lua_type(L, -1) == LUA_TSTRING)
    luaL_error(L, "field '%s' must be an integer, not %s", field,
               luaL_tolstring(L, -1, NULL));
  if (value < 0 || (uint64_t)value > max)
    luaL_error(L, "field '%s' is %I: it must be from 0 to %I", field,
               (LUAI_UACINT)value, (LUAI_UACINT)max);
  lua_pop(L, 1);
  return (uint64_t)value;
}

static uint64_t size(lua_State *L, int index, const char *field) {
  return number(L, index, field, INT64_MAX);
}

static bool flag(lua_State *L, int index, const char *field) {
  lua_getfield(L, index, field);
  bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}

/* Index of the field's text among `choices`; the first when it is missing. */
static int choice(lua_State *L, int index, const char *field,
                  const char *const *choices) {
  lua_getfield(L, index, field);
  int found = lua_isnil(L, -1) ? 0 : -1;
  for (int i = 0; found < 0 && choices[i]; i++) {
    if (lua_type(L, -1) == LUA_TSTRING &&
        strcmp(lua_tostring(L, -1), choices[i]) == 0)
      found = i;
  }
  if (found < 0)
    luaL_error(L, "field '%s' cannot be %s", field,
               luaL_tolstring(L, -1, NULL));
  lua_pop(L, 1);
  return found;
}

static const struct sl_engine *engine(lua_State *L, int index) {
  lua_getfield(L, index, "engine");
  const char *name = luaL_optstring(L, -1, "psync");
  const struct sl_engine *found = sl_engine_find(name);
  if (!found) luaL_error(L, "this build has no engine '%s'", name);
  lua_pop(L, 1);
  return found;
}

/* The string stays in the table, which the caller keeps on the stack. */
static const char *path(lua_State *L, int index) {
  const char *text = NULL;
  lua_getfield(L, index, "path");
  if (!lua_isnil(L, -1)) {
    size_t length;
    if (lua_type(L, -1) != LUA_TSTRING)
      luaL_error(L, "field 'path' must be a string");
    text = lua_tolstring(L, -1, &length);
    if (length == 0) luaL_error(L, "field 'path' is empty");
    if (strlen(text) != length) luaL_error(L, "field 'path' contains a NUL");
  }
  lua_pop(L, 1);
  return text;
}

/* The strings stay in the list, which the caller's table keeps.  Pushes two
 * values: the list and a userdata with pointers into it, or two nils. */
static void more_paths(lua_State *L, int index, struct sl_workload_spec *spec) {
  if (lua_getfield(L, index, "more_paths") == LUA_TNIL) {
    lua_pushnil(L);
    return;
  }
  if (!lua_istable(L, -1)) luaL_error(L, "field 'more_paths' must be a list");
  size_t count = (size_t)lua_rawlen(L, -1);
  const char **list = lua_newuserdatauv(L, (count + 1) * sizeof *list, 0);
  for (size_t i = 0; i < count; i++) {
    if (lua_rawgeti(L, -2, (lua_Integer)i + 1) != LUA_TSTRING)
      luaL_error(L, "field 'more_paths' must be a list of strings");
    list[i] = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  spec->more_paths = list;
  spec->more_count = (unsigned)count;
  spec->one_after_other = flag(L, index, "one_after_other");
}

/* Pushes a userdata with the ranges, or nil. */
static void legal(lua_State *L, int index, struct sl_workload_spec *spec) {
  if (lua_getfield(L, index, "legal") == LUA_TNIL) return; /* nil stays */
  if (!lua_istable(L, -1)) luaL_error(L, "field 'legal' must be a list");
  size_t count = (size_t)lua_rawlen(L, -1);
  struct sl_legal *list =
      lua_newuserdatauv(L, (count ? count : 1) * sizeof *list, 0);
  lua_insert(L, -2); /* userdata list */
  for (size_t i = 0; i < count; i++) {
    if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TTABLE)
      luaL_error(L, "field 'legal' must be a list of tables");
    int at = lua_gettop(L);
    list[i] = (struct sl_legal){
        .offset = size(L, at, "offset"),
        .length = size(L, at, "length"),
        .generation_min = (uint32_t)number(L, at, "generation_min", UINT32_MAX),
        .generation_max = (uint32_t)number(L, at, "generation_max", UINT32_MAX),
        .zero_ok = flag(L, at, "zero_ok")};
    lua_pop(L, 1);
  }
  lua_pop(L, 1); /* userdata */
  spec->legal = list;
  spec->legal_count = count;
}

static void what(lua_State *L, int t, struct sl_workload_spec *spec) {
  static const char *const operations[] = {"read", "write",      "mixed",
                                           "trim", "trim_write", NULL};
  static const char *const orders[] = {"sequential", "backward", "random",
                                       "strided", NULL};
  spec->operation = (enum sl_operation)choice(L, t, "operation", operations);
  spec->read_percent = (unsigned)number(L, t, "read_percent", 100);
  spec->record_bytes = size(L, t, "record_bytes");
  spec->range_offset = size(L, t, "range_offset");
  spec->range_bytes = size(L, t, "range_bytes");
  spec->order = (enum sl_order_kind)choice(L, t, "order", orders);
  spec->stride_records = size(L, t, "stride_records");
  spec->seed = size(L, t, "seed");
  spec->first_visit = size(L, t, "first_visit");
  spec->limit_records = size(L, t, "limit_records");
  spec->limit_bytes = size(L, t, "limit_bytes");
  spec->limit_ns = (int64_t)size(L, t, "limit_ns");
  spec->ramp_ns = (int64_t)size(L, t, "ramp_ns");
  spec->rate_bytes_s = size(L, t, "rate_bytes_s");
  spec->rate_operations_s = size(L, t, "rate_operations_s");
  spec->think_ns = (int64_t)size(L, t, "think_ns");
  spec->think_spin_ns = (int64_t)size(L, t, "think_spin_ns");
  spec->think_after_ns = (int64_t)size(L, t, "think_after_ns");
  spec->think_every = size(L, t, "think_every");
  spec->limit_latency_ns = (int64_t)size(L, t, "limit_latency_ns");
  spec->cpus = size(L, t, "cpus");
  spec->interval_ns = (int64_t)size(L, t, "interval_ns");
  spec->series_directions = flag(L, t, "series_directions");
  spec->virtual_op_ns = (int64_t)size(L, t, "virtual_op_ns");
  /* How deep a queue may be is the engine's to say. */
  spec->queue_depth = (unsigned)number(L, t, "queue_depth", UINT32_MAX);
  spec->vectors = (unsigned)number(L, t, "vectors", UINT32_MAX);
  spec->engine_forced = flag(L, t, "engine_forced");
}

/* The userdata stays in the table, which the caller keeps on the stack. */
static void among(lua_State *L, int index, struct sl_workload_spec *spec) {
  if (lua_getfield(L, index, "group") != LUA_TNIL) {
    spec->streams = l_check_streams(L, -1);
  }
  lua_pop(L, 1);
  spec->stream = (unsigned)number(L, index, "stream", SL_STREAMS_MAX);
}

static void how(lua_State *L, int t, struct sl_workload_spec *spec) {
  static const char *const flushes[] = {"none", "end", "every", "after", NULL};
  static const char *const syncs[] = {"none", "data", "full", NULL};
  static const char *const map_syncs[] = {"none", "async", "record", NULL};
  spec->target = (struct sl_target_spec){
      .path = path(L, t),
      .create = flag(L, t, "create"),
      .truncate = flag(L, t, "truncate"),
      .direct = flag(L, t, "direct"),
      .sync = (enum sl_open_sync)choice(L, t, "open_sync", syncs),
      .size_bytes = size(L, t, "size_bytes")};
  spec->flush = (enum sl_flush)choice(L, t, "flush", flushes);
  spec->flush_every = size(L, t, "flush_every");
  spec->map_sync = (enum sl_map_sync)choice(L, t, "map_sync", map_syncs);
  spec->stamp = flag(L, t, "stamp");
  spec->verify = flag(L, t, "verify");
  spec->identity = (struct sl_stamp){
      .run = (uint32_t)number(L, t, "run_id", UINT32_MAX),
      .generation = (uint32_t)number(L, t, "generation", UINT32_MAX),
      .target = (uint32_t)number(L, t, "target_id", UINT32_MAX),
      .writer = (uint16_t)number(L, t, "writer", UINT16_MAX)};
  spec->bad_kept = (unsigned)number(L, t, "bad_kept", SL_BAD_KEPT_MAX);
  spec->continue_on_error = flag(L, t, "continue_on_error");
  spec->drop_cache = flag(L, t, "drop_cache");
  spec->require_cold = flag(L, t, "require_cold");
}

void l_workload_spec(lua_State *L, int index, struct sl_workload_spec *spec) {
  luaL_checktype(L, index, LUA_TTABLE);
  index = lua_absindex(L, index);
  memset(spec, 0, sizeof *spec);
  spec->engine = engine(L, index);
  what(L, index, spec);
  how(L, index, spec);
  among(L, index, spec);
  l_workload_vary(L, index, spec);
  more_paths(L, index, spec);
  legal(L, index, spec);
}
