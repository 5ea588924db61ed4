/* SPDX-License-Identifier: MIT */
#include "core/run/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The holder writes its id into the file, only for this message. */
static void name_holder(int fd, struct sl_error *e) {
  char text[32];
  ssize_t n = pread(fd, text, sizeof text - 1, 0);
  if (n <= 0) return;
  text[n] = '\0';
  text[strcspn(text, "\n")] = '\0';
  sl_error_hint(e, "held by process %s", text);
}

int sl_lock_file_as_is(const char *path, struct sl_error *e) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return sl_error_set(e, -errno, "open", path, -1);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    int code = -errno;
    if (code == -EWOULDBLOCK) {
      sl_error_set(e, code, "lock", path, -1);
      name_holder(fd, e);
      close(fd);
      return code;
    }
  }
  return fd;
}

int sl_lock_file(const char *path, struct sl_error *e) {
  int fd = sl_lock_file_as_is(path, e);
  if (fd < 0) return fd;
  char text[32];
  int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
  if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)length, 0) < 0) {
    /* only the message of a second run is poorer for it */
  }
  return fd;
}
