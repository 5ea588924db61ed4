/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_DEVICE_FIELDS_H
#define STORLUA_BINDINGS_DEVICE_FIELDS_H

/* Devices and mounts as Lua tables; what is not known is left out. */

#include <lua.h>

#include "core/device/identity.h"
#include "core/device/mounts.h"

/* "179:2" */
void l_push_number(lua_State *L, struct sl_device_number number);

/* id, number, root, point, type, source, options, super_options */
void l_push_mount(lua_State *L, const struct sl_mount *mount);

/* The fields of storlua.Disk (lua/storlua/device.lua); one that is not in
 * sysfs has its number only. */
void l_push_identity(lua_State *L, const struct sl_identity *identity);

#endif
