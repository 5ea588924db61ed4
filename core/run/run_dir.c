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

enum { NUMBERS_MAX = 1000000 };

static int make(const char *path, struct sl_error *e) {
  if (mkdir(path, 0777) == 0) return sl_file_sync_name(path, e);
  int code = -errno;
  struct stat st;
  /* a read-only file system may say EROFS about a folder that is there */
  if (stat(path, &st) == 0)
    return S_ISDIR(st.st_mode) ? 0
                               : sl_error_set(e, -ENOTDIR, "mkdir", path, -1);
  return sl_error_set(e, code, "mkdir", path, -1);
}

int sl_make_directories(const char *path, struct sl_error *e) {
  char *copy = strdup(path);
  if (!copy) return sl_error_set(e, -ENOMEM, "malloc", path, -1);
  int code = 0;
  for (char *at = copy + 1; !code && *at; at++) {
    if (*at != '/') continue;
    *at = '\0';
    code = make(copy, e);
    *at = '/';
  }
  if (!code) code = make(copy, e);
  free(copy);
  return code;
}

int sl_make_numbered_directory(const char *prefix, struct sl_error *e) {
  size_t size = strlen(prefix) + 16;
  char *path = malloc(size);
  if (!path) return sl_error_set(e, -ENOMEM, "malloc", prefix, -1);
  int result = -EEXIST;
  int n = 1;
  for (; n < NUMBERS_MAX && result == -EEXIST; n++) {
    snprintf(path, size, "%s%d", prefix, n);
    result = mkdir(path, 0777) == 0 ? n : -errno;
  }
  if (result < 0) {
    sl_error_set(e, result, "mkdir", path, -1);
  } else if (sl_file_sync_name(path, e)) {
    rmdir(path);
    result = e->code;
  }
  free(path);
  return result;
}

int sl_directory_is_empty(const char *path, struct sl_error *e) {
  DIR *directory = opendir(path);
  if (!directory) return sl_error_set(e, -errno, "opendir", path, -1);
  int empty = 1;
  const struct dirent *entry;
  while (empty && (entry = readdir(directory)))
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  closedir(directory);
  return empty;
}
