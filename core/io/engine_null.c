/* SPDX-License-Identifier: MIT */
/* Moves nothing and says that all of it was moved: what is left is the cost
 * of the tool itself. */
#include "core/io/engine_private.h"

static int null_open(struct sl_engine_state **state,
                     const struct sl_engine_setup *setup, struct sl_error *e) {
  (void)setup, (void)e;
  *state = NULL;
  return 0;
}

static int null_close(struct sl_engine_state *state) {
  (void)state;
  return 0;
}

static ssize_t null_transfer(struct sl_engine_state *state, enum sl_op op,
                             void *data, size_t bytes, uint64_t offset) {
  (void)state, (void)op, (void)data, (void)offset;
  return (ssize_t)bytes;
}

static int null_flush(struct sl_engine_state *state) {
  (void)state;
  return 0;
}

const struct sl_engine sl_engine_null = {
    .name = "null",
    .needs_target = false,
    .queue_max = 1,
    .open = null_open,
    .close = null_close,
    .transfer = null_transfer,
    .flush = null_flush,
};
