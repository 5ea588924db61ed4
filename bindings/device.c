/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "core/device/chain.h"
#include "core/device/identity.h"
#include "core/device/path_device.h"

/* What one look at a path found.  The identities are large and few. */
struct look {
  char *path;
  int code;
  struct sl_error error;
  struct sl_path_device found;
  struct sl_identity *disks; /* as many as found.count; number 0:0 with name
                                "" where the kernel has none of it */
  struct sl_chain chain;
};

static void run_look(struct sl_job *job, void *data) {
  struct look *look = data;

  sl_job_enter(job, "look up path", -1);
  look->code = sl_path_device_find(look->path, NULL, &look->found,
                                   &look->error);
  unsigned count = look->code == 0 ? look->found.count : 0;
  if (count) look->disks = calloc(count, sizeof *look->disks);
  for (unsigned i = 0; look->disks && i < count; i++) {
    struct sl_device_number number = look->found.devices[i];
    sl_identity_read(NULL, number, &look->disks[i], NULL);
    sl_chain_add(&look->chain, NULL, number);
  }
  sl_job_enter(job, NULL, -1);
}

static void release_look(void *data) {
  struct look *look = data;
  sl_path_device_release(&look->found);
  free(look->disks);
  free(look->path);
  free(look);
}

static void push_number(lua_State *L, struct sl_device_number number) {
  lua_pushfstring(L, "%d:%d", (int)number.major, (int)number.minor);
}

static void push_mount(lua_State *L, const struct sl_mount *m) {
  lua_createtable(L, 0, 8);
  lua_pushinteger(L, m->id);
  lua_setfield(L, -2, "id");
  push_number(L, (struct sl_device_number){m->major, m->minor});
  lua_setfield(L, -2, "number");
  l_set_text(L, "root", m->root);
  l_set_text(L, "point", m->point);
  l_set_text(L, "type", m->type);
  l_set_text(L, "source", m->source);
  l_set_text(L, "options", m->options);
  l_set_text(L, "super_options", m->super_options);
}

static void push_loop(lua_State *L, const struct sl_loop_backing *loop) {
  lua_createtable(L, 0, 5);
  l_set_text(L, "backing_path", loop->path);
  l_set_flag(L, "deleted", loop->is_deleted);
  l_set_flag(L, "direct", loop->direct);
  l_set_count(L, "offset_bytes", loop->offset_bytes);
  l_set_count(L, "size_limit_bytes", loop->size_limit_bytes);
}

static void push_mmc(lua_State *L, const struct sl_identity *id) {
  lua_createtable(L, 0, 6);
  l_set_text(L, "type", id->mmc_type);
  l_set_text(L, "cid", id->mmc_cid);
  l_set_text(L, "name", id->mmc_name);
  l_set_text(L, "manfid", id->mmc_manfid);
  l_set_text(L, "oemid", id->mmc_oemid);
  l_set_text(L, "date", id->mmc_date);
}

static void push_identity(lua_State *L, const struct sl_identity *id) {
  lua_createtable(L, 0, 24);
  push_number(L, id->number);
  lua_setfield(L, -2, "number");
  l_set_text(L, "name", id->name);
  if (!id->name[0]) return; /* not in sysfs: only its number is known */
  l_set_text(L, "kind", sl_device_kind_name(id->kind));
  l_set_text(L, "node", id->node);
  l_set_text(L, "parent", id->parent);
  if (id->parent[0]) {
    push_number(L, id->parent_number);
    lua_setfield(L, -2, "parent_number");
  }
  l_set_count(L, "partition", id->partition);
  l_set_text(L, "id", id->unit);
  l_set_text(L, "vendor", id->vendor);
  l_set_text(L, "model", id->model);
  l_set_text(L, "serial", id->serial);
  l_set_text(L, "wwid", id->wwid);
  l_set_text(L, "firmware", id->firmware);
  l_set_count(L, "disk_sequence", id->disk_sequence);
  l_set_count(L, "size_bytes", id->size_bytes);
  l_set_count(L, "start_bytes", id->start_bytes);
  l_set_count(L, "logical_block_bytes", id->logical_block_bytes);
  l_set_count(L, "physical_block_bytes", id->physical_block_bytes);
  l_set_count(L, "read_ahead_bytes", id->read_ahead_bytes);
  l_set_flag(L, "read_only", id->read_only);
  l_set_flag(L, "removable", id->removable);
  l_set_flag(L, "rotational", id->rotational);
  l_set_flag(L, "fua", id->fua);
  l_set_text(L, "write_cache", id->write_cache);
  l_set_text(L, "scheduler", id->scheduler);
  if (id->mmc_type[0] || id->mmc_cid[0]) {
    push_mmc(L, id);
    lua_setfield(L, -2, "mmc");
  }
  if (id->is_loop_attached) {
    push_loop(L, &id->loop);
    lua_setfield(L, -2, "loop");
  }
}

static void push_chain(lua_State *L, const struct sl_chain *chain) {
  lua_createtable(L, (int)chain->count, 0);
  for (unsigned i = 0; i < chain->count; i++) {
    const struct sl_chain_link *link = &chain->links[i];
    lua_createtable(L, 0, 2);
    l_set_text(L, "name", link->name);
    if (link->is_block) {
      push_number(L, link->number);
      lua_setfield(L, -2, "number");
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static int push_look(lua_State *L, void *data) {
  const struct look *look = data;

  if (look->code != 0) return l_push_error(L, &look->error);
  unsigned count = look->disks ? look->found.count : 0;
  lua_createtable(L, 0, 8);
  l_set_text(L, "path", look->path);
  l_set_flag(L, "is_node", look->found.is_node);
  l_set_text(L, "kind", count ? "block" : "none");
  l_set_text(L, "reason", look->found.reason);
  if (look->found.mount) {
    push_mount(L, look->found.mount);
    lua_setfield(L, -2, "mount");
  }
  lua_createtable(L, (int)count, 0);
  for (unsigned i = 0; i < count; i++) {
    push_identity(L, &look->disks[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "disks");
  push_chain(L, &look->chain);
  lua_setfield(L, -2, "chain");
  return 1;
}

/* of_path(path) -> job -> {path, is_node, kind, reason, mount, disks, chain} */
static int l_of_path(lua_State *L) {
  static const struct l_job_kind kind = {
      {"look up device", run_look, release_look}, push_look, NULL};
  const char *path = l_check_path(L, 1);
  struct look *look = calloc(1, sizeof *look);
  if (look) look->path = strdup(path);
  if (!look || !look->path) {
    free(look);
    return luaL_error(L, "not enough memory");
  }
  return l_job_start(L, &kind, look);
}

int luaopen_storlua_core_device(lua_State *L);
int luaopen_storlua_core_device(lua_State *L) {
  static const luaL_Reg functions[] = {{"of_path", l_of_path}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
