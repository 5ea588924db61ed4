/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_STREAMS_H
#define STORLUA_BINDINGS_STREAMS_H

#include <lua.h>

#include "core/io/streams.h"

/* The streams in the userdata at `index`; raises when it is none. */
struct sl_streams *l_check_streams(lua_State *L, int index);

#endif
