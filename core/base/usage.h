/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_USAGE_H
#define STORLUA_CORE_BASE_USAGE_H

/* What a thread has used of the processor, as the kernel counts it. */

#include <stdint.h>

struct sl_usage {
  int64_t user_ns, system_ns;
  int64_t voluntary_switches, involuntary_switches;
  int64_t minor_faults, major_faults;
};

/* Of the calling thread, since it began. */
struct sl_usage sl_usage_now(void);

/* Of the calling thread, since `before` was read in it. */
struct sl_usage sl_usage_since(const struct sl_usage *before);

#endif
