/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_PULSE_H
#define STORLUA_CORE_RUN_PULSE_H

/* What the supervisor reads of the host without the host's help: memory that
 * both share.  Without a supervisor (tests) it is memory of the process. */

#include <stdatomic.h>
#include <stdint.h>

struct sl_pulse {
  _Atomic int64_t turn_ns;  /* monotonic start of the loop's turn now running,
                               0 while the loop waits */
  _Atomic int64_t limit_ns; /* a longer turn is a stall; 0: nobody minds */
  atomic_int stopped_by;    /* the signal that asked to stop, or 0 */
};

/* Any thread, async-signal-safe. */
struct sl_pulse *sl_pulse(void);

/* Before the fork: shares it with the child.  Returns 0 or -errno. */
int sl_pulse_share(void);

#endif
