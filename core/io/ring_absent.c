/* SPDX-License-Identifier: MIT */
/* A build without liburing opens no ring, so nothing else is ever called. */
#include "core/io/ring.h"

#ifndef STORLUA_HAVE_LIBURING

#include <errno.h>
#include <stdlib.h>

#include "core/io/engine.h"

int sl_ring_open(struct sl_ring **ring, const struct sl_ring_spec *spec,
                 struct sl_error *e) {
  (void)ring;
  (void)spec;
  return sl_engine_probe("io_uring", e);
}

int sl_ring_fd(const struct sl_ring *ring) {
  (void)ring;
  abort();
}

const struct sl_target *sl_ring_target(const struct sl_ring *ring) {
  (void)ring;
  abort();
}

unsigned sl_ring_slots(const struct sl_ring *ring) {
  (void)ring;
  abort();
}

size_t sl_ring_record_bytes(const struct sl_ring *ring) {
  (void)ring;
  abort();
}

bool sl_ring_is_registered(const struct sl_ring *ring) {
  (void)ring;
  abort();
}

unsigned char *sl_ring_data(struct sl_ring *ring, unsigned slot) {
  (void)ring;
  (void)slot;
  abort();
}

int sl_ring_queue(struct sl_ring *ring, unsigned slot, enum sl_ring_op op,
                  uint64_t bytes, uint64_t offset, void *owner) {
  (void)ring;
  (void)slot;
  (void)op;
  (void)bytes;
  (void)offset;
  (void)owner;
  abort();
}

int sl_ring_turn(struct sl_ring *ring, struct sl_ring_done *done,
                 unsigned max) {
  (void)ring;
  (void)done;
  (void)max;
  abort();
}

unsigned sl_ring_cancel(struct sl_ring *ring, const void *owner) {
  (void)ring;
  (void)owner;
  abort();
}

struct sl_ring_stuck sl_ring_stuck(const struct sl_ring *ring) {
  (void)ring;
  abort();
}

unsigned sl_ring_abandon(struct sl_ring *ring, struct sl_ring_done *done,
                         unsigned max) {
  (void)ring;
  (void)done;
  (void)max;
  abort();
}

unsigned sl_ring_in_flight(const struct sl_ring *ring) {
  (void)ring;
  abort();
}

bool sl_ring_is_held_up(const struct sl_ring *ring) {
  (void)ring;
  abort();
}

int64_t sl_ring_result(const struct sl_ring *ring, unsigned slot,
                       struct sl_error *e) {
  (void)ring;
  (void)slot;
  (void)e;
  abort();
}

const struct sl_histogram *sl_ring_latency(const struct sl_ring *ring,
                                           enum sl_ring_op op) {
  (void)ring;
  (void)op;
  abort();
}

int sl_ring_close(struct sl_ring *ring, struct sl_error *e) {
  (void)ring;
  (void)e;
  abort();
}

#endif
