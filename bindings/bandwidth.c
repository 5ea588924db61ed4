/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "bindings/spec_fields.h"
#include "core/memory/bandwidth.h"

struct work {
  struct sl_bandwidth_spec spec;
  struct sl_bandwidth_progress progress;
  struct sl_bandwidth_result result;
  struct sl_error error;
  int code;
};

static void run(struct sl_job *job, void *data) {
  struct work *w = data;
  w->code =
      sl_bandwidth_run(&w->spec, job, &w->progress, &w->result, &w->error);
}

static void set_hex(lua_State *L, const char *key, uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%016" PRIx64, value);
  l_set_text(L, key, text);
}

static void push_sample(lua_State *L, const struct sl_bandwidth_sample *s) {
  lua_createtable(L, 0, 2);
  l_set_count(L, "payload_bytes", s->bytes);
  l_set_count(L, "ns", s->ns);
}

static void push_tried(lua_State *L, const struct sl_bandwidth_result *r) {
  lua_createtable(L, (int)r->tried_count, 0);
  for (unsigned i = 0; i < r->tried_count; i++) {
    push_sample(L, &r->tried[i].best);
    l_set_text(L, "kernel", r->tried[i].name);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "tried");
}

static void push_samples(lua_State *L, const struct sl_bandwidth_result *r) {
  lua_createtable(L, (int)r->sample_count, 0);
  for (unsigned i = 0; i < r->sample_count; i++) {
    push_sample(L, &r->samples[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "samples");
}

static void push_where(lua_State *L, const struct work *w) {
  const struct sl_bandwidth_result *r = &w->result;
  lua_createtable(L, (int)w->spec.threads, 0);
  for (unsigned i = 0; i < w->spec.threads; i++) {
    lua_pushinteger(L, r->cpus[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "cpus");
  l_set_count(L, "huge_bytes", r->huge_bytes);
  l_set_count(L, "arena_bytes", r->arena_bytes);
  l_set_count(L, "node", r->node);
  if (r->physical_max == 0) return;
  set_hex(L, "physical_min", r->physical_min);
  set_hex(L, "physical_max", r->physical_max - 1);
}

static void push_wrong(lua_State *L, const struct sl_bandwidth_result *r) {
  lua_createtable(L, 0, 5);
  l_set_text(L, "kernel", r->wrong.kernel);
  l_set_count(L, "thread", r->wrong.thread);
  l_set_count(L, "offset", r->wrong.offset);
  set_hex(L, "expected", r->wrong.expected);
  set_hex(L, "found", r->wrong.found);
  lua_setfield(L, -2, "wrong");
}

static int push_result(lua_State *L, void *data) {
  static const char *const ends[] = {"complete", "cancelled", "time_limit"};
  static const char *const buses[] = {"plain", "allocate", "bypass", "unknown"};
  const struct work *w = data;
  const struct sl_bandwidth_result *r = &w->result;
  if (w->code != 0) return l_push_error(L, &w->error);
  lua_createtable(L, 0, 19);
  l_set_text(L, "end", ends[r->end]);
  if (r->kernel) {
    l_set_text(L, "kernel", r->kernel->name);
    l_set_text(L, "isa", r->kernel->isa);
    l_set_text(L, "bus_rule", buses[r->kernel->bus]);
  }
  push_tried(L, r);
  push_samples(L, r);
  push_where(L, w);
  l_set_count(L, "faults", r->faults);
  l_set_count(L, "switches", r->switches);
  l_set_count(L, "retaken", r->retaken);
  l_set_flag(L, "verified", r->verified);
  set_hex(L, "checksum", r->checksum);
  if (!r->verified) push_wrong(L, r);
  return 1;
}

static int push_progress(lua_State *L, void *data) {
  struct work *w = data;
  lua_createtable(L, 0, 2);
  l_set_text(L, "phase", atomic_load(&w->progress.phase));
  l_set_count(L, "bytes", atomic_load(&w->progress.bytes));
  return 1;
}

static const struct l_job_kind kind = {
    .class = {"bandwidth", run, free},
    .push_result = push_result,
    .push_progress = push_progress,
};

static unsigned read_cpus(lua_State *L, int *cpus) {
  unsigned count = 0;
  lua_getfield(L, 1, "cpus");
  if (!lua_isnil(L, -1)) {
    luaL_checktype(L, -1, LUA_TTABLE);
    const lua_Unsigned length = lua_rawlen(L, -1);
    if (length > SL_CREW_MAX) luaL_error(L, "more than 256 CPUs");
    for (; count < length; count++) {
      lua_rawgeti(L, -1, (lua_Integer)count + 1);
      const lua_Integer cpu = luaL_checkinteger(L, -1);
      cpus[count] = cpu < 0 || cpu > 1 << 20 ? -1 : (int)cpu;
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  return count;
}

static void read_spec(lua_State *L, struct sl_bandwidth_spec *s) {
  static const char *const pages[] = {"system", "small", "huge", "hugetlb",
                                      NULL};
  char op[SL_KERNEL_NAME_BYTES];
  luaL_checktype(L, 1, LUA_TTABLE);
  l_spec_text(L, 1, "operation", op, sizeof op);
  s->op = sl_memory_op_find(op);
  luaL_argcheck(L, s->op < SL_MEMORY_OPS, 1, "no such operation");
  l_spec_text(L, 1, "kernel", s->kernel, sizeof s->kernel);
  s->buffer_bytes = l_spec_integer(L, 1, "buffer_bytes", 0, 0, LUA_MAXINTEGER);
  s->threads = (unsigned)l_spec_integer(L, 1, "threads", 1, 0, 1 << 20);
  s->cpu_count = read_cpus(L, s->cpus);
  s->pin = l_spec_flag(L, 1, "pin");
  s->pages = (enum sl_pages)l_spec_choice(L, 1, "pages", pages);
  s->samples = (unsigned)l_spec_integer(L, 1, "samples", 5, 0, 1 << 20);
  s->sample_ns = l_spec_integer(L, 1, "sample_ns", 20000000, 0, LUA_MAXINTEGER);
  s->limit_ns = l_spec_integer(L, 1, "limit_ns", 0, 0, LUA_MAXINTEGER);
}

/* start(spec) -> job with progress() and result() | nil, message, code, … */
static int l_start(lua_State *L) {
  struct sl_bandwidth_spec spec = {0};
  struct sl_error e;
  read_spec(L, &spec);
  if (sl_bandwidth_check(&spec, &e) != 0) return l_push_error(L, &e);
  struct work *w = calloc(1, sizeof *w);
  if (!w) {
    sl_error_set(&e, -ENOMEM, "bandwidth", NULL, -1);
    return l_push_error(L, &e);
  }
  w->spec = spec;
  return l_job_start(L, &kind, w);
}

int luaopen_storlua_core_bandwidth(lua_State *L);
int luaopen_storlua_core_bandwidth(lua_State *L) {
  static const luaL_Reg functions[] = {{"start", l_start}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
