/* SPDX-License-Identifier: MIT */
#include "bindings/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/histogram.h"
#include "bindings/job.h"
#include "core/io/worker_threads.h"

#define RING "storlua.ring"

struct opening {
  struct sl_ring_spec spec;
  char *path;
  struct sl_ring *ring; /* until it has been pushed */
  int code;
  struct sl_error error;
};

static void run_open(struct sl_job *job, void *data) {
  struct opening *o = data;
  sl_job_enter(job, "open", -1);
  o->code = sl_ring_open(&o->ring, &o->spec, &o->error);
  sl_job_enter(job, NULL, -1);
}

static void release_open(void *data) {
  struct opening *o = data;
  if (o->ring) sl_ring_close(o->ring, NULL);
  free(o->path);
  free(o);
}

static void on_poll(uv_poll_t *handle, int status, int events) {
  (void)handle, (void)status, (void)events;
}

static void free_poll(uv_handle_t *handle) { free(handle); }

static int watch(struct l_ring *r, struct sl_error *e) {
  uv_poll_t *poll = malloc(sizeof *poll);
  if (!poll) return sl_error_set(e, -ENOMEM, "watch ring", NULL, -1);
  int code = uv_poll_init(&r->host->loop.uv, poll, sl_ring_fd(r->ring));
  if (code < 0) {
    free(poll);
    return sl_error_set(e, code, "watch ring", NULL, -1);
  }
  r->poll = poll;
  uv_poll_start(poll, UV_READABLE, on_poll);
  uv_unref((uv_handle_t *)poll);
  r->host->loop.handles++;
  return 0;
}

static int push_open(lua_State *L, void *data) {
  struct opening *o = data;
  if (o->code != 0) return l_push_error(L, &o->error);
  if (!o->ring) return 0;
  size_t operations = 2 * (size_t)sl_ring_slots(o->ring);
  struct l_ring *r =
      lua_newuserdatauv(L, sizeof *r + operations * sizeof *r->done, 0);
  *r = (struct l_ring){.host = l_host(L)};
  luaL_setmetatable(L, RING);
  r->ring = o->ring;
  o->ring = NULL;
  struct sl_error e;
  return watch(r, &e) == 0 ? 1 : l_push_error(L, &e);
}

/* open(path, slots, record_bytes, write, direct, size_bytes) -> job -> ring */
static int l_open(lua_State *L) {
  static const struct l_job_kind kind = {
      {"open ring", run_open, release_open}, push_open, NULL};
  const char *path = l_check_path(L, 1);
  unsigned slots = (unsigned)l_check_range(L, 2, 1, SL_RING_SLOTS_MAX);
  lua_Integer record = l_check_range(L, 3, 1, 1 << 30);
  lua_Integer size = l_check_range(L, 6, 0, INT64_MAX);
  struct opening *o = calloc(1, sizeof *o);
  if (o) o->path = strdup(path);
  if (!o || !o->path) {
    free(o);
    return luaL_error(L, "not enough memory");
  }
  bool write = lua_toboolean(L, 4);
  o->spec = (struct sl_ring_spec){.target = {.path = o->path,
                                             .write = write,
                                             .create = write,
                                             .direct = lua_toboolean(L, 5),
                                             .size_bytes = (uint64_t)size},
                                  .slots = slots,
                                  .record_bytes = (size_t)record};
  return l_job_start(L, &kind, o);
}

struct l_ring *l_to_ring(lua_State *L) {
  return luaL_checkudata(L, 1, RING);
}

struct sl_ring *l_check_ring(lua_State *L) {
  struct l_ring *r = l_to_ring(L);
  if (!r->ring) luaL_error(L, "the ring is closed");
  return r->ring;
}

struct sl_ring *l_take_ring(struct l_ring *r) {
  struct sl_ring *ring = r->ring;
  struct sl_loop *loop = &r->host->loop;
  if (r->poll) {
    uv_poll_stop(r->poll);
    uv_close((uv_handle_t *)r->poll, free_poll);
    loop->handles--;
  }
  if (r->is_counted) loop->in_flight--;
  *r = (struct l_ring){.host = r->host, .is_shut = true};
  return ring;
}

static void run_close(struct sl_job *job, void *data) {
  struct opening *o = data;
  sl_job_enter(job, "close", -1);
  o->code = sl_ring_close(o->ring, &o->error);
  o->ring = NULL;
  sl_job_enter(job, NULL, -1);
}

static int push_close(lua_State *L, void *data) {
  struct opening *o = data;
  if (o->code != 0) return l_push_error(L, &o->error);
  lua_pushboolean(L, 1);
  return 1;
}

/* ring:close() -> job -> true; nothing may be under way */
static int l_close(lua_State *L) {
  static const struct l_job_kind kind = {
      {"close ring", run_close, release_open}, push_close, NULL};
  luaL_argcheck(L, sl_ring_in_flight(l_check_ring(L)) == 0, 1,
                "operations are under way");
  struct opening *o = calloc(1, sizeof *o);
  if (!o) return luaL_error(L, "not enough memory");
  o->ring = l_take_ring(lua_touserdata(L, 1));
  return l_job_start(L, &kind, o);
}

static int l_gc(lua_State *L) {
  struct l_ring *r = l_to_ring(L);
  if (!r->ring) return 0;
  struct sl_ring *ring = l_take_ring(r);
  if (sl_ring_in_flight(ring) > 0)
    sl_ring_abandon(ring, NULL, 0);
  else
    sl_ring_close(ring, NULL);
  return 0;
}

/* ring:in_flight() -> operations */
static int l_in_flight(lua_State *L) {
  lua_pushinteger(L, sl_ring_in_flight(l_check_ring(L)));
  return 1;
}

/* ring:latency(op) -> table; 0 read, 1 write, 2 fsync */
static int l_latency(lua_State *L) {
  struct sl_ring *ring = l_check_ring(L);
  lua_Integer op = l_check_range(L, 2, 0, SL_RING_OPS - 1);
  l_push_histogram_summary(L, sl_ring_latency(ring, (enum sl_ring_op)op));
  return 1;
}

/* ring:facts() -> {path, size_bytes, direct, ram, block, registered,
 *                  kernel_workers} */
static int l_facts(lua_State *L) {
  struct sl_ring *ring = l_check_ring(L);
  const struct sl_target *target = sl_ring_target(ring);
  lua_createtable(L, 0, 7);
  l_set_text(L, "path", target->path);
  l_set_count(L, "size_bytes", (int64_t)target->size_bytes);
  l_set_flag(L, "direct", target->is_direct);
  l_set_flag(L, "ram", target->is_ram);
  l_set_flag(L, "block", target->is_block);
  l_set_flag(L, "registered", sl_ring_is_registered(ring));
  l_set_count(L, "kernel_workers", sl_kernel_workers());
  return 1;
}

int luaopen_storlua_core_ring(lua_State *L);
int luaopen_storlua_core_ring(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"close", l_close},     {"__gc", l_gc},     {"in_flight", l_in_flight},
      {"latency", l_latency}, {"facts", l_facts}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"open", l_open}, {NULL, NULL}};
  luaL_newmetatable(L, RING);
  luaL_setfuncs(L, methods, 0);
  luaL_setfuncs(L, l_ring_operation_methods, 0);
  luaL_setfuncs(L, l_ring_data_methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
