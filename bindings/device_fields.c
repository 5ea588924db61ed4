/* SPDX-License-Identifier: MIT */
#include "bindings/device_fields.h"

#include "bindings/fields.h"

void l_push_number(lua_State *L, struct sl_device_number number) {
  lua_pushfstring(L, "%d:%d", (int)number.major, (int)number.minor);
}

void l_push_mount(lua_State *L, const struct sl_mount *m) {
  lua_createtable(L, 0, 8);
  lua_pushinteger(L, m->id);
  lua_setfield(L, -2, "id");
  l_push_number(L, (struct sl_device_number){m->major, m->minor});
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

void l_push_identity(lua_State *L, const struct sl_identity *id) {
  lua_createtable(L, 0, 24);
  l_push_number(L, id->number);
  lua_setfield(L, -2, "number");
  l_set_text(L, "name", id->name);
  if (!id->name[0]) return; /* not in sysfs: only its number is known */
  l_set_text(L, "kind", sl_device_kind_name(id->kind));
  l_set_text(L, "node", id->node);
  l_set_text(L, "parent", id->parent);
  if (id->parent[0]) {
    l_push_number(L, id->parent_number);
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
