/* SPDX-License-Identifier: MIT */
#include "core/run/tcp.h"

#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"
#include "bindings/host/host.h"
#include "bindings/job.h"
#include "bindings/stream.h"

struct lookup {
  struct sl_tcp_addresses addresses;
  struct sl_error error;
  int status;
  char host[];
};

static void run_lookup(struct sl_job *job, void *data) {
  struct lookup *lookup = data;
  sl_job_enter(job, "look up", -1);
  lookup->status =
      sl_tcp_resolve(lookup->host, &lookup->addresses, &lookup->error);
}

static int push_addresses(lua_State *L, void *data) {
  struct lookup *lookup = data;
  if (lookup->status < 0) return l_push_error(L, &lookup->error);
  lua_createtable(L, (int)lookup->addresses.count, 0);
  for (unsigned i = 0; i < lookup->addresses.count; i++) {
    lua_pushstring(L, lookup->addresses.text[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* resolve(host) -> job whose result is a list of numeric addresses */
static int l_resolve(lua_State *L) {
  static const struct l_job_kind kind = {
      {"name look-up", run_lookup, free}, push_addresses, NULL};
  size_t length;
  const char *host = luaL_checklstring(L, 1, &length);
  luaL_argcheck(L, strlen(host) == length, 1, "the name contains a NUL");
  struct lookup *lookup = calloc(1, sizeof *lookup + length + 1);
  if (!lookup) return luaL_error(L, "not enough memory for a look-up");
  memcpy(lookup->host, host, length + 1);
  return l_job_start(L, &kind, lookup);
}

/* connect(address, port, fn) -> stream; fn(true) once it is connected, or
 * fn with the error values */
static int l_connect(lua_State *L) {
  const char *address = luaL_checkstring(L, 1);
  int port = (int)l_check_range(L, 2, 1, 65535);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  struct l_stream *s = l_stream_push(L);
  struct sl_error e;
  if (sl_tcp_connect(l_loop(L), address, port, l_stream_written, s, &s->stream,
                     &e))
    return l_push_error(L, &e);
  lua_pushvalue(L, 3);
  l_stream_expect(L, s, "connect");
  return 1;
}

int luaopen_storlua_core_tcp(lua_State *L);
int luaopen_storlua_core_tcp(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"resolve", l_resolve}, {"connect", l_connect}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
