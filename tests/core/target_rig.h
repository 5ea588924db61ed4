/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_TESTS_CORE_TARGET_RIG_H
#define STORLUA_TESTS_CORE_TARGET_RIG_H

/* One target at a time, rig_file unless the spec names another. */

#include "core/io/target.h"

#include "core/workload_rig.h"

static struct sl_target target;

static inline int open_as(struct sl_target_spec spec) {
  if (!spec.path) spec.path = rig_file;
  memset(&rig_error, 0, sizeof rig_error);
  int code = sl_target_open(&target, &spec, &rig_error);
  CHECK_EQ(code, rig_error.code);
  CHECK((target.fd >= 0) == (code == 0));
  return code;
}

/* As a workload does once it has checked everything. */
static inline int open_and_resize(struct sl_target_spec spec) {
  int code = open_as(spec);
  return code ? code : sl_target_resize(&target, &rig_error);
}

static inline void close_it(void) {
  CHECK_EQ(sl_target_close(&target, &rig_error), 0);
  CHECK_EQ(target.fd, -1);
  CHECK_EQ(sl_target_close(&target, &rig_error), 0);
}

#endif
