/* SPDX-License-Identifier: MIT */
#include "bindings/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/host/host.h"
#include "bindings/job.h"

static void run(struct sl_job *job, void *data) {
  struct l_workload *work = data;
  work->code = sl_workload_run(&work->spec, job, work->clock, &work->progress,
                               &work->result, &work->error);
}

static void release(void *data) {
  struct l_workload *work = data;
  sl_workload_result_release(&work->result);
  sl_streams_drop(work->spec.streams);
  free(work->path);
  free(work->legal);
  free(work->more);
  free(work);
}

static int push_result(lua_State *L, void *data) {
  struct l_workload *work = data;
  if (work->code != 0) return l_push_error(L, &work->error);
  l_workload_push_result(L, work);
  return 1;
}

static uint64_t load(_Atomic uint64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

/* {operations, bytes, errors, bad_sectors, elapsed_ns} */
static int push_progress(lua_State *L, void *data) {
  struct sl_workload_progress *p = &((struct l_workload *)data)->progress;
  int64_t started_ns =
      atomic_load_explicit(&p->started_ns, memory_order_relaxed);
  lua_createtable(L, 0, 5);
  l_set_count(L, "operations", (int64_t)load(&p->operations));
  l_set_count(L, "bytes", (int64_t)load(&p->bytes));
  l_set_count(L, "errors", (int64_t)load(&p->errors));
  l_set_count(L, "bad_sectors", (int64_t)load(&p->bad_sectors));
  l_set_count(L, "elapsed_ns", started_ns ? sl_monotonic_ns() - started_ns : 0);
  return 1;
}

static const struct l_job_kind workload_kind = {
    .class = {"workload", run, release},
    .push_result = push_result,
    .push_progress = push_progress,
};

static char **copy_paths(const struct sl_workload_spec *spec) {
  size_t bytes = 0, at = spec->more_count * sizeof(char *);
  for (unsigned i = 0; i < spec->more_count; i++)
    bytes += strlen(spec->more_paths[i]) + 1;
  char **list = malloc(at + bytes + 1);
  for (unsigned i = 0; list && i < spec->more_count; i++) {
    size_t length = strlen(spec->more_paths[i]) + 1;
    list[i] = memcpy((char *)list + at, spec->more_paths[i], length);
    at += length;
  }
  return list;
}

/* Copies what *spec borrows, so that the job's thread owns it. */
static struct l_workload *new_workload(const struct sl_workload_spec *spec) {
  struct l_workload *work = calloc(1, sizeof *work);
  if (!work) return NULL;
  work->spec = *spec;
  if (spec->streams) sl_streams_hold(spec->streams);
  size_t legal_bytes = spec->legal_count * sizeof *spec->legal;
  if (spec->target.path) work->path = strdup(spec->target.path);
  if (legal_bytes) work->legal = malloc(legal_bytes);
  work->more = copy_paths(spec);
  if (!work->more || (spec->target.path && !work->path) ||
      (legal_bytes && !work->legal)) {
    release(work);
    return NULL;
  }
  if (legal_bytes) memcpy(work->legal, spec->legal, legal_bytes);
  work->spec.target.path = work->path;
  work->spec.legal = work->legal;
  work->spec.more_paths = (const char *const *)work->more;
  return work;
}

/* start(spec) -> job with progress() and result() | nil, message, code, … */
static int l_start(lua_State *L) {
  struct sl_workload_spec spec;
  struct sl_error e;
  lua_settop(L, 1);
  l_workload_spec(L, 1, &spec);
  if (sl_workload_check(&spec, &e) != 0) return l_push_error(L, &e);
  struct l_workload *work = new_workload(&spec);
  if (!work) {
    sl_error_set(&e, -ENOMEM, "workload", spec.target.path, -1);
    return l_push_error(L, &e);
  }
  work->clock = &l_loop(L)->clock;
  return l_job_start(L, &workload_kind, work);
}

/* check(spec) -> true | nil, message, code, …: without touching the target */
static int l_check(lua_State *L) {
  struct sl_workload_spec spec;
  struct sl_error e;
  lua_settop(L, 1);
  l_workload_spec(L, 1, &spec);
  if (sl_workload_check(&spec, &e) != 0) return l_push_error(L, &e);
  lua_pushboolean(L, 1);
  return 1;
}

/* engines() -> list of names */
static int l_engines(lua_State *L) {
  const char *const *names = sl_engine_names();
  lua_newtable(L);
  for (lua_Integer i = 0; names[i]; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* probe(name) -> true | nil, message, code, …: whether the kernel has it */
static int l_probe(lua_State *L) {
  struct sl_error e;
  if (sl_engine_probe(luaL_checkstring(L, 1), &e) != 0)
    return l_push_error(L, &e);
  lua_pushboolean(L, 1);
  return 1;
}

/* stamp_kernel([name]) -> name of the kernel in use; a name selects one, nil
 * when this CPU or build lacks it.  For benchmarks. */
static int l_stamp_kernel(lua_State *L) {
  const char *name = luaL_optstring(L, 1, NULL);
  if (name && !sl_stamp_select(name)) return 0;
  lua_pushstring(L, sl_stamp_kernel());
  return 1;
}

int luaopen_storlua_core_workload(lua_State *L);
int luaopen_storlua_core_workload(lua_State *L) {
  static const luaL_Reg functions[] = {{"start", l_start},
                                       {"check", l_check},
                                       {"engines", l_engines},
                                       {"probe", l_probe},
                                       {"stamp_kernel", l_stamp_kernel},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
