/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_STREAM_H
#define STORLUA_BINDINGS_STREAM_H

/* A byte stream as a Lua value, whatever opened it.
 *
 * Methods of the value: read(fn), read_stop(), write(text, fn), close(). */

#include <lua.h>

#include "core/run/stream.h"

struct l_stream {
  struct sl_stream *stream; /* NULL when closed */
  struct sl_host *host;
  const char *write_op; /* what the write is for messages: "write" */
  int read_ref;         /* function for the read that waits, or LUA_NOREF */
  int write_ref;        /* the same for the write */
  int data_ref;         /* the string that is being written */
};

/* Pushes a stream value that is closed; `stream` is set once it is open, so
 * that nothing can raise in between. */
struct l_stream *l_stream_push(lua_State *L);

/* Makes the function on top, which it pops, the one that is told about the
 * operation `op` that l_stream_written ends. */
void l_stream_expect(lua_State *L, struct l_stream *s, const char *op);
void l_stream_written(void *user, int status);

#endif
