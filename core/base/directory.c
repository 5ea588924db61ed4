/* SPDX-License-Identifier: MIT */
#include "core/base/directory.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

int sl_directory_list(const char *path, sl_directory_visit *visit, void *user,
                      struct sl_error *e) {
  DIR *directory = opendir(path);
  if (!directory) return sl_error_set(e, -errno, "opendir", path, -1);
  int code = 0;
  while (code == 0) {
    errno = 0;
    struct dirent *entry = readdir(directory);
    if (!entry) {
      if (errno) code = sl_error_set(e, -errno, "readdir", path, -1);
      break;
    }
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      code = visit(entry->d_name, user);
  }
  closedir(directory);
  return code;
}
