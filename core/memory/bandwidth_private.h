/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_BANDWIDTH_PRIVATE_H
#define STORLUA_CORE_MEMORY_BANDWIDTH_PRIVATE_H

#include "core/memory/bandwidth.h"

/* The buffers of one thread. */
struct sl_buffers {
  struct sl_arena arena;
  unsigned char *dst, *a, *b; /* what the op does not use is that it uses */
  size_t bytes;
  uint64_t sums[2]; /* of `a`: of its 64-bit and of its 32-bit words, one of
                       four for rd, as the op reads them */
  int code;
  struct sl_error error;
  /* Of the last task: */
  uint64_t sum;      /* what the kernel returned, all passes together */
  int64_t passes;    /* whole ones */
  int64_t wrong_at;  /* -1: right */
  uint64_t expected, found;
};

/* How many bytes of arena the buffers of one thread take. */
size_t sl_buffers_arena_bytes(size_t bytes, enum sl_memory_op op);

/* Lays out and fills dst, a and b.  On the thread that will use them. */
int sl_buffers_fill(struct sl_buffers *buffers, enum sl_memory_op op,
                    unsigned thread, const atomic_bool *stop);

/* Destroys one word in each 4 KiB of dst, so that a kernel that leaves out a
 * part is found. */
void sl_buffers_poison(struct sl_buffers *buffers);

/* Compares dst with what `op` leaves there; sets wrong_at and so on. */
void sl_buffers_verify(struct sl_buffers *buffers, enum sl_memory_op op,
                       uint64_t value, const atomic_bool *stop);

/* What one pass of `op` returns. */
uint64_t sl_buffers_read_sum(const struct sl_buffers *buffers,
                             enum sl_memory_op op);

/* Sum of the 64-bit words of dst. */
uint64_t sl_buffers_checksum(const struct sl_buffers *buffers);

/* One run: bandwidth.c prepares it, bandwidth_measure.c times. */
struct sl_bandwidth_work {
  const struct sl_bandwidth_spec *spec;
  struct sl_bandwidth_result *result;
  struct sl_bandwidth_progress *progress;
  struct sl_job *job;
  struct sl_crew *crew;
  int64_t deadline_ns;
  const struct sl_kernel *kernel;
  int64_t passes; /* of the next sample */
  uint64_t value;
  struct sl_buffers buffers[];
};

/* Tries all kernels and sets the winner, then takes the samples.  0, or
 * -ECANCELED or -ETIMEDOUT. */
int sl_bandwidth_choose(struct sl_bandwidth_work *run);
int sl_bandwidth_measure(struct sl_bandwidth_work *run);

void sl_bandwidth_phase(struct sl_bandwidth_work *run, const char *name);

#endif
