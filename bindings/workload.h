/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_WORKLOAD_H
#define STORLUA_BINDINGS_WORKLOAD_H

/* Shared by the bindings/workload*.c files. */

#include <lua.h>

#include "core/io/workload.h"

/* A workload as a job: owned by the job, read by Lua when it is done. */
struct l_workload {
  struct sl_workload_spec spec; /* its pointers are owned here */
  char *path;
  struct sl_legal *legal;
  char **more; /* more_paths and their text in one block */
  const struct sl_clock *clock;
  struct sl_workload_progress progress;
  struct sl_workload_result result;
  struct sl_error error;
  int code;
};

/* Reads the table at `index` into *spec.  Raises, naming the field, on what
 * has the wrong type.  Paths are borrowed from the table; their list and the
 * legal ranges lie in userdata that are pushed. */
void l_workload_spec(lua_State *L, int index, struct sl_workload_spec *spec);

/* bindings/workload_vary.c: distribution, sizes, steady state. */
void l_workload_vary(lua_State *L, int index, struct sl_workload_spec *spec);

/* Pushes the table that docs/events.md calls the result of a workload,
 * without what is derived from it. */
void l_workload_push_result(lua_State *L, const struct l_workload *work);

#endif
