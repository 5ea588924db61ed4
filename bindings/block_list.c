/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bindings/device_fields.h"
#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "core/device/block_list.h"

struct listing {
  unsigned what;
  struct sl_block_list blocks;
  int code;
  struct sl_error error;
};

static void run_listing(struct sl_job *job, void *data) {
  struct listing *l = data;
  sl_job_enter(job, "list block devices", -1);
  l->code = sl_block_list_read(NULL, l->what, &l->blocks, &l->error);
  sl_job_enter(job, NULL, -1);
}

static void release_listing(void *data) {
  struct listing *l = data;
  sl_block_list_release(&l->blocks);
  free(l);
}

static void push_content(lua_State *L, const struct sl_signature *s) {
  lua_createtable(L, 0, 9);
  l_set_flag(L, "known", s->is_known);
  l_set_text(L, "type", s->type);
  l_set_text(L, "usage", s->usage);
  l_set_text(L, "label", s->label);
  l_set_text(L, "uuid", s->uuid);
  l_set_text(L, "table", s->table);
  l_set_text(L, "partition_uuid", s->partition_uuid);
  l_set_text(L, "partition_label", s->partition_label);
  l_set_text(L, "reason", s->reason);
  lua_setfield(L, -2, "content");
}

static void push_space(lua_State *L, const struct sl_space *space) {
  if (!space->is_known) return;
  lua_createtable(L, 0, 3);
  l_set_count(L, "total_bytes", (int64_t)space->total_bytes);
  l_set_count(L, "used_bytes", (int64_t)space->used_bytes);
  l_set_count(L, "available_bytes", (int64_t)space->available_bytes);
  lua_setfield(L, -2, "space");
}

static void push_swap(lua_State *L, const struct sl_use *use) {
  lua_createtable(L, 0, 3);
  l_set_count(L, "size_bytes", use->swap_bytes);
  l_set_count(L, "used_bytes", use->swap_used_bytes);
  lua_pushinteger(L, (lua_Integer)use->swap_priority); /* may be negative */
  lua_setfield(L, -2, "priority");
  lua_setfield(L, -2, "swap");
}

/* Appends the value on top of the stack to the list `key` of the table
 * below it. */
static void append(lua_State *L, const char *key) {
  lua_getfield(L, -2, key); /* device value list */
  lua_insert(L, -2);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

/* The uses of one device, and what it lies on itself. */
static void push_uses(lua_State *L, const struct sl_block *block,
                      const struct sl_uses *uses) {
  static const char *const lists[] = {"mounts", "holders", "slaves", "uses"};
  char text[1024];

  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    lua_newtable(L);
    lua_setfield(L, -2, lists[i]);
  }
  for (size_t i = 0; i < uses->count; i++) {
    const struct sl_use *use = &uses->list[i];
    if (use->holder[0] &&
        sl_same_device(use->holder_number, block->identity.number)) {
      l_push_number(L, use->device);
      append(L, "slaves");
    }
    if (!sl_same_device(use->device, block->identity.number)) continue;
    lua_pushstring(L, sl_use_text(uses, use, text, sizeof text));
    append(L, "uses");
    if (use->kind == SL_USE_SWAP) push_swap(L, use);
    if (use->kind == SL_USE_MOUNT) {
      l_push_mount(L, use->mount);
      l_set_flag(L, "reachable",
                 sl_mounts_is_reachable(&uses->mounts, use->mount));
      append(L, "mounts");
    }
    if (use->holder[0]) {
      lua_pushstring(L, use->holder);
      append(L, "holders");
    }
  }
}

static void push_block(lua_State *L, const struct sl_block *block,
                       const struct sl_uses *uses) {
  l_push_identity(L, &block->identity);
  l_set_count(L, "alignment_bytes", block->alignment_bytes);
  l_set_count(L, "minimum_io_bytes", block->minimum_io_bytes);
  l_set_count(L, "optimal_io_bytes", block->optimal_io_bytes);
  l_set_count(L, "discard_granularity_bytes", block->discard_granularity_bytes);
  l_set_count(L, "discard_max_bytes", block->discard_max_bytes);
  l_set_count(L, "write_zeroes_max_bytes", block->write_zeroes_max_bytes);
  l_set_count(L, "queue_requests", block->queue_requests);
  l_set_text(L, "zoned", block->zoned);
  l_set_text(L, "transport", block->transport);
  l_set_text(L, "mapped_name", block->mapped_name);
  push_content(L, &block->signature);
  push_space(L, &block->space);
  push_uses(L, block, uses);
}

static int push_listing(lua_State *L, void *data) {
  const struct listing *l = data;

  if (l->code != 0) return l_push_error(L, &l->error);
  lua_createtable(L, (int)l->blocks.count, 0);
  for (size_t i = 0; i < l->blocks.count; i++) {
    push_block(L, &l->blocks.list[i], &l->blocks.uses);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* read(probe, space) -> job -> list of devices: the fields of an identity
 * and {transport, content, space, mounts, holders, slaves, uses, swap, …} */
static int l_read(lua_State *L) {
  static const struct l_job_kind kind = {
      {"list block devices", run_listing, release_listing}, push_listing, NULL};
  struct listing *l = calloc(1, sizeof *l);
  if (!l) return luaL_error(L, "not enough memory");
  l->what = (lua_toboolean(L, 1) ? (unsigned)SL_BLOCKS_PROBE : 0u) |
            (lua_toboolean(L, 2) ? (unsigned)SL_BLOCKS_SPACE : 0u);
  return l_job_start(L, &kind, l);
}

int luaopen_storlua_core_block_list(lua_State *L);
int luaopen_storlua_core_block_list(lua_State *L) {
  static const luaL_Reg functions[] = {{"read", l_read}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
