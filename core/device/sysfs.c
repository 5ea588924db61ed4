/* SPDX-License-Identifier: MIT */
#include "core/device/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(SL_SYSFS_PATH_BYTES >= PATH_MAX, "realpath needs PATH_MAX");

static int join(const char *root, const char *below, char *path) {
  int length = snprintf(path, SL_SYSFS_PATH_BYTES, "%s/%s", root, below);
  bool fits = length >= 0 && length < SL_SYSFS_PATH_BYTES;
  return fits ? 0 : -ENAMETOOLONG;
}

int sl_system_sysfs(const struct sl_system *system, const char *below,
                    char *path) {
  return join(system && system->sysfs ? system->sysfs : "/sys", below, path);
}

int sl_system_proc(const struct sl_system *system, const char *below,
                   char *path) {
  return join(system && system->proc ? system->proc : "/proc", below, path);
}

int sl_sysfs_directory(const struct sl_system *system,
                       struct sl_device_number device, char *directory) {
  char link[SL_SYSFS_PATH_BYTES], below[48];

  snprintf(below, sizeof below, "dev/block/%u:%u", device.major, device.minor);
  int code = sl_system_sysfs(system, below, link);
  if (code != 0) return code;

  /* "../../devices/…", which has no further links in it: resolved by name,
   * ten times cheaper than realpath. */
  char target[1024];
  ssize_t length = readlink(link, target, sizeof target - 1);
  if (length < 0) return -errno;
  target[length] = '\0';
  if (strncmp(target, "../../devices/", 14) == 0 && !strstr(target + 6, "..")) {
    return sl_system_sysfs(system, target + 6, directory);
  }
  return realpath(link, directory) ? 0 : -errno;
}

static _Thread_local const char *entered;
static _Thread_local int entered_fd = -1;

void sl_sysfs_enter(const char *directory) {
  entered_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  entered = entered_fd < 0 ? NULL : directory;
}

void sl_sysfs_leave(void) {
  if (entered) close(entered_fd);
  entered = NULL;
}

static int open_attribute(const char *directory, const char *attribute) {
  char path[SL_SYSFS_PATH_BYTES];
  const int flags = O_RDONLY | O_CLOEXEC;

  int fd;
  if (directory == entered) {
    fd = openat(entered_fd, attribute, flags);
  } else {
    if (join(directory, attribute, path) != 0) return -ENAMETOOLONG;
    fd = open(path, flags);
  }
  return fd < 0 ? -errno : fd;
}

ssize_t sl_sysfs_text(const char *directory, const char *attribute, char *text,
                      size_t size) {
  text[0] = '\0';
  int fd = open_attribute(directory, attribute);
  if (fd < 0) return fd;
  /* An attribute is given whole in one read. */
  ssize_t length;
  do {
    length = read(fd, text, size);
  } while (length < 0 && errno == EINTR);
  int code = length < 0 ? -errno : (size_t)length == size ? -EFBIG : 0;
  close(fd);
  if (code != 0) length = 0;
  text[length] = '\0';
  if (code != 0) return code;
  if (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
  return length;
}

ssize_t sl_sysfs_label(const char *directory, const char *attribute, char *text,
                       size_t size) {
  ssize_t length = sl_sysfs_text(directory, attribute, text, size);
  if (length <= 0) return length;
  length = (ssize_t)strlen(text);
  while (length > 0 && strchr(" \t\n", text[length - 1]))
    length--;
  text[length] = '\0';
  size_t lead = strspn(text, " \t\n");
  memmove(text, text + lead, (size_t)length - lead + 1);
  return length - (ssize_t)lead;
}

int64_t sl_sysfs_number(const char *directory, const char *attribute) {
  char text[32], *end;

  if (sl_sysfs_text(directory, attribute, text, sizeof text) <= 0) return -1;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  return errno != 0 || *end != '\0' || value < 0 ? -1 : value;
}

int sl_sysfs_device(const char *directory, const char *attribute,
                    struct sl_device_number *device) {
  char text[32], end;

  ssize_t length = sl_sysfs_text(directory, attribute, text, sizeof text);
  if (length < 0) return (int)length;
  if (sscanf(text, "%u:%u%c", &device->major, &device->minor, &end) != 2) {
    return -EBADMSG;
  }
  return 0;
}

const char *sl_sysfs_name(const char *directory) {
  const char *slash = strrchr(directory, '/');
  return slash ? slash + 1 : directory;
}
