/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_RING_H
#define STORLUA_CORE_IO_RING_H

/* An io_uring for I/O that is decided one operation at a time, by the event
 * loop's own thread: a slot of memory, an offset, a completion.
 *
 * Slots 0 .. slots-1 have record_bytes of memory each, in one arena; slots
 * `slots` .. 2*slots-1 have none and are for flushes.  A slot has one
 * operation under way at most and belongs to the kernel until sl_ring_turn
 * has given it back.
 *
 * An operation is timed from the system call that hands it over to the call
 * of sl_ring_turn that finds it done; what shares a turn shares the clock
 * reads.
 *
 * Open and close may block and may run on another thread; all else is of one
 * thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/histogram.h"
#include "core/io/target.h"

enum sl_ring_op {
  SL_RING_READ,
  SL_RING_WRITE,
  SL_RING_FSYNC, /* of what had completed before */
  SL_RING_OPS
};

enum { SL_RING_SLOTS_MAX = 4096 };

struct sl_ring;

struct sl_ring_spec {
  struct sl_target_spec target;
  unsigned slots;      /* 1 .. SL_RING_SLOTS_MAX */
  size_t record_bytes; /* of a slot; a multiple of the alignment if direct */
};

/* -ENOSYS, -EPERM … with a hint that names the engines that are there when
 * the kernel has no io_uring for us.  A block device to be written needs a
 * grant of the safety gate, as with every target. */
int sl_ring_open(struct sl_ring **ring, const struct sl_ring_spec *spec,
                 struct sl_error *e);

/* Readable (poll) when an operation is done. */
int sl_ring_fd(const struct sl_ring *ring);

const struct sl_target *sl_ring_target(const struct sl_ring *ring);
unsigned sl_ring_slots(const struct sl_ring *ring);
size_t sl_ring_record_bytes(const struct sl_ring *ring);
/* The kernel has the arena's pages pinned: nothing to look up per operation. */
bool sl_ring_is_registered(const struct sl_ring *ring);

/* Memory of a slot; NULL while it is the kernel's. */
unsigned char *sl_ring_data(struct sl_ring *ring, unsigned slot);

/* Puts an operation in line; the next turn hands it over.  -EBUSY while the
 * slot has one under way, -EBADF for a write to what was opened for reading,
 * -EINVAL for bytes or an offset out of range. */
int sl_ring_queue(struct sl_ring *ring, unsigned slot, enum sl_ring_op op,
                  uint64_t bytes, uint64_t offset);

/* Hands over what is in line and stores up to `max` slots that are done.
 * Never waits.  Returns how many, or a negative errno when the kernel refuses
 * the ring itself. */
int sl_ring_turn(struct sl_ring *ring, unsigned *done, unsigned max);

/* In line or under way. */
unsigned sl_ring_in_flight(const struct sl_ring *ring);
/* In line still: the kernel was short of memory and must be asked again. */
bool sl_ring_is_held_up(const struct sl_ring *ring);

/* Of the slot's last operation: bytes moved (0 at the end of the target), or
 * a negative errno, with *e filled. */
int64_t sl_ring_result(const struct sl_ring *ring, unsigned slot,
                       struct sl_error *e);

const struct sl_histogram *sl_ring_latency(const struct sl_ring *ring,
                                           enum sl_ring_op op);

/* Closes and frees.  With operations under way the arena is left behind: the
 * kernel may still write to it.  Reports a failing close of the target. */
int sl_ring_close(struct sl_ring *ring, struct sl_error *e);

#endif
