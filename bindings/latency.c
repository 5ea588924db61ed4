/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "bindings/spec_fields.h"
#include "core/memory/latency.h"

struct work {
  struct sl_latency_spec spec;
  struct sl_latency_result result;
  struct sl_error error;
  int code;
};

static void run(struct sl_job *job, void *data) {
  struct work *w = data;
  w->code = sl_latency_run(&w->spec, job, &w->result, &w->error);
}

static int push_result(lua_State *L, void *data) {
  const struct work *w = data;
  const struct sl_latency_result *r = &w->result;
  if (w->code != 0) return l_push_error(L, &w->error);
  lua_createtable(L, 0, 9);
  l_set_text(L, "end",
             r->complete    ? "complete"
             : r->timed_out ? "time_limit"
                            : "cancelled");
  lua_createtable(L, (int)r->sample_count, 0);
  for (unsigned i = 0; i < r->sample_count; i++) {
    lua_createtable(L, 0, 2);
    l_set_count(L, "loads", r->samples[i].loads);
    l_set_count(L, "ns", r->samples[i].ns);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "samples");
  l_set_count(L, "retaken", r->retaken);
  l_set_count(L, "faults", r->faults);
  l_set_count(L, "huge_bytes", r->huge_bytes);
  l_set_count(L, "arena_bytes", r->arena_bytes);
  l_set_flag(L, "verified", r->verified);
  return 1;
}

static const struct l_job_kind kind = {
    .class = {"latency", run, free},
    .push_result = push_result,
};

/* start(spec) -> job with result() | nil, message, code, … */
static int l_start(lua_State *L) {
  static const char *const pages[] = {"system", "small", "huge", "hugetlb",
                                      NULL};
  luaL_checktype(L, 1, LUA_TTABLE);
  struct sl_latency_spec spec = {
      .bytes = l_spec_integer(L, 1, "bytes", 0, 0, LUA_MAXINTEGER),
      .locality_bytes =
          l_spec_integer(L, 1, "locality_bytes", 0, 0, LUA_MAXINTEGER),
      .pages = (enum sl_pages)l_spec_choice(L, 1, "pages", pages),
      .cpu = (int)l_spec_integer(L, 1, "cpu", -1, -1, 1 << 20),
      .samples = (unsigned)l_spec_integer(L, 1, "samples", 3, 1, 100),
      .sample_ns =
          l_spec_integer(L, 1, "sample_ns", 20000000, 1, LUA_MAXINTEGER),
      .limit_ns = l_spec_integer(L, 1, "limit_ns", 0, 0, LUA_MAXINTEGER),
      .seed = (uint64_t)l_spec_integer(L, 1, "seed", 1, LUA_MININTEGER,
                                       LUA_MAXINTEGER),
  };
  struct work *w = calloc(1, sizeof *w);
  if (!w) {
    struct sl_error e;
    sl_error_set(&e, -ENOMEM, "latency", NULL, -1);
    return l_push_error(L, &e);
  }
  w->spec = spec;
  return l_job_start(L, &kind, w);
}

int luaopen_storlua_core_latency(lua_State *L);
int luaopen_storlua_core_latency(lua_State *L) {
  static const luaL_Reg functions[] = {{"start", l_start}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
