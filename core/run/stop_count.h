/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_STOP_COUNT_H
#define STORLUA_CORE_RUN_STOP_COUNT_H

/* How often somebody asked the process to stop.
 *
 * One request can arrive as several signals: Ctrl-C reaches the supervisor
 * and the host, timeout(1) signals a process and then its group, a closed
 * terminal hangs up twice.  Those are echoes, not a second request. */

#include <stdbool.h>
#include <stdint.h>

enum sl_stop_source {
  SL_STOP_DIRECT, /* from the terminal or from another process */
  SL_STOP_RELAYED /* passed on by the supervisor */
};

struct sl_stop_count {
  int count;
  enum sl_stop_source source; /* of the last request that counted */
  int64_t at_ns;              /* monotonic, of the same */
};

/* Notes one signal.  Returns true if it is a new request: count has then
 * grown.  Async-signal-safe. */
bool sl_stop_count_add(struct sl_stop_count *stop, int signal,
                       enum sl_stop_source source, int64_t now_ns);

#endif
