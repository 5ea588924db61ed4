/* SPDX-License-Identifier: MIT */
#include "bindings/histogram.h"

#include <errno.h>
#include <lauxlib.h>

#include "bindings/error.h"

#define HISTOGRAM "storlua.histogram"

static void push_metatable(lua_State *L);

static struct sl_histogram *new_histogram(lua_State *L) {
  struct sl_histogram *h = lua_newuserdatauv(L, sizeof *h, 0);
  sl_histogram_init(h);
  push_metatable(L);
  lua_setmetatable(L, -2);
  return h;
}

static struct sl_histogram *check(lua_State *L, int arg) {
  return luaL_checkudata(L, arg, HISTOGRAM);
}

void l_push_histogram(lua_State *L, const struct sl_histogram *h) {
  *new_histogram(L) = *h;
}

void l_push_histogram_sparse(lua_State *L, const struct sl_histogram *h) {
  lua_Integer n = 0;
  lua_newtable(L);
  for (unsigned b = 0; b < SL_HISTOGRAM_BUCKETS; b++) {
    if (h->buckets[b] == 0) continue;
    lua_pushinteger(L, b);
    lua_rawseti(L, -2, ++n);
    lua_pushinteger(L, (lua_Integer)h->buckets[b]);
    lua_rawseti(L, -2, ++n);
  }
}

static lua_Integer mean_ns(const struct sl_histogram *h) {
  return (lua_Integer)(h->sum_ns / h->count +
                       (h->sum_ns % h->count >= h->count - h->count / 2));
}

void l_push_histogram_summary(lua_State *L, const struct sl_histogram *h) {
  static const struct {
    const char *name;
    double percent;
  } percentiles[] = {{"p50_ns", 50}, {"p90_ns", 90},    {"p95_ns", 95},
                     {"p99_ns", 99}, {"p999_ns", 99.9}, {"p9999_ns", 99.99}};
  lua_createtable(L, 0, 12);
  lua_pushinteger(L, (lua_Integer)h->count);
  lua_setfield(L, -2, "count");
  l_push_histogram_sparse(L, h);
  lua_setfield(L, -2, "histogram");
  if (h->count == 0) return;
  lua_pushinteger(L, h->min_ns);
  lua_setfield(L, -2, "min_ns");
  lua_pushinteger(L, mean_ns(h));
  lua_setfield(L, -2, "mean_ns");
  lua_pushinteger(L, h->max_ns);
  lua_setfield(L, -2, "max_ns");
  for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
    lua_pushinteger(L, sl_histogram_percentile(h, percentiles[i].percent));
    lua_setfield(L, -2, percentiles[i].name);
  }
}

/* new() -> histogram */
static int l_new(lua_State *L) {
  new_histogram(L);
  return 1;
}

static int bad_list(lua_State *L, const char *why) {
  struct sl_error e;
  sl_error_set(&e, -EINVAL, "histogram", NULL, -1);
  sl_error_hint(&e, "%s", why);
  return l_push_error(L, &e);
}

/* What a sparse list does not say is taken from the edges of its buckets. */
static void complete(struct sl_histogram *h) {
  for (unsigned b = 0; b < SL_HISTOGRAM_BUCKETS; b++) {
    if (h->buckets[b] == 0) continue;
    int64_t low = sl_histogram_low(b);
    int64_t width = sl_histogram_width(b);
    if (h->min_ns == INT64_MAX) h->min_ns = low;
    h->max_ns = low + width - 1;
    h->sum_ns += h->buckets[b] * (uint64_t)(low + width / 2);
  }
}

/* from_sparse({bucket, count, …}, [min_ns, max_ns, mean_ns]) -> histogram
 *                                      | nil, message, "EINVAL", fields */
static int l_from_sparse(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_Integer min = luaL_optinteger(L, 2, -1);
  lua_Integer max = luaL_optinteger(L, 3, -1);
  lua_Integer mean = luaL_optinteger(L, 4, -1);
  lua_settop(L, 1);
  size_t length = (size_t)lua_rawlen(L, 1);
  if (length % 2) return bad_list(L, "a count is missing");
  struct sl_histogram *h = new_histogram(L);
  for (size_t i = 1; i < length; i += 2) {
    int bucket_ok, count_ok;
    lua_rawgeti(L, 1, (lua_Integer)i);
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    lua_Integer bucket = lua_tointegerx(L, -2, &bucket_ok);
    lua_Integer count = lua_tointegerx(L, -1, &count_ok);
    lua_pop(L, 2);
    if (!bucket_ok || bucket < 0 || bucket >= SL_HISTOGRAM_BUCKETS)
      return bad_list(L, "a bucket is not an integer of the range");
    if (!count_ok || count < 1)
      return bad_list(L, "a count is not a positive integer");
    h->buckets[bucket] += (uint64_t)count;
    h->count += (uint64_t)count;
    if (h->count > INT64_MAX || h->buckets[bucket] > INT64_MAX)
      return bad_list(L, "the counts are too large");
  }
  if (h->count) complete(h);
  if (h->count && min >= 0) h->min_ns = min;
  if (h->count && max >= 0) h->max_ns = max;
  if (h->count && mean >= 0) h->sum_ns = (uint64_t)mean * h->count;
  return 1;
}

static int l_add(lua_State *L) {
  struct sl_histogram *h = check(L, 1);
  sl_histogram_add(h, luaL_checkinteger(L, 2));
  lua_settop(L, 1);
  return 1;
}

static int l_merge(lua_State *L) {
  struct sl_histogram *h = check(L, 1);
  sl_histogram_merge(h, check(L, 2));
  lua_settop(L, 1);
  return 1;
}

/* percentile(percent) -> ns | nil when empty */
static int l_percentile(lua_State *L) {
  struct sl_histogram *h = check(L, 1);
  double percent = luaL_checknumber(L, 2);
  luaL_argcheck(L, percent > 0 && percent <= 100, 2,
                "a percentile lies above 0 and up to 100");
  if (h->count == 0) return 0;
  lua_pushinteger(L, sl_histogram_percentile(h, percent));
  return 1;
}

static int push_unless_empty(lua_State *L, const struct sl_histogram *h,
                             lua_Integer value) {
  if (h->count)
    lua_pushinteger(L, value);
  else
    lua_pushnil(L);
  return 1;
}

static int l_count(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)check(L, 1)->count);
  return 1;
}

static int l_min(lua_State *L) {
  struct sl_histogram *h = check(L, 1);
  return push_unless_empty(L, h, h->min_ns);
}

static int l_max(lua_State *L) {
  struct sl_histogram *h = check(L, 1);
  return push_unless_empty(L, h, h->max_ns);
}

static int l_mean(lua_State *L) {
  struct sl_histogram *h = check(L, 1);
  return push_unless_empty(L, h, h->count ? mean_ns(h) : 0);
}

static int l_sparse(lua_State *L) {
  l_push_histogram_sparse(L, check(L, 1));
  return 1;
}

static int l_summary(lua_State *L) {
  l_push_histogram_summary(L, check(L, 1));
  return 1;
}

/* Made by whoever pushes first: the results of a workload may come before
 * anybody has required the module. */
static void push_metatable(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"add", l_add},     {"merge", l_merge},   {"percentile", l_percentile},
      {"count", l_count}, {"min", l_min},       {"max", l_max},
      {"mean", l_mean},   {"sparse", l_sparse}, {"summary", l_summary},
      {NULL, NULL}};
  if (!luaL_newmetatable(L, HISTOGRAM)) return;
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
}

int luaopen_storlua_core_histogram(lua_State *L);
int luaopen_storlua_core_histogram(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"new", l_new}, {"from_sparse", l_from_sparse}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
