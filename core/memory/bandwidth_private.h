/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_BANDWIDTH_PRIVATE_H
#define STORLUA_CORE_MEMORY_BANDWIDTH_PRIVATE_H

#include "core/memory/bandwidth.h"

/* The buffers of one thread. */
struct sl_buffers {
  struct sl_arena arena;
  unsigned char *dst, *a, *b; /* what the op does not use is that it uses */
  size_t bytes;
  size_t chunk, chunks; /* of `bytes`: what one call works on, how many */
  uint64_t *sums;       /* what a read of each chunk returns */
  int code;
  struct sl_error error;
  /* Of the last task: */
  uint64_t sum, expected_sum; /* of reads */
  int64_t done_bytes;
  int64_t wrong_at; /* -1: right */
  uint64_t expected, found;
};

/* How many bytes of arena the buffers of one thread take. */
int64_t sl_buffers_arena_bytes(int64_t bytes, enum sl_memory_op op);

/* Lays out and fills dst, a and b.  On the thread that will use them. */
int sl_buffers_fill(struct sl_buffers *buffers, enum sl_memory_op op,
                    unsigned thread, const atomic_bool *stop);

/* Destroys a chunk of dst, so that a kernel that leaves out a part is found:
 * one word in each `step` bytes, a power of two of 8 to 4096. */
void sl_buffers_poison(struct sl_buffers *buffers, size_t chunk, size_t step);

/* Compares a chunk of dst with what `op` leaves there; sets wrong_at and so
 * on. */
void sl_buffers_verify(struct sl_buffers *buffers, enum sl_memory_op op,
                       uint64_t value, size_t chunk);

/* Sum of the 64-bit words of dst; 0 when it is stopped. */
uint64_t sl_buffers_checksum(const struct sl_buffers *buffers,
                             const atomic_bool *stop);

void sl_buffers_release(struct sl_buffers *buffers);

/* One run: bandwidth.c prepares it, bandwidth_measure.c times. */
struct sl_bandwidth_work {
  const struct sl_bandwidth_spec *spec;
  struct sl_bandwidth_result *result;
  struct sl_bandwidth_progress *progress;
  struct sl_job *job;
  struct sl_crew *crew;
  int64_t deadline_ns;
  const struct sl_kernel *kernel;
  int64_t visits; /* of chunks, in the next sample */
  size_t first;   /* where it begins; each goes on where the last one ended,
                     so a large buffer is never half in the cache */
  size_t poison_step;
  size_t poisoned;       /* `first` when dst was poisoned; since then: */
  int64_t gone, reached; /* chunks to `first`, to the last one written */
  uint64_t value;
  struct sl_buffers buffers[];
};

/* Tries all kernels and sets the winner, then takes the samples.  0, or
 * -ECANCELED or -ETIMEDOUT. */
int sl_bandwidth_choose(struct sl_bandwidth_work *run);
int sl_bandwidth_measure(struct sl_bandwidth_work *run);

void sl_bandwidth_phase(struct sl_bandwidth_work *run, const char *name);

#endif
