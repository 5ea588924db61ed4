/* SPDX-License-Identifier: MIT */
#include "core/device/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int sl_kmsg_open(struct sl_kmsg *log, const char *path, struct sl_error *e) {
  if (!path) path = "/dev/kmsg";
  log->fd = -1;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    int code = sl_error_set(e, -errno, "open", path, -1);
    if (code == -EPERM || code == -EACCES) {
      sl_error_hint(e, "kernel.dmesg_restrict: needs root or CAP_SYSLOG");
    } else if (code == -ENOENT) {
      sl_error_hint(e, "a container without the kernel's log?");
    }
    return code;
  }
  sl_kmsg_attach(log, fd);
  if (lseek(fd, 0, SEEK_END) < 0) {
    int code = sl_error_set(e, -errno, "lseek", path, -1);
    sl_kmsg_close(log);
    return code;
  }
  return 0;
}

void sl_kmsg_attach(struct sl_kmsg *log, int fd) {
  log->fd = fd;
  log->has_sequence = false;
  log->next_sequence = 0;
  log->lost = 0;
}

/* Numbers are given without gaps, also to records of user space. */
static void count_gap(struct sl_kmsg *log, uint64_t sequence) {
  if (log->has_sequence && sequence > log->next_sequence) {
    log->lost += sequence - log->next_sequence;
  }
  log->has_sequence = true;
  log->next_sequence = sequence + 1;
}

int sl_kmsg_next(struct sl_kmsg *log, struct sl_kernel_record *record,
                 struct sl_error *e) {
  for (;;) {
    ssize_t length = read(log->fd, log->buffer, sizeof log->buffer);
    if (length > 0) {
      /* What does not parse is no reason to stop following. */
      if (sl_kernel_record_parse(log->buffer, (size_t)length, record) != 0) {
        continue;
      }
      count_gap(log, record->sequence);
      return 1;
    }
    if (length == 0 || errno == EAGAIN) return 0;
    if (errno == EINTR) continue;
    if (errno != EPIPE) {
      return sl_error_set(e, -errno, "read", "/dev/kmsg", -1);
    }
    /* Overwritten under us: the next read goes on behind the gap, and its
     * number says how wide it was. */
    if (!log->has_sequence) log->lost++;
  }
}

void sl_kmsg_close(struct sl_kmsg *log) {
  if (log->fd >= 0) close(log->fd);
  log->fd = -1;
}
