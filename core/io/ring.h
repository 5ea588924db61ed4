/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_RING_H
#define STORLUA_CORE_IO_RING_H

/* An io_uring for I/O that is decided one operation at a time, by the event
 * loop's own thread: a slot of memory, an offset, a completion.
 *
 * Slots 0 .. slots-1 have record_bytes of memory each, in one arena; slots
 * `slots` .. 2*slots-1 have none and are for flushes.  A slot has one
 * operation under way at most and belongs to the kernel until sl_ring_turn
 * has given it back, also when the operation was cancelled.
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

/* Puts an operation in line; the next turn hands it over.  A flush takes a
 * free slot of its own.  -EBUSY while the slot has one under way, -EBADF for a
 * write to what was opened for reading, -EINVAL for a slot, bytes or an offset
 * out of range. */
int sl_ring_queue(struct sl_ring *ring, unsigned slot, enum sl_ring_op op,
                  uint64_t bytes, uint64_t offset, void *owner);

struct sl_ring_done {
  void *owner; /* NULL: nobody waits for it any more */
  unsigned slot;
  int32_t result; /* bytes, or a negative errno: see sl_ring_result */
};

/* Hands over what is in line and stores up to `max` operations that are done.
 * Never waits.  Returns how many, or a negative errno when the kernel refuses
 * the ring itself. */
int sl_ring_turn(struct sl_ring *ring, struct sl_ring_done *done, unsigned max);

/* Takes the owner's operations from it and asks the kernel to cancel them; it
 * may not be able to.  With NULL: asks so for all and leaves the owners.
 * Returns how many operations. */
unsigned sl_ring_cancel(struct sl_ring *ring, const void *owner);

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

struct sl_ring_stuck {
  const char *what; /* NULL: nothing is under way */
  int64_t offset;   /* -1 for a flush */
  int64_t since_ns; /* monotonic */
};
/* The oldest operation under way. */
struct sl_ring_stuck sl_ring_stuck(const struct sl_ring *ring);

/* Closes and frees; nothing may be under way.  Reports a failing close of the
 * target. */
int sl_ring_close(struct sl_ring *ring, struct sl_error *e);

/* Leaves a ring with operations under way to the kernel, which may still write
 * to the arena: nothing is closed or freed, and the process may not be able to
 * end (sl_job_abandoned_running).  Stores the up to `max` operations that had
 * an owner and returns how many. */
unsigned sl_ring_abandon(struct sl_ring *ring, struct sl_ring_done *done,
                         unsigned max);

#endif
