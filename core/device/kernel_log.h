/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_KERNEL_LOG_H
#define STORLUA_CORE_DEVICE_KERNEL_LOG_H

/* Follows the kernel's log from now on.  Reading never blocks: the descriptor
 * is watched by the loop and read when there is something.  One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/device/kernel_record.h"

struct sl_kernel_log {
  int fd; /* readable when a record waits; -1 closed */
  bool has_sequence;
  uint64_t next_sequence; /* expected of the next record */
  uint64_t lost;          /* records overwritten before they were read, in
                             all; at least, when nothing was read before */
  char buffer[SL_KERNEL_BUFFER_BYTES];
};

/* Opens `path` (NULL: /dev/kmsg) behind its newest record.  Fails with a hint
 * where the log is not there (container) or not permitted. */
int sl_kernel_log_open(struct sl_kernel_log *log, const char *path,
                       struct sl_error *e);

/* Follows an open descriptor instead, which it then owns. */
void sl_kernel_log_attach(struct sl_kernel_log *log, int fd);

/* 1 and *record; 0 when there is none now; a negative errno when the log
 * cannot be read any more. */
int sl_kernel_log_next(struct sl_kernel_log *log,
                       struct sl_kernel_record *record, struct sl_error *e);

void sl_kernel_log_close(struct sl_kernel_log *log);

#endif
