/* SPDX-License-Identifier: MIT */
#include "core/run/stop_count.h"

#include <signal.h>

static const int64_t ECHO_NS = 50000000;        /* no finger is that quick */
static const int64_t LATE_ECHO_NS = 1000000000; /* by another way */

bool sl_stop_count_add(struct sl_stop_count *stop, int signal,
                       enum sl_stop_source source, int64_t now_ns) {
  bool late = signal == SIGHUP || source != stop->source;
  int64_t echo_ns = late ? LATE_ECHO_NS : ECHO_NS;
  if (stop->count && now_ns - stop->at_ns < echo_ns) return false;
  stop->count++;
  stop->source = source;
  stop->at_ns = now_ns;
  return true;
}
