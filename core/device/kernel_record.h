/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_KERNEL_RECORD_H
#define STORLUA_CORE_DEVICE_KERNEL_RECORD_H

/* One record of /dev/kmsg: "3,499,123456,-;text", then lines that begin with
 * a blank and hold KEY=value. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  SL_KERNEL_BUFFER_BYTES = 8192, /* a shorter read loses the record */
  SL_KERNEL_FACILITY_KERN = 0,
  SL_KERNEL_LEVEL_ERROR = 3,
  SL_KERNEL_LEVEL_WARNING = 4
};

struct sl_kernel_record {
  unsigned level;    /* 0 emergency … 7 debug */
  unsigned facility; /* 0 is the kernel; user space gets others */
  uint64_t sequence;
  int64_t time_ns;    /* since boot, the log's own clock */
  size_t text_length; /* decoded text may hold NUL bytes */
  char text[SL_KERNEL_BUFFER_BYTES];
  char subsystem[32]; /* SUBSYSTEM=, "" when not given */
  char device[64];    /* DEVICE=: "b179:0", "+mmc:mmc0:0001" */
};

/* Parses what one read returned; \xNN decoded.  -EBADMSG when it is not a
 * record. */
int sl_kernel_record_parse(const char *data, size_t length,
                           struct sl_kernel_record *record);

#endif
