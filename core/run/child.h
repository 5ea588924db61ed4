/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_CHILD_H
#define STORLUA_CORE_RUN_CHILD_H

/* Child processes, each the leader of a session and process group of its own,
 * so that a signal reaches also what the child has started.  Loop thread
 * only.
 *
 * libuv has no PR_SET_PDEATHSIG: what is left when the host dies is for the
 * supervisor, who learns the groups from sl_loop.on_group. */

#include <stdbool.h>
#include <stdint.h>

#include "core/run/loop.h"
#include "core/run/stream.h"

struct sl_child;

enum sl_child_stdio_kind {
  SL_CHILD_NULL,    /* /dev/null */
  SL_CHILD_PIPE,    /* a stream for the caller */
  SL_CHILD_INHERIT, /* the host's own */
  SL_CHILD_FILE,    /* `path`: read for 0, created or truncated for 1 and 2 */
  SL_CHILD_APPEND,  /* `path`: created or appended to */
  SL_CHILD_MERGE    /* for 2 only: where 1 goes */
};

struct sl_child_stdio {
  enum sl_child_stdio_kind kind;
  const char *path;
};

struct sl_child_spec {
  char **argv;      /* argv[0] is looked up in PATH; NULL-terminated */
  const char **env; /* changes to our environment: "NAME=value" sets, "NAME"
                       removes; NULL-terminated, or NULL */
  const char *cwd;  /* NULL: ours */
  struct sl_child_stdio stdio[3];
};

/* Starts a child.  All of `spec` is borrowed for the call.  For each
 * SL_CHILD_PIPE pipes[i] becomes a stream that the caller owns; it is NULL
 * otherwise and after a failure.  `on_change` is called when the child has
 * ended, and again when its group has gone if it goes later and was asked to;
 * not after sl_child_unref.  LC_ALL is C unless `env` says otherwise. */
int sl_child_start(struct sl_loop *loop, const struct sl_child_spec *spec,
                   void (*on_change)(struct sl_child *child, void *user),
                   void *user, struct sl_child **out,
                   struct sl_stream *pipes[3], struct sl_error *e);

int sl_child_pid(const struct sl_child *child);

/* True once it has ended; then *code and *signal_number (0: none) are set. */
bool sl_child_result(const struct sl_child *child, int64_t *code,
                     int *signal_number);

/* True once nothing is left of the group. */
bool sl_child_is_gone(const struct sl_child *child);

/* Sends a signal to the whole group.  -ESRCH when nothing is left of it. */
int sl_child_kill(struct sl_child *child, int signal_number);

/* Ends the whole group: SIGTERM now, SIGKILL after `grace_ms` (real time) to
 * what is left of it then; 0 kills at once.  Repeated calls can only shorten
 * the grace. */
void sl_child_terminate(struct sl_child *child, uint64_t grace_ms);

/* The owner's last word.  A child that still runs goes on and is reaped when
 * it ends; a terminate under way is carried through. */
void sl_child_unref(struct sl_child *child);

#endif
