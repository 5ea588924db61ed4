/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_JOB_H
#define STORLUA_BINDINGS_JOB_H

/* A C job as a Lua value.  Every binding that does blocking work ends in
 * l_job_start; lua/storlua/job.lua waits for the value it returns.
 *
 * Methods of the value: on_done(fn), is_done(), cancel(), abandon(),
 * result(), progress(), stuck(), name(). */

#include <lua.h>

#include "core/run/job.h"

struct l_job_kind {
  struct sl_job_class class;
  /* Pushes the results of a finished job and returns how many; may be called
   * more than once.  For a failure: return l_push_error(…). */
  int (*push_result)(lua_State *L, void *data);
  /* Pushes one progress value while the thread runs; NULL: none. */
  int (*push_progress)(lua_State *L, void *data);
};

/* Starts `kind->class.run` on a thread with `data` and pushes the job.
 * `kind` is static.  Takes ownership of `data` also when it fails: then it
 * releases it and pushes the error triple.  Returns the number of results. */
int l_job_start(lua_State *L, const struct l_job_kind *kind, void *data);

#endif
