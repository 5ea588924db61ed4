/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bindings/error.h"
#include "core/base/file.h"

/* Short calls on small files, on the loop's thread.  Anything that may wait
 * for a device under test belongs into a job. */

#define MEMORY "storlua.fs.memory"
#define FOLDER "storlua.fs.folder"

/* true, or the error values for errno */
static int finish(lua_State *L, int status, const char *op, const char *path) {
  if (status < 0) {
    struct sl_error e;
    sl_error_set(&e, -errno, op, path, -1);
    return l_push_error(L, &e);
  }
  lua_pushboolean(L, 1);
  return 1;
}

static void set_integer(lua_State *L, const char *key, int64_t value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

static const char *kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "file";
    case S_IFDIR:
      return "directory";
    case S_IFLNK:
      return "link";
    case S_IFBLK:
      return "block";
    case S_IFCHR:
      return "character";
    case S_IFIFO:
      return "fifo";
    case S_IFSOCK:
      return "socket";
    default:
      return "unknown";
  }
}

static void set_device(lua_State *L, const char *key, dev_t device) {
  lua_pushfstring(L, "%d:%d", (int)major(device), (int)minor(device));
  lua_setfield(L, -2, key);
}

/* stat(path, follow) -> table */
static int l_stat(lua_State *L) {
  const char *path = l_check_path(L, 1);
  struct stat st;
  int status = lua_toboolean(L, 2) ? stat(path, &st) : lstat(path, &st);
  if (status < 0) return finish(L, status, "stat", path);
  lua_createtable(L, 0, 12);
  lua_pushstring(L, kind_of(st.st_mode));
  lua_setfield(L, -2, "kind");
  lua_pushboolean(L, S_ISDIR(st.st_mode));
  lua_setfield(L, -2, "is_directory");
  set_integer(L, "size_bytes", st.st_size);
  set_integer(L, "allocated_bytes", (int64_t)st.st_blocks * 512);
  set_integer(L, "mode", st.st_mode & 07777);
  set_integer(L, "ino", (int64_t)st.st_ino);
  set_integer(L, "links", (int64_t)st.st_nlink);
  set_integer(L, "uid", st.st_uid);
  set_integer(L, "gid", st.st_gid);
  set_integer(L, "mtime_ns",
              (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
  set_device(L, "dev", st.st_dev);
  if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
    set_device(L, "device", st.st_rdev);
  return 1;
}

/* space(path) -> {total_bytes, free_bytes, available_bytes, …} */
static int l_space(lua_State *L) {
  const char *path = l_check_path(L, 1);
  struct statvfs fs;
  if (statvfs(path, &fs) < 0) return finish(L, -1, "statvfs", path);
  int64_t unit = (int64_t)fs.f_frsize;
  lua_createtable(L, 0, 5);
  set_integer(L, "total_bytes", (int64_t)fs.f_blocks * unit);
  set_integer(L, "free_bytes", (int64_t)fs.f_bfree * unit);
  set_integer(L, "available_bytes", (int64_t)fs.f_bavail * unit);
  set_integer(L, "free_inodes", (int64_t)fs.f_favail);
  lua_pushboolean(L, (fs.f_flag & ST_RDONLY) != 0);
  lua_setfield(L, -2, "is_read_only");
  return 1;
}

static int l_access(lua_State *L) {
  static const char *const modes[] = {"f", "r", "w", "x", NULL};
  static const int bits[] = {F_OK, R_OK, W_OK, X_OK};
  const char *path = l_check_path(L, 1);
  int mode = bits[luaL_checkoption(L, 2, "f", modes)];
  return finish(L, access(path, mode), "access", path);
}

static int l_mkdir(lua_State *L) {
  const char *path = l_check_path(L, 1);
  lua_Integer mode = luaL_optinteger(L, 2, 0777);
  return finish(L, mkdir(path, (mode_t)mode & 07777), "mkdir", path);
}

/* unlink(path, is_directory) */
static int l_unlink(lua_State *L) {
  const char *path = l_check_path(L, 1);
  if (lua_toboolean(L, 2)) return finish(L, rmdir(path), "rmdir", path);
  return finish(L, unlink(path), "unlink", path);
}

static int l_rename(lua_State *L) {
  const char *from = l_check_path(L, 1);
  return finish(L, rename(from, l_check_path(L, 2)), "rename", from);
}

static int l_symlink(lua_State *L) {
  const char *target = l_check_path(L, 1), *path = l_check_path(L, 2);
  return finish(L, symlink(target, path), "symlink", path);
}

static int l_realpath(lua_State *L) {
  const char *path = l_check_path(L, 1);
  char resolved[PATH_MAX];
  if (!realpath(path, resolved)) return finish(L, -1, "realpath", path);
  lua_pushstring(L, resolved);
  return 1;
}

static int l_readlink(lua_State *L) {
  const char *path = l_check_path(L, 1);
  char target[PATH_MAX];
  ssize_t n = readlink(path, target, sizeof target);
  if (n < 0) return finish(L, -1, "readlink", path);
  lua_pushlstring(L, target, (size_t)n);
  return 1;
}

/* mkdtemp(template) -> path; the template ends in XXXXXX */
static int l_mkdtemp(lua_State *L) {
  const char *template = l_check_path(L, 1);
  char path[PATH_MAX];
  luaL_argcheck(L, strlen(template) < sizeof path, 1, "the path is too long");
  if (!mkdtemp(strcpy(path, template)))
    return finish(L, -1, "make folder", template);
  lua_pushstring(L, path);
  return 1;
}

static int l_close_folder(lua_State *L) {
  DIR **folder = luaL_checkudata(L, 1, FOLDER);
  if (*folder) closedir(*folder);
  *folder = NULL;
  return 0;
}

/* list(path) -> names, in no order, without . and .. */
static int l_list(lua_State *L) {
  const char *path = l_check_path(L, 1);
  DIR **folder = lua_newuserdatauv(L, sizeof *folder, 0); /* folder */
  *folder = NULL;
  luaL_setmetatable(L, FOLDER);
  if (!(*folder = opendir(path))) return finish(L, -1, "open folder", path);
  lua_newtable(L); /* folder names */
  struct dirent *entry;
  for (lua_Integer n = 0; errno = 0, (entry = readdir(*folder));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    lua_pushstring(L, entry->d_name);
    lua_rawseti(L, -2, ++n);
  }
  int status = errno ? -1 : 0, saved = errno;
  closedir(*folder);
  *folder = NULL;
  errno = saved;
  return status < 0 ? finish(L, status, "read folder", path) : 1;
}

static int l_free_memory(lua_State *L) {
  char **memory = luaL_checkudata(L, 1, MEMORY);
  free(*memory);
  *memory = NULL;
  return 0;
}

/* read(path) -> text */
static int l_read(lua_State *L) {
  const char *path = l_check_path(L, 1);
  char **memory = lua_newuserdatauv(L, sizeof *memory, 0);
  *memory = NULL;
  luaL_setmetatable(L, MEMORY);
  size_t length = 0;
  struct sl_error e;
  if (sl_file_read_all(path, memory, &length, &e)) return l_push_error(L, &e);
  lua_pushlstring(L, *memory, length);
  free(*memory);
  *memory = NULL;
  return 1;
}

/* replace(path, text): all of it or nothing, also after a power cut */
static int l_replace(lua_State *L) {
  const char *path = l_check_path(L, 1);
  size_t length;
  const char *text = luaL_checklstring(L, 2, &length);
  struct sl_error e;
  if (sl_file_replace(path, text, length, &e)) return l_push_error(L, &e);
  lua_pushboolean(L, 1);
  return 1;
}

static void make_box(lua_State *L, const char *name, lua_CFunction gc) {
  luaL_newmetatable(L, name);
  lua_pushcfunction(L, gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}

int luaopen_storlua_core_fs(lua_State *L);
int luaopen_storlua_core_fs(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"stat", l_stat},         {"space", l_space},
      {"access", l_access},     {"mkdir", l_mkdir},
      {"unlink", l_unlink},     {"rename", l_rename},
      {"symlink", l_symlink},   {"realpath", l_realpath},
      {"readlink", l_readlink}, {"mkdtemp", l_mkdtemp},
      {"list", l_list},         {"read", l_read},
      {"replace", l_replace},   {NULL, NULL}};
  make_box(L, MEMORY, l_free_memory);
  make_box(L, FOLDER, l_close_folder);
  luaL_newlib(L, functions);
  return 1;
}
