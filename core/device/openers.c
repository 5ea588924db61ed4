/* SPDX-License-Identifier: MIT */
#include "core/device/openers.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/device/use_private.h"

struct search {
  bool (*wanted)(const void *user, struct sl_device_number number);
  const void *user;
  bool writers_only;
};

static bool is_for_writing(const char *process, const char *descriptor) {
  char path[128], text[512];
  unsigned flags;

  snprintf(path, sizeof path, "/proc/%.20s/fdinfo/%.20s", process, descriptor);
  if (sl_file_read(path, text, sizeof text, NULL) < 0) return false;
  const char *field = strstr(text, "flags:");
  if (!field || sscanf(field, "flags: %o", &flags) != 1) return false;
  return (flags & O_ACCMODE) != O_RDONLY;
}

static bool look_at(const struct search *search, const char *process,
                    struct sl_opener *opener) {
  char path[128], target[300];
  struct sl_device_number number;
  struct dirent *entry;
  bool found = false;

  snprintf(path, sizeof path, "/proc/%.20s/fd", process);
  DIR *list = opendir(path);
  if (!list) return false;
  while (!found && (entry = readdir(list))) {
    snprintf(path, sizeof path, "/proc/%.20s/fd/%.20s", process, entry->d_name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 5 || memcmp(target, "/dev/", 5) != 0) continue;
    if (!sl_use_node(path, &number)) continue;
    if (!search->wanted(search->user, number)) continue;
    opener->for_writing = is_for_writing(process, entry->d_name);
    found = opener->for_writing || !search->writers_only;
  }
  closedir(list);
  return found;
}

bool sl_openers_find(bool (*wanted)(const void *user,
                                    struct sl_device_number number),
                     const void *user, bool writers_only,
                     struct sl_opener *opener) {
  struct search search = {wanted, user, writers_only};
  struct dirent *entry;
  char path[64];
  bool found = false;

  *opener = (struct sl_opener){0};
  DIR *list = opendir("/proc");
  if (!list) return false;
  while (!found && (entry = readdir(list))) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    long pid = strtol(entry->d_name, NULL, 10);
    if (pid == (long)getpid() || !look_at(&search, entry->d_name, opener)) {
      continue;
    }
    found = true;
    opener->pid = (pid_t)pid;
    snprintf(path, sizeof path, "/proc/%.20s/comm", entry->d_name);
    if (sl_file_read(path, opener->name, sizeof opener->name, NULL) > 0) {
      opener->name[strcspn(opener->name, "\n")] = '\0';
    }
  }
  closedir(list);
  return found;
}
