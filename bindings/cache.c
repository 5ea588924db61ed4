/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "core/device/cache_drop.h"

struct request {
  char *path;
  bool drop;
  int code;
  struct sl_error error;
  struct sl_cache_drop result; /* before only, when not dropped */
};

static void run_request(struct sl_job *job, void *data) {
  struct request *r = data;

  sl_job_enter(job, r->drop ? "drop cached pages" : "read residency", -1);
  r->code = r->drop
                ? sl_cache_drop_file(r->path, &r->result, &r->error)
                : sl_cache_residency(r->path, &r->result.before, &r->error);
  sl_job_enter(job, NULL, -1);
}

static void release_request(void *data) {
  struct request *r = data;
  free(r->path);
  free(r);
}

static int push_request(lua_State *L, void *data) {
  const struct request *r = data;

  if (r->code != 0) return l_push_error(L, &r->error);
  lua_createtable(L, 0, 5);
  if (r->drop) {
    l_set_count(L, "resident_before_bytes", r->result.before.resident_bytes);
    l_set_count(L, "resident_after_bytes", r->result.after.resident_bytes);
    l_set_count(L, "dirty_before_bytes", r->result.before.dirty_bytes);
    l_set_text(L, "source", r->result.after.source);
  } else {
    l_set_count(L, "resident_bytes", r->result.before.resident_bytes);
    l_set_count(L, "dirty_bytes", r->result.before.dirty_bytes);
    l_set_text(L, "source", r->result.before.source);
  }
  return 1;
}

static int start(lua_State *L, bool drop) {
  static const struct l_job_kind kind = {
      {"page cache", run_request, release_request}, push_request, NULL};
  const char *path = l_check_path(L, 1);
  struct request *r = calloc(1, sizeof *r);
  if (r) r->path = strdup(path);
  if (!r || !r->path) {
    free(r);
    return luaL_error(L, "not enough memory");
  }
  r->drop = drop;
  return l_job_start(L, &kind, r);
}

/* drop_file(path) -> job -> {resident_before_bytes, resident_after_bytes,
 * dirty_before_bytes, source} */
static int l_drop_file(lua_State *L) { return start(L, true); }

/* residency(path) -> job -> {resident_bytes, dirty_bytes, source} */
static int l_residency(lua_State *L) { return start(L, false); }

int luaopen_storlua_core_cache(lua_State *L);
int luaopen_storlua_core_cache(lua_State *L) {
  static const luaL_Reg functions[] = {{"drop_file", l_drop_file},
                                       {"residency", l_residency},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
