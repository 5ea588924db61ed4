/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_KMSG_H
#define STORLUA_CORE_DEVICE_KMSG_H

/* Follows the kernel's log from now on.  Reading never blocks: the descriptor
 * is watched by the loop and read when there is something.  One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/device/kernel_record.h"

struct sl_kmsg {
  int fd; /* readable when a record waits; -1 closed */
  bool has_sequence;
  uint64_t next_sequence; /* expected of the next record */
  uint64_t lost;          /* records overwritten before they were read, in
                             all; at least, when nothing was read before */
  char buffer[SL_KERNEL_BUFFER_BYTES];
};

/* Opens `path` (NULL: /dev/kmsg) behind its newest record.  Fails with a hint
 * where the log is not there (container) or not permitted. */
int sl_kmsg_open(struct sl_kmsg *log, const char *path, struct sl_error *e);

/* Follows an open descriptor instead, which it then owns. */
void sl_kmsg_attach(struct sl_kmsg *log, int fd);

/* 1 and *record; 0 when there is none now; a negative errno when the log
 * cannot be read any more. */
int sl_kmsg_next(struct sl_kmsg *log, struct sl_kernel_record *record,
                 struct sl_error *e);

void sl_kmsg_close(struct sl_kmsg *log);

#endif
