/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_SUPERVISOR_H
#define STORLUA_CORE_RUN_SUPERVISOR_H

/* `storlua` is two processes.  The one the shell started is the supervisor:
 * it has no threads and touches no device, so it can always leave.  Its child
 * is the host, which does everything.
 *
 * The host reports its exit code over a pipe and the supervisor exits with it,
 * also when the host cannot: a thread inside a dead device keeps a process as
 * a zombie until the device answers.  Both stay in one process group, so the
 * terminal and job control work as with one process; signals that were sent
 * to the supervisor alone are passed on.  The supervisor also watches that the
 * host's loop comes back to waiting (core/run/stall.h).  If the host dies, the
 * supervisor says so and ends the process groups the host had started.  If the
 * supervisor dies, the host gets SIGTERM.
 *
 * All functions below sl_supervisor_start run in the host; without a
 * supervisor (tests) they only keep the table of groups.  State is per
 * process, since a process has one parent. */

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/error.h"

/* Forks; call before any thread or loop exists.  Returns 0 in the host, with
 * SIGINT, SIGTERM and SIGHUP blocked until sl_signals_start.  Does not return
 * in the supervisor.  Returns -errno, in one process, if it cannot fork. */
int sl_supervisor_start(struct sl_error *e);

/* The supervisor's process id, 0 without one. */
pid_t sl_supervisor_pid(void);

/* A process group that must not outlive the host.  Loop thread. */
void sl_supervisor_add_group(pid_t group);
void sl_supervisor_remove_group(pid_t group);

/* Tells the exit code (0-255).  The supervisor now waits for the host to end,
 * for 5 s; or, when a job was abandoned, for sl_supervisor_leave, for 1 s. */
void sl_supervisor_finish(int code, bool abandoned);

/* The host has nothing more to do.  Follow with _exit. */
void sl_supervisor_leave(void);

/* The host has taken the request to stop and unwinds, however long that may
 * be.  One that says nothing of the kind for a minute sits in a system call, or
 * in C, on its loop thread: it is ended as by a second request. */
void sl_supervisor_heard(void);

/* Kills all groups and ends both processes with 128 + `signal`, now and
 * without clean-ups.  Async-signal-safe. */
_Noreturn void sl_supervisor_give_up(int signal);

#endif
