/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_SUPERVISOR_PRIVATE_H
#define STORLUA_CORE_RUN_SUPERVISOR_PRIVATE_H

/* What the two processes share: messages on the pipe (host to supervisor)
 * and the table of process groups, of which each keeps its own copy. */

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

enum sl_message_kind {
  SL_MESSAGE_ADD_GROUP,
  SL_MESSAGE_REMOVE_GROUP,
  SL_MESSAGE_FINISH,    /* value: exit code; the host ends by itself */
  SL_MESSAGE_ABANDONED, /* value: exit code; the host may never end */
  SL_MESSAGE_GIVE_UP,   /* value: signal */
  SL_MESSAGE_HEARD      /* the host has taken the request to stop */
};

struct sl_message {
  int32_t kind, value;
};

void sl_groups_add(pid_t group);
void sl_groups_remove(pid_t group);
/* Signals every group (0 only asks).  Returns how many there still are.
 * Async-signal-safe. */
unsigned sl_groups_kill(int signal);

/* The supervisor's whole life. */
_Noreturn void sl_supervise(pid_t host, int pipe_fd, const sigset_t *watched);

#endif
