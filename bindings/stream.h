/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_STREAM_H
#define STORLUA_BINDINGS_STREAM_H

/* A byte stream as a Lua value, whatever opened it.
 *
 * Methods of the value: read(fn), read_stop(), write(text, fn), close(). */

#include <lua.h>

#include "core/run/stream.h"

/* Pushes a stream value that is closed; *slot, borrowed from the value, takes
 * the stream once it is open.  So nothing can raise in between. */
void l_stream_push(lua_State *L, struct sl_stream ***slot);

#endif
