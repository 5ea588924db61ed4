/* SPDX-License-Identifier: MIT */
#include "core/run/run_dir.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bindings/class.h"
#include "bindings/error.h"
#include "bindings/job.h"
#include "core/base/file.h"

/* The folder may lie on a disk that does not answer: everything is a job. */

#define FOLDER "storlua.run_dir"

struct folder_job {
  struct sl_run_dir dir;
  enum sl_run_dir_how how;
  bool remove;
  size_t length; /* of what follows the path */
  struct sl_error error;
  int code;
  char path[];
};

static struct folder_job *new_job(lua_State *L, const char *path,
                                  size_t length) {
  size_t bytes = strlen(path) + 1;
  struct folder_job *f = calloc(1, sizeof *f + bytes + length);
  if (!f) luaL_error(L, "not enough memory");
  f->dir.lock_fd = -1;
  f->length = length;
  memcpy(f->path, path, bytes);
  return f;
}

static void run_open(struct sl_job *job, void *data) {
  struct folder_job *f = data;
  f->code = sl_run_dir_open(job, &f->dir, f->how, f->path, &f->error);
}

/* One that nobody took was not used for anything. */
static void free_open(void *data) {
  struct folder_job *f = data;
  struct sl_error unused;
  if (f->dir.made) sl_run_dir_remove(NULL, &f->dir, &unused);
  sl_run_dir_close(&f->dir);
  free(f);
}

static int push_open(lua_State *L, void *data) {
  struct folder_job *f = data;
  if (f->code) return l_push_error(L, &f->error);
  struct sl_run_dir *dir = lua_newuserdatauv(L, sizeof *dir, 0);
  *dir = f->dir;
  f->dir = (struct sl_run_dir){.lock_fd = -1};
  luaL_setmetatable(L, FOLDER);
  lua_pushstring(L, dir->path);
  return 2;
}

/* open(path, how) -> job, whose results are folder, path; how: numbered, new,
 * resume */
static int l_open(lua_State *L) {
  static const struct l_job_kind kind = {
      {"open results folder", run_open, free_open}, push_open, NULL};
  static const char *const hows[] = {"numbered", "new", "resume", NULL};
  const char *path = l_check_path(L, 1);
  int how = luaL_checkoption(L, 2, NULL, hows);
  struct folder_job *f = new_job(L, path, 0);
  f->how = (enum sl_run_dir_how)how;
  return l_job_start(L, &kind, f);
}

static void run_close(struct sl_job *job, void *data) {
  struct folder_job *f = data;
  if (f->remove) f->code = sl_run_dir_remove(job, &f->dir, &f->error);
  sl_job_enter(job, "close", -1);
  sl_run_dir_close(&f->dir);
}

static void free_close(void *data) {
  struct folder_job *f = data;
  sl_run_dir_close(&f->dir);
  free(f);
}

static int push_done(lua_State *L, void *data) {
  struct folder_job *f = data;
  if (f->code) return l_push_error(L, &f->error);
  lua_pushboolean(L, 1);
  return 1;
}

/* close(folder, remove) -> job: lets go of the folder; takes it away before
 * when `remove` is true */
static int l_close(lua_State *L) {
  static const struct l_job_kind kind = {
      {"close results folder", run_close, free_close}, push_done, NULL};
  struct sl_run_dir *dir = luaL_checkudata(L, 1, FOLDER);
  luaL_argcheck(L, dir->path, 1, "the folder is closed");
  struct folder_job *f = new_job(L, "", 0);
  f->remove = lua_toboolean(L, 2);
  f->dir = *dir;
  *dir = (struct sl_run_dir){.lock_fd = -1};
  return l_job_start(L, &kind, f);
}

static int l_folder_gc(lua_State *L) {
  sl_run_dir_close(luaL_checkudata(L, 1, FOLDER));
  return 0;
}

static void run_replace(struct sl_job *job, void *data) {
  struct folder_job *f = data;
  sl_job_enter(job, "write", -1);
  f->code = sl_file_replace(f->path, f->path + strlen(f->path) + 1, f->length,
                            &f->error);
}

/* replace(path, content) -> job: an atomic write of a report */
static int l_replace(lua_State *L) {
  static const struct l_job_kind kind = {
      {"write report", run_replace, free}, push_done, NULL};
  size_t length;
  const char *path = l_check_path(L, 1);
  const char *content = luaL_checklstring(L, 2, &length);
  struct folder_job *f = new_job(L, path, length);
  memcpy(f->path + strlen(path) + 1, content, length);
  return l_job_start(L, &kind, f);
}

static void run_check(struct sl_job *job, void *data) {
  struct folder_job *f = data;
  sl_job_enter(job, "stat", -1);
  f->code = sl_file_check_replace(f->path, &f->error);
}

/* can_replace(path) -> job: fails as `replace` would, as far as that shows */
static int l_can_replace(lua_State *L) {
  static const struct l_job_kind kind = {
      {"look for report", run_check, free}, push_done, NULL};
  struct folder_job *f = new_job(L, l_check_path(L, 1), 0);
  return l_job_start(L, &kind, f);
}

static int l_is_terminal(lua_State *L) {
  lua_pushboolean(L, isatty((int)l_check_range(L, 1, 0, 1024)));
  return 1;
}

int luaopen_storlua_core_run_dir(lua_State *L);
int luaopen_storlua_core_run_dir(lua_State *L) {
  static const luaL_Reg methods[] = {{"__gc", l_folder_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"open", l_open},
                                       {"close", l_close},
                                       {"replace", l_replace},
                                       {"can_replace", l_can_replace},
                                       {"is_terminal", l_is_terminal},
                                       {NULL, NULL}};
  l_new_class(L, FOLDER, methods);
  luaL_newlib(L, functions);
  return 1;
}
