/* SPDX-License-Identifier: MIT */
#include "core/run/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/run/lock.h"

enum { NUMBERS_MAX = 1000000 };

static int note_made(struct sl_run_dir *dir, const char *path,
                     struct sl_error *e) {
  if (!dir->made && !(dir->made = strdup(path)))
    return sl_error_set(e, -ENOMEM, "malloc", path, -1);
  return sl_file_sync_name(path, e);
}

static int make(struct sl_run_dir *dir, const char *path, struct sl_error *e) {
  if (mkdir(path, 0777) == 0) return note_made(dir, path, e);
  int code = -errno;
  struct stat st;
  /* a read-only file system may say EROFS about a folder that is there */
  if (stat(path, &st) == 0)
    return S_ISDIR(st.st_mode) ? 0
                               : sl_error_set(e, -ENOTDIR, "mkdir", path, -1);
  return sl_error_set(e, code, "mkdir", path, -1);
}

/* Makes the folders above a path, which stays as it was. */
static int make_above(struct sl_run_dir *dir, char *path, struct sl_error *e) {
  int code = 0;
  for (char *at = path + 1; !code && *at; at++) {
    if (*at != '/') continue;
    *at = '\0';
    code = make(dir, path, e);
    *at = '/';
  }
  return code;
}

static int make_numbered(struct sl_run_dir *dir, char *prefix,
                         struct sl_error *e) {
  int code = make_above(dir, prefix, e);
  if (code) return code;
  code = -EEXIST;
  for (int n = 1; n < NUMBERS_MAX && code == -EEXIST; n++) {
    free(dir->path);
    if (asprintf(&dir->path, "%s%d", prefix, n) < 0) {
      dir->path = NULL;
      return sl_error_set(e, -ENOMEM, "malloc", prefix, -1);
    }
    code = mkdir(dir->path, 0777) == 0 ? 0 : -errno;
    /* a run beside us that came to nothing may have taken the folder away */
    if (code == -ENOENT && make_above(dir, prefix, e) == 0)
      code = mkdir(dir->path, 0777) == 0 ? 0 : -errno;
  }
  if (code) return sl_error_set(e, code, "mkdir", dir->path, -1);
  return note_made(dir, dir->path, e);
}

static int is_empty(const char *path, struct sl_error *e) {
  DIR *directory = opendir(path);
  if (!directory) return sl_error_set(e, -errno, "opendir", path, -1);
  int empty = 1;
  const struct dirent *entry;
  while (empty && (entry = readdir(directory)))
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  closedir(directory);
  return empty;
}

static char *join(const char *directory, const char *name) {
  char *path;
  return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static int lock(struct sl_run_dir *dir, struct sl_error *e) {
  char *path = join(dir->path, "lock");
  if (!path) return sl_error_set(e, -ENOMEM, "malloc", dir->path, -1);
  dir->lock_fd = sl_lock_file(path, e);
  free(path);
  return dir->lock_fd < 0 ? dir->lock_fd : 0;
}

static int check_log(const struct sl_run_dir *dir, struct sl_error *e) {
  char *path = join(dir->path, "events.jsonl");
  if (!path) return sl_error_set(e, -ENOMEM, "malloc", dir->path, -1);
  int code =
      access(path, R_OK) == 0 ? 0 : sl_error_set(e, -errno, "open", path, -1);
  free(path);
  return code;
}

/* A folder that is not empty: the lock says whether another run works there. */
static int refuse(struct sl_run_dir *dir, struct sl_error *e) {
  int code = check_log(dir, e);
  if (code != 0) return sl_error_set(e, -ENOTEMPTY, "mkdir", dir->path, -1);
  code = lock(dir, e);
  return code ? code : sl_error_set(e, -EEXIST, "mkdir", dir->path, -1);
}

static int open_at(struct sl_job *job, struct sl_run_dir *dir,
                   enum sl_run_dir_how how, struct sl_error *e) {
  int code = 0;
  sl_job_enter(job, "mkdir", -1);
  if (how == SL_RUN_DIR_NUMBERED) {
    char *prefix = dir->path;
    dir->path = NULL;
    code = make_numbered(dir, prefix, e);
    free(prefix);
  } else if (how == SL_RUN_DIR_NEW) {
    code = make_above(dir, dir->path, e);
    if (!code) code = make(dir, dir->path, e);
    int empty = code ? code : is_empty(dir->path, e);
    if (empty == 0) return refuse(dir, e);
    if (empty < 0) code = empty;
  } else {
    code = check_log(dir, e);
  }
  sl_job_enter(job, "open", -1);
  return code ? code : lock(dir, e);
}

int sl_run_dir_open(struct sl_job *job, struct sl_run_dir *dir,
                    enum sl_run_dir_how how, const char *path,
                    struct sl_error *e) {
  *dir = (struct sl_run_dir){.path = strdup(path), .lock_fd = -1};
  if (!dir->path) return sl_error_set(e, -ENOMEM, "malloc", path, -1);
  int code = open_at(job, dir, how, e);
  if (code) {
    struct sl_error unused;
    if (dir->made) sl_run_dir_remove(job, dir, &unused);
    sl_run_dir_close(dir);
  }
  return code;
}

int sl_run_dir_remove(struct sl_job *job, const struct sl_run_dir *dir,
                      struct sl_error *e) {
  static const char *const names[] = {"events.jsonl", "events.1.jsonl",
                                      "summary.json", "reserve", "lock"};
  int code = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *path = join(dir->path, names[i]);
    sl_job_enter(job, "unlink", -1);
    if (path && unlink(path) != 0 && errno != ENOENT)
      code = sl_error_set(e, -errno, "unlink", path, -1);
    free(path);
  }
  char *at = dir->made ? strdup(dir->path) : NULL;
  if (!at) return code;
  /* what somebody else put there meanwhile stays, and so does its folder */
  size_t made = strlen(dir->made);
  while (strlen(at) >= made && (rmdir(at) == 0 || errno == ENOENT)) {
    char *slash = strrchr(at, '/');
    if (!slash) break;
    *slash = '\0';
  }
  free(at);
  return code;
}

void sl_run_dir_close(struct sl_run_dir *dir) {
  if (dir->lock_fd >= 0) close(dir->lock_fd);
  free(dir->path);
  free(dir->made);
  *dir = (struct sl_run_dir){.lock_fd = -1};
}
