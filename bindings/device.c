/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bindings/device_fields.h"
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
  look->code =
      sl_path_device_find(look->path, NULL, &look->found, &look->error);
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

static void push_chain(lua_State *L, const struct sl_chain *chain) {
  lua_createtable(L, (int)chain->count, 0);
  for (unsigned i = 0; i < chain->count; i++) {
    const struct sl_chain_link *link = &chain->links[i];
    lua_createtable(L, 0, 2);
    l_set_text(L, "name", link->name);
    if (link->is_block) {
      l_push_number(L, link->number);
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
    l_push_mount(L, look->found.mount);
    lua_setfield(L, -2, "mount");
  }
  lua_createtable(L, (int)count, 0);
  for (unsigned i = 0; i < count; i++) {
    l_push_identity(L, &look->disks[i]);
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
