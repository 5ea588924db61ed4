/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "bindings/spec_fields.h"
#include "core/memory/integrity.h"

struct work {
  struct sl_integrity_spec spec;
  struct sl_integrity_progress progress;
  struct sl_integrity_result result;
  struct sl_error error;
  int code;
};

static void run(struct sl_job *job, void *data) {
  struct work *w = data;
  w->code =
      sl_integrity_run(&w->spec, job, &w->progress, &w->result, &w->error);
}

static void set_hex(lua_State *L, const char *key, uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%016" PRIx64, value);
  l_set_text(L, key, text);
}

static void push_bits(lua_State *L, uint64_t bits) {
  lua_newtable(L);
  lua_Integer count = 0;
  for (lua_Integer bit = 0; bit < 64; bit++) {
    if (!(bits >> bit & 1)) continue;
    lua_pushinteger(L, bit);
    lua_rawseti(L, -2, ++count);
  }
  lua_setfield(L, -2, "bits");
}

static void push_error(lua_State *L, const struct sl_integrity_error *e) {
  lua_createtable(L, 0, 12);
  l_set_text(L, "pattern", sl_integrity_pattern_name(e->pattern));
  l_set_count(L, "pass", e->pass);
  l_set_count(L, "thread", e->thread);
  l_set_count(L, "offset", e->offset);
  set_hex(L, "address", e->address);
  if (e->physical) set_hex(L, "physical", e->physical);
  set_hex(L, "expected", e->expected);
  set_hex(L, "found", e->found);
  set_hex(L, "reread", e->reread);
  set_hex(L, "after_flush", e->after_flush);
  l_set_flag(L, "repeats", e->repeats);
  push_bits(L, e->expected ^ e->found);
}

static void push_patterns(lua_State *L, const struct sl_integrity_result *r) {
  lua_newtable(L);
  for (int p = 0; p < SL_INTEGRITY_PATTERNS; p++) {
    if (r->patterns[p].moved_bytes == 0) continue;
    lua_createtable(L, 0, 5);
    l_set_count(L, "runs", r->patterns[p].runs);
    l_set_count(L, "verified_bytes", r->patterns[p].verified_bytes);
    l_set_count(L, "moved_bytes", r->patterns[p].moved_bytes);
    l_set_count(L, "ns", r->patterns[p].ns);
    l_set_count(L, "errors", r->patterns[p].errors);
    lua_setfield(L, -2,
                 sl_integrity_pattern_name((enum sl_integrity_pattern)p));
  }
  lua_setfield(L, -2, "patterns");
}

static int push_result(lua_State *L, void *data) {
  static const char *const ends[] = {"complete", "cancelled", "memory_short"};
  const struct work *w = data;
  const struct sl_integrity_result *r = &w->result;
  if (w->code != 0) return l_push_error(L, &w->error);
  lua_createtable(L, 0, 10);
  l_set_text(L, "end", ends[r->end]);
  l_set_text(L, "engine", r->engine);
  l_set_count(L, "tested_bytes", r->bytes);
  l_set_count(L, "passes", r->passes);
  l_set_count(L, "errors_total", r->errors_total);
  l_set_count(L, "huge_bytes", r->huge_bytes);
  l_set_flag(L, "locked", r->locked);
  if (r->lock_error) l_set_text(L, "lock_error", sl_error_name(-r->lock_error));
  push_patterns(L, r);
  lua_createtable(L, (int)r->error_count, 0);
  for (unsigned i = 0; i < r->error_count; i++) {
    push_error(L, &r->errors[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "errors");
  return 1;
}

/* {pattern, pass, verified_bytes, errors} */
static int push_progress(lua_State *L, void *data) {
  struct sl_integrity_progress *p = &((struct work *)data)->progress;
  lua_createtable(L, 0, 4);
  l_set_text(L, "pattern", atomic_load(&p->pattern));
  l_set_count(L, "pass", atomic_load(&p->pass));
  l_set_count(L, "verified_bytes", atomic_load(&p->verified_bytes));
  l_set_count(L, "errors", atomic_load(&p->errors));
  return 1;
}

static const struct l_job_kind kind = {
    .class = {"memory test", run, free},
    .push_result = push_result,
    .push_progress = push_progress,
};

static int find_pattern(lua_State *L, const char *name) {
  for (int p = 0; p < SL_INTEGRITY_PATTERNS; p++) {
    if (strcmp(name, sl_integrity_pattern_name((enum sl_integrity_pattern)p)) ==
        0)
      return p;
  }
  return luaL_error(L, "there is no pattern '%s'", name);
}

static unsigned read_patterns(lua_State *L) {
  unsigned patterns = 0;
  lua_getfield(L, 1, "patterns");
  const lua_Integer count = lua_istable(L, -1) ? luaL_len(L, -1) : 0;
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, -1, i);
    patterns |= 1u << find_pattern(L, luaL_checkstring(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return patterns;
}

static void read_plants(lua_State *L, struct sl_integrity_spec *s) {
  lua_getfield(L, 1, "plants");
  const lua_Integer count = lua_istable(L, -1) ? luaL_len(L, -1) : 0;
  if (count > SL_INTEGRITY_PLANTS_MAX) luaL_error(L, "16 plants at most");
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, -1, i);
    const int at = lua_gettop(L);
    char name[32];
    l_spec_text(L, at, "pattern", name, sizeof name);
    s->plants[s->plant_count++] = (struct sl_integrity_plant){
        (enum sl_integrity_pattern)find_pattern(L, name),
        l_spec_integer(L, at, "offset", 0, 0, LUA_MAXINTEGER),
        (uint64_t)l_spec_integer(L, at, "bits", 1, LUA_MININTEGER,
                                 LUA_MAXINTEGER)};
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void read_spec(lua_State *L, struct sl_integrity_spec *s) {
  static const char *const pages[] = {"system", "small", "huge", "hugetlb",
                                      NULL};
  luaL_checktype(L, 1, LUA_TTABLE);
  s->bytes = l_spec_integer(L, 1, "bytes", 0, 0, LUA_MAXINTEGER);
  s->threads = (unsigned)l_spec_integer(L, 1, "threads", 1, 0, 1 << 20);
  s->pin = l_spec_flag(L, 1, "pin");
  s->lock = l_spec_flag(L, 1, "lock");
  s->pages = (enum sl_pages)l_spec_choice(L, 1, "pages", pages);
  s->patterns = read_patterns(L);
  s->passes = l_spec_integer(L, 1, "passes", 0, 0, LUA_MAXINTEGER);
  s->first_pass = l_spec_integer(L, 1, "first_pass", 0, 0, LUA_MAXINTEGER);
  s->duration_ns = l_spec_integer(L, 1, "duration_ns", 0, 0, LUA_MAXINTEGER);
  s->fade_ns = l_spec_integer(L, 1, "fade_ns", 0, 0, LUA_MAXINTEGER);
  s->seed =
      (uint64_t)l_spec_integer(L, 1, "seed", 1, LUA_MININTEGER, LUA_MAXINTEGER);
  l_spec_text(L, 1, "engine", s->engine, sizeof s->engine);
  read_plants(L, s);
}

/* start(spec) -> job with progress() and result() | nil, message, code, … */
static int l_start(lua_State *L) {
  struct sl_integrity_spec spec = {0};
  read_spec(L, &spec);
  struct work *w = calloc(1, sizeof *w);
  if (!w) {
    struct sl_error e;
    sl_error_set(&e, -ENOMEM, "memory test", NULL, -1);
    return l_push_error(L, &e);
  }
  w->spec = spec;
  return l_job_start(L, &kind, w);
}

/* patterns() -> names, in the order of a pass */
static int l_patterns(lua_State *L) {
  lua_createtable(L, SL_INTEGRITY_PATTERNS, 0);
  for (int p = 0; p < SL_INTEGRITY_PATTERNS; p++) {
    lua_pushstring(L, sl_integrity_pattern_name((enum sl_integrity_pattern)p));
    lua_rawseti(L, -2, p + 1);
  }
  return 1;
}

int luaopen_storlua_core_integrity(lua_State *L);
int luaopen_storlua_core_integrity(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"start", l_start}, {"patterns", l_patterns}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
