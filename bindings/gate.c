/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bindings/class.h"
#include "bindings/device_fields.h"
#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "core/device/gate.h"

#define GRANT "storlua.grant"

struct opening {
  char *path;
  char **consents;
  struct sl_gate_request request;
  struct sl_gate_answer answer;
  struct sl_grant *grant;
  int code;
  struct sl_error error;
};

static void run_opening(struct sl_job *job, void *data) {
  struct opening *o = data;
  sl_job_enter(job, "open device exclusively", -1);
  o->code = sl_gate_open(&o->request, &o->answer, &o->grant, &o->error);
  sl_job_enter(job, NULL, -1);
}

static void release_opening(void *data) {
  struct opening *o = data;
  sl_gate_close(o->grant);
  for (unsigned i = 0; i < o->request.consent_count; i++)
    free(o->consents[i]);
  free(o->consents);
  free(o->path);
  free(o);
}

static void push_reasons(lua_State *L, const struct sl_gate_answer *answer) {
  lua_createtable(L, (int)answer->reason_count, 0);
  for (unsigned i = 0; i < answer->reason_count; i++) {
    lua_createtable(L, 0, 2);
    l_set_text(L, "code", answer->reasons[i].code);
    l_set_text(L, "text", answer->reasons[i].text);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "reasons");
  lua_createtable(L, (int)answer->loss_count, 0);
  for (unsigned i = 0; i < answer->loss_count; i++) {
    lua_pushstring(L, answer->losses[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "losses");
  l_set_text(L, "id", answer->identity.unit);
}

static int push_opening(lua_State *L, void *data) {
  struct opening *o = data;

  if (o->code != 0) {
    int count = l_push_error(L, &o->error);
    push_reasons(L, &o->answer);
    return count;
  }
  struct sl_grant **slot = lua_newuserdatauv(L, sizeof *slot, 0);
  *slot = NULL;
  luaL_setmetatable(L, GRANT);
  l_push_identity(L, &o->answer.identity);
  *slot = o->grant; /* the value owns it now */
  o->grant = NULL;
  return 2;
}

static bool copy_consents(lua_State *L, int arg, struct opening *o) {
  size_t count = (size_t)lua_rawlen(L, arg);

  o->consents = calloc(count + 1, sizeof *o->consents);
  if (!o->consents) return false;
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    o->consents[i] = strdup(lua_tostring(L, -1));
    lua_pop(L, 1);
    if (!o->consents[i]) return false;
    o->request.consent_count++;
  }
  return true;
}

/* open(path, consents, force_signature) -> job -> grant, identity.  A refusal
 * adds reasons {code, text}, losses and id to the fields of the error. */
static int l_open(lua_State *L) {
  static const struct l_job_kind kind = {
      {"safety gate", run_opening, release_opening}, push_opening, NULL};
  const char *path = l_check_path(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  for (lua_Integer i = 1; lua_rawgeti(L, 2, i) != LUA_TNIL; i++) {
    size_t length;
    luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 2, "a list of texts");
    const char *text = lua_tolstring(L, -1, &length);
    luaL_argcheck(L, strlen(text) == length, 2, "a text contains a NUL");
    lua_pop(L, 1);
  }
  lua_settop(L, 3);
  struct opening *o = calloc(1, sizeof *o);
  if (o) o->path = strdup(path);
  if (!o || !o->path || !copy_consents(L, 2, o)) {
    if (o) release_opening(o);
    return luaL_error(L, "not enough memory");
  }
  o->request.path = o->path;
  o->request.consents = (const char *const *)o->consents;
  o->request.force_signature = lua_toboolean(L, 3);
  return l_job_start(L, &kind, o);
}

static void run_closing(struct sl_job *job, void *data) {
  struct sl_grant **grant = data;
  sl_job_enter(job, "flush and close device", -1);
  sl_gate_close(*grant);
  *grant = NULL;
  sl_job_enter(job, NULL, -1);
}

static void release_closing(void *data) {
  struct sl_grant **grant = data;
  sl_gate_close(*grant); /* set only when the job did not start */
  free(grant);
}

static int push_closing(lua_State *L, void *data) {
  (void)data;
  lua_pushboolean(L, 1);
  return 1;
}

/* grant:close() -> job, or nothing when it is closed already */
static int l_close(lua_State *L) {
  static const struct l_job_kind kind = {
      {"close device", run_closing, release_closing}, push_closing, NULL};
  struct sl_grant **slot = luaL_checkudata(L, 1, GRANT);
  if (!*slot) return 0;
  struct sl_grant **grant = malloc(sizeof *grant);
  if (!grant) return luaL_error(L, "not enough memory");
  *grant = *slot;
  *slot = NULL;
  return l_job_start(L, &kind, grant);
}

/* Forgotten by its owner: closed here, which may block. */
static int l_gc(lua_State *L) {
  struct sl_grant **slot = luaL_checkudata(L, 1, GRANT);
  sl_gate_close(*slot);
  *slot = NULL;
  return 0;
}

int luaopen_storlua_core_gate(lua_State *L);
int luaopen_storlua_core_gate(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"close", l_close}, {"__gc", l_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"open", l_open}, {NULL, NULL}};
  l_new_class(L, GRANT, methods);
  luaL_newlib(L, functions);
  return 1;
}
