/* SPDX-License-Identifier: MIT */
#include "core/run/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int sl_standard_streams_open(struct sl_error *e) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    int opened = open("/dev/null", O_RDWR); /* the lowest number that is free */
    /* Without /dev a directory holds the place: writing to it fails. */
    if (opened < 0) opened = open("/", O_RDONLY | O_DIRECTORY);
    if (opened < 0) return sl_error_set(e, -errno, "open", "/dev/null", -1);
  }
  return 0;
}
