/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_CHILD_PRIVATE_H
#define STORLUA_CORE_RUN_CHILD_PRIVATE_H

#include "core/run/child.h"

/* Our environment with `changes` applied and LC_ALL=C by default.  The array
 * is from malloc, its strings are borrowed.  NULL when memory is out. */
char **sl_child_environment(const char **changes);

/* Both ends of the three standard streams; -1 where there is none. */
struct sl_child_ends {
  int child[3];  /* what the child gets */
  int parent[3]; /* our end of a pipe */
  bool owned[3]; /* child[i] is to be closed after the start */
};

int sl_child_open_ends(const struct sl_child_spec *spec,
                       struct sl_child_ends *ends, struct sl_error *e);
void sl_child_close_ends(struct sl_child_ends *ends);

#endif
