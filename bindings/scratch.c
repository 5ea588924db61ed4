/* SPDX-License-Identifier: MIT */
#include "core/run/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "bindings/class.h"
#include "bindings/error.h"
#include "bindings/job.h"

#define SCRATCH "storlua.scratch"

struct claim {
  struct sl_scratch *scratch;
  bool resume;
  struct sl_error error;
  int code;
  char path[];
};

/* It syncs the note, which a dead device does not answer. */
static void run_claim(struct sl_job *job, void *data) {
  struct claim *c = data;
  sl_job_enter(job, "open", -1);
  c->code = sl_scratch_claim(c->path, c->resume, &c->scratch, &c->error);
}

/* Who asked for it was stopped meanwhile.  What an earlier part of the run has
 * left stays for the next one. */
static void free_claim(void *data) {
  struct claim *c = data;
  struct sl_error unused;
  if (c->scratch) {
    bool stays = c->resume && sl_scratch_is_reused(c->scratch);
    sl_scratch_release(
        c->scratch,
        stays ? "of a run that was stopped before it went on" : NULL, &unused);
  }
  free(c);
}

static int push_claim(lua_State *L, void *data) {
  struct claim *c = data;
  struct sl_scratch **s = lua_newuserdatauv(L, sizeof(struct sl_scratch *), 0);
  *s = NULL;
  luaL_setmetatable(L, SCRATCH);
  if (c->code) return l_push_error(L, &c->error);
  *s = c->scratch;
  c->scratch = NULL;
  lua_pushboolean(L, sl_scratch_is_reused(*s));
  return 2;
}

/* claim(path, resume) -> job, whose results are file, reused */
static int l_claim(lua_State *L) {
  static const struct l_job_kind kind = {
      {"claim scratch file", run_claim, free_claim}, push_claim, NULL};
  const char *path = l_check_path(L, 1);
  size_t bytes = strlen(path) + 1;
  struct claim *c = calloc(1, sizeof *c + bytes);
  if (!c) return luaL_error(L, "not enough memory");
  memcpy(c->path, path, bytes);
  c->resume = lua_toboolean(L, 2);
  return l_job_start(L, &kind, c);
}

struct release {
  struct sl_scratch *scratch;
  bool keep;
  char reason[256];
  struct sl_error error;
  int code;
};

/* Removing a large file may take seconds on a slow card. */
static void run_release(struct sl_job *job, void *data) {
  struct release *r = data;
  sl_job_enter(job, "unlink", -1);
  r->code =
      sl_scratch_release(r->scratch, r->keep ? r->reason : NULL, &r->error);
  r->scratch = NULL;
}

/* Not run at all: the file stays, and with it the note whose it is. */
static void free_release(void *data) {
  struct release *r = data;
  struct sl_error unused;
  if (r->scratch) sl_scratch_release(r->scratch, "not removed", &unused);
  free(r);
}

static int push_release(lua_State *L, void *data) {
  struct release *r = data;
  if (r->code) return l_push_error(L, &r->error);
  lua_pushboolean(L, 1);
  return 1;
}

/* release(file, reason) -> job: removes the file; keeps it as evidence
 * when there is a reason */
static int l_release(lua_State *L) {
  static const struct l_job_kind kind = {
      {"remove scratch file", run_release, free_release}, push_release, NULL};
  struct sl_scratch **s = luaL_checkudata(L, 1, SCRATCH);
  luaL_argcheck(L, *s, 1, "the scratch file is released");
  const char *reason = luaL_optstring(L, 2, NULL);
  struct release *r = calloc(1, sizeof *r);
  if (!r) return luaL_error(L, "not enough memory");
  r->scratch = *s;
  *s = NULL;
  r->keep = reason != NULL;
  if (reason) strncpy(r->reason, reason, sizeof r->reason - 1);
  return l_job_start(L, &kind, r);
}

static int l_scratch_gc(lua_State *L) {
  struct sl_scratch **s = luaL_checkudata(L, 1, SCRATCH);
  struct sl_error unused;
  if (*s) sl_scratch_release(*s, NULL, &unused);
  *s = NULL;
  return 0;
}

int luaopen_storlua_core_scratch(lua_State *L);
int luaopen_storlua_core_scratch(lua_State *L) {
  static const luaL_Reg methods[] = {{"__gc", l_scratch_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"claim", l_claim}, {"release", l_release}, {NULL, NULL}};
  l_new_class(L, SCRATCH, methods);
  luaL_newlib(L, functions);
  return 1;
}
