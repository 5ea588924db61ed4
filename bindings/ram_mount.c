/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"
#include "bindings/job.h"
#include "core/memory/ram_mount.h"

/* Mounts and unmounts may wait for a device, so they are jobs; a job's thread
 * shares the namespace of the thread that started it. */
struct work {
  char *source, *target, *type, *options; /* source NULL: unmount */
  struct sl_error error;
  int code;
};

static void run(struct sl_job *job, void *data) {
  struct work *w = data;
  sl_job_enter(job, w->source ? "mount" : "umount", -1);
  w->code = w->source ? sl_ram_mount(w->source, w->target, w->type, w->options,
                                     &w->error)
                      : sl_ram_unmount(w->target, &w->error);
  sl_job_enter(job, NULL, -1);
}

static void release(void *data) {
  struct work *w = data;
  free(w->source);
  free(w->target);
  free(w->type);
  free(w->options);
  free(w);
}

static int push_result(lua_State *L, void *data) {
  const struct work *w = data;
  if (w->code != 0) return l_push_error(L, &w->error);
  lua_pushboolean(L, 1);
  return 1;
}

static const struct l_job_kind kind = {
    .class = {"mount", run, release},
    .push_result = push_result,
};

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

static int start(lua_State *L, const char *source, const char *target,
                 const char *type, const char *options) {
  struct work *w = calloc(1, sizeof *w);
  if (w) {
    w->source = copy(source);
    w->target = copy(target);
    w->type = copy(type);
    w->options = copy(options);
  }
  if (!w || !w->target || (source && (!w->source || !w->type || !w->options))) {
    struct sl_error e;
    if (w) release(w);
    sl_error_set(&e, -ENOMEM, "mount", target, -1);
    return l_push_error(L, &e);
  }
  return l_job_start(L, &kind, w);
}

/* mount(source, target, type, options) -> job */
static int l_mount(lua_State *L) {
  const char *source = l_check_path(L, 1), *target = l_check_path(L, 2);
  const char *type = l_check_path(L, 3);
  return start(L, source, target, type, luaL_checkstring(L, 4));
}

/* unmount(target) -> job */
static int l_unmount(lua_State *L) {
  return start(L, NULL, l_check_path(L, 1), NULL, NULL);
}

/* private() -> true: a mount namespace of our own from now on */
static int l_private(lua_State *L) {
  struct sl_error e;
  if (sl_ram_private(&e) != 0) return l_push_error(L, &e);
  lua_pushboolean(L, 1);
  return 1;
}

int luaopen_storlua_core_ram_mount(lua_State *L);
int luaopen_storlua_core_ram_mount(lua_State *L) {
  static const luaL_Reg functions[] = {{"mount", l_mount},
                                       {"unmount", l_unmount},
                                       {"private", l_private},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
