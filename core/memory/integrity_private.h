/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_INTEGRITY_PRIVATE_H
#define STORLUA_CORE_MEMORY_INTEGRITY_PRIVATE_H

#include <pthread.h>

#include "core/memory/integrity.h"

enum step_kind { STEP_FILL, STEP_SWAP, STEP_CHECK, STEP_MOVE, STEP_PAUSE };

/* What all threads do at the same time. */
struct sl_integrity_step {
  enum step_kind kind;
  bool down;
  struct sl_pattern old, next; /* next: what fill and swap write */
};

enum { SL_INTEGRITY_STEPS_MAX = 20 };

/* The steps of a pattern in a pass; returns how many. */
unsigned sl_integrity_steps(enum sl_integrity_pattern pattern, int64_t pass,
                            uint64_t seed, struct sl_integrity_step *steps);

struct sl_integrity_slice {
  struct sl_arena arena;
  size_t blocks;
  int code, lock_error;
  struct sl_error error;
  int64_t verified, moved; /* bytes, of the last step */
};

struct sl_integrity_work {
  const struct sl_integrity_spec *spec;
  struct sl_integrity_result *result;
  struct sl_integrity_progress *progress;
  const struct sl_pattern_engine *engine;
  struct sl_job *job;
  struct sl_crew *crew;
  int64_t deadline_ns;
  enum sl_integrity_pattern pattern;
  int64_t pass;
  struct sl_integrity_step step;
  pthread_mutex_t lock; /* over the errors */
  struct sl_integrity_slice slices[];
};

/* Zeroed, and aligned as the tables of its step are: calloc does not do that.
 * NULL when memory is out; free() frees it. */
struct sl_integrity_work *sl_integrity_allocate(unsigned threads);

/* One step on the slice of a member. */
void sl_integrity_do(struct sl_member *member, void *data);

#endif
