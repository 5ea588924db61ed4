/* SPDX-License-Identifier: MIT */
#include "core/base/usage.h"

#include <sys/resource.h>
#include <sys/time.h>

#ifndef RUSAGE_THREAD
#define RUSAGE_THREAD 1
#endif

static int64_t ns(const struct timeval *time) {
  return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

struct sl_usage sl_usage_now(void) {
  struct rusage r = {0};
  getrusage(RUSAGE_THREAD, &r);
  return (struct sl_usage){.user_ns = ns(&r.ru_utime),
                           .system_ns = ns(&r.ru_stime),
                           .voluntary_switches = r.ru_nvcsw,
                           .involuntary_switches = r.ru_nivcsw,
                           .minor_faults = r.ru_minflt,
                           .major_faults = r.ru_majflt};
}

struct sl_usage sl_usage_since(const struct sl_usage *before) {
  struct sl_usage used = sl_usage_now();
  used.user_ns -= before->user_ns;
  used.system_ns -= before->system_ns;
  used.voluntary_switches -= before->voluntary_switches;
  used.involuntary_switches -= before->involuntary_switches;
  used.minor_faults -= before->minor_faults;
  used.major_faults -= before->major_faults;
  return used;
}
