/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_RING_PRIVATE_H
#define STORLUA_CORE_IO_RING_PRIVATE_H

/* What ring.c (operations) and ring_end.c (how they and the ring are ended)
 * share. */

#include <liburing.h>
#include <sys/uio.h>

#include "core/base/buffer.h"
#include "core/io/ring.h"

#define SL_RING_CANCEL UINT64_MAX /* user_data of what asks for a cancel */

struct sl_ring_slot {
  void *owner;
  uint64_t offset;
  int64_t started_ns;
  struct iovec vector; /* for the kernel where operations take one */
  int32_t result;
  enum sl_ring_op op;
  bool is_busy;
};

struct sl_ring {
  struct io_uring uring;
  struct sl_target target;
  struct sl_buffer arena;
  size_t record_bytes;
  unsigned slots;
  unsigned in_flight;
  unsigned queued; /* slots in `line` */
  bool writes;
  bool has_memory;  /* registered */
  bool has_vectors; /* operations take one each */
  uint8_t codes[SL_RING_OPS];
  bool has_ring_fd; /* looked up whether it can be registered */
  int entry_fd;
  unsigned char entry_flags;
  unsigned *line;             /* slots that no system call has taken yet */
  struct sl_ring_slot *table; /* 2 * slots */
  struct sl_ring *next;       /* of those left to the kernel */
  struct sl_histogram latency[SL_RING_OPS];
};

const char *sl_ring_op_name(enum sl_ring_op op);

/* Hands over what is in line.  The clock is read once for all that go
 * together. */
int sl_ring_submit(struct sl_ring *ring);

void sl_ring_free(struct sl_ring *ring);

#endif
