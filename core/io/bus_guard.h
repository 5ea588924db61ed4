/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_BUS_GUARD_H
#define STORLUA_CORE_IO_BUS_GUARD_H

/* Copies to and from a mapped file that survive SIGBUS.
 *
 * The kernel raises SIGBUS in the thread that touches a page it cannot give:
 * the disk is full, the file was cut, the medium failed.  While a guard is
 * open, a fault inside sl_guarded_copy of a thread ends that copy; any other
 * SIGBUS goes to whoever handled it before.
 *
 * A signal has one handler in a process, so this is one of the few places
 * with state outside of a struct: the handler that was there before, and how
 * many guards are open. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct sl_bus_guard {
  sigset_t mask_before; /* of the thread */
};

/* Opens a guard for the calling thread, which closes it too.  SIGBUS is
 * unblocked in it: a blocked one would end the process. */
void sl_bus_guard_open(struct sl_bus_guard *guard);
void sl_bus_guard_close(struct sl_bus_guard *guard);

/* memcpy.  Returns 0, or the si_code of the fault that ended it: then an
 * unknown part has been copied. */
int sl_guarded_copy(void *to, const void *from, size_t bytes);

#endif
