/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "core/device/cache_drop.h"

enum request_kind { READ_RESIDENCY, DROP_FILE, DROP_DEVICE };

struct request {
  char *path;
  enum request_kind kind;
  int code;
  struct sl_error error;
  struct sl_cache_drop result; /* before only, when not dropped */
};

static void run_request(struct sl_job *job, void *data) {
  struct request *r = data;

  bool drops = r->kind != READ_RESIDENCY;
  sl_job_enter(job, drops ? "drop cached pages" : "read residency", -1);
  switch (r->kind) {
    case READ_RESIDENCY:
      r->code = sl_cache_residency(r->path, &r->result.before, &r->error);
      break;
    case DROP_FILE:
      r->code = sl_cache_drop_file(r->path, &r->result, &r->error);
      break;
    case DROP_DEVICE:
      r->code = sl_cache_drop_device(r->path, &r->result, &r->error);
      break;
  }
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
  if (r->kind != READ_RESIDENCY) {
    l_set_count(L, "resident_before_bytes", r->result.before.resident_bytes);
    l_set_count(L, "resident_after_bytes", r->result.after.resident_bytes);
    l_set_count(L, "dirty_before_bytes", r->result.before.dirty_bytes);
    l_set_count(L, "dirty_after_bytes", r->result.after.dirty_bytes);
    l_set_text(L, "source", r->result.after.source);
  } else {
    l_set_count(L, "resident_bytes", r->result.before.resident_bytes);
    l_set_count(L, "dirty_bytes", r->result.before.dirty_bytes);
    l_set_text(L, "source", r->result.before.source);
  }
  return 1;
}

static int start(lua_State *L, enum request_kind what) {
  static const struct l_job_kind kind = {
      {"page cache", run_request, release_request}, push_request, NULL};
  const char *path = l_check_path(L, 1);
  struct request *r = calloc(1, sizeof *r);
  if (r) r->path = strdup(path);
  if (!r || !r->path) {
    free(r);
    return luaL_error(L, "not enough memory");
  }
  r->kind = what;
  return l_job_start(L, &kind, r);
}

/* drop_file(path) -> job -> {resident_before_bytes, resident_after_bytes,
 * dirty_before_bytes, dirty_after_bytes, source} */
static int l_drop_file(lua_State *L) { return start(L, DROP_FILE); }

/* drop_device(path) -> job -> the same */
static int l_drop_device(lua_State *L) { return start(L, DROP_DEVICE); }

/* residency(path) -> job -> {resident_bytes, dirty_bytes, source} */
static int l_residency(lua_State *L) { return start(L, READ_RESIDENCY); }

struct drop_all {
  int what, code;
  struct sl_cache_drop_all result;
  struct sl_error error;
};

static void run_drop_all(struct sl_job *job, void *data) {
  struct drop_all *d = data;
  sl_job_enter(job, "sync and drop all caches", -1);
  d->code = sl_cache_drop_all(d->what, NULL, &d->result, &d->error);
  sl_job_enter(job, NULL, -1);
}

static int push_drop_all(lua_State *L, void *data) {
  const struct drop_all *d = data;
  if (d->code != 0) return l_push_error(L, &d->error);
  lua_createtable(L, 0, 2);
  l_set_count(L, "cached_before_bytes", d->result.cached_before_bytes);
  l_set_count(L, "cached_after_bytes", d->result.cached_after_bytes);
  return 1;
}

/* drop_all(what) -> job -> {cached_before_bytes, cached_after_bytes} */
static int l_drop_all(lua_State *L) {
  static const struct l_job_kind kind = {
      {"page cache", run_drop_all, free}, push_drop_all, NULL};
  int what = (int)l_check_range(L, 1, INT32_MIN, INT32_MAX);
  struct drop_all *d = calloc(1, sizeof *d);
  if (!d) return luaL_error(L, "not enough memory");
  d->what = what;
  return l_job_start(L, &kind, d);
}

int luaopen_storlua_core_cache(lua_State *L);
int luaopen_storlua_core_cache(lua_State *L) {
  static const luaL_Reg functions[] = {{"drop_file", l_drop_file},
                                       {"drop_device", l_drop_device},
                                       {"drop_all", l_drop_all},
                                       {"residency", l_residency},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
