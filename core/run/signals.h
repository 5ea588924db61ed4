/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_SIGNALS_H
#define STORLUA_CORE_RUN_SIGNALS_H

/* SIGINT, SIGTERM and SIGHUP belong to the host.  The first asks for an
 * orderly end; the second ends both processes at once, from the signal
 * handler, so it also works while the loop is blocked.  SIGHUP stays ignored
 * where it was inherited so; SIGPIPE is ignored.
 *
 * State is per process, as signals are. */

#include "core/run/loop.h"

struct sl_signals_listener {
  /* The first request to stop, on the loop's thread. */
  void (*stop)(int signal, void *user);
  /* The supervisor interrupts: in a signal handler on the loop's thread, so
   * only what is async-signal-safe.  May be NULL. */
  void (*interrupt)(void *user);
  void *user;
};

/* Installs the handlers.  The calling thread is the loop's. */
int sl_signals_start(struct sl_loop *loop,
                     const struct sl_signals_listener *listener,
                     struct sl_error *e);

/* No more calls of the listener; before sl_loop_close.  A second request
 * still ends the process. */
void sl_signals_end(void);

/* The signal that asked to stop, or 0.  Any thread. */
int sl_signals_stopped_by(void);

/* Interrupts the loop's thread of a host with a call of listener->interrupt;
 * after sl_signals_start there. */
void sl_signals_interrupt(pid_t host);

/* "SIGINT"; "signal" for a number without a name.  Static. */
const char *sl_signal_name(int number);

#endif
