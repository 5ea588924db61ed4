/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_INTEGRITY_H
#define STORLUA_CORE_MEMORY_INTEGRITY_H

/* Does memory keep what is written into it?  Patterns over a share of the free
 * memory, by several threads, each on a slice of its own, for a time or a
 * number of passes.  Where it can, a pass compares the old contents and writes
 * the next in one go, which is as fast as a copy. */

#include <stdatomic.h>

#include "core/memory/arena.h"
#include "core/memory/crew.h"
#include "core/memory/pattern.h"

enum sl_integrity_pattern {
  SL_INTEGRITY_WALKING,      /* one bit of 64 set, or cleared, shifting */
  SL_INTEGRITY_INVERSIONS,   /* 0 and 1, 5 and A: inverted up, then down */
  SL_INTEGRITY_RANDOM,       /* random, its complement, another random */
  SL_INTEGRITY_ADDRESS,      /* each word its own address, its complement */
  SL_INTEGRITY_CHECKERBOARD, /* A and 5 in turn, swapped */
  SL_INTEGRITY_BLOCK_MOVE,   /* random, copied half onto half */
  SL_INTEGRITY_FADE,         /* all 1, a pause, all 0, a pause */
  SL_INTEGRITY_PATTERNS
};

const char *sl_integrity_pattern_name(enum sl_integrity_pattern pattern);

enum { SL_INTEGRITY_ERRORS_MAX = 100, SL_INTEGRITY_PLANTS_MAX = 16 };

/* A flip that the test makes itself after the pattern was written, to prove
 * that it finds one. */
struct sl_integrity_plant {
  enum sl_integrity_pattern pattern;
  int64_t offset; /* of the word in the memory of the first thread */
  uint64_t bits;
};

struct sl_integrity_spec {
  int64_t bytes; /* of all threads together; rounded down to whole MiB each */
  unsigned threads, cpu_count;
  int cpus[SL_CREW_MAX];
  bool pin, lock; /* lock: mlock where it is permitted */
  enum sl_pages pages;
  unsigned patterns;   /* bit for each; 0: all */
  int64_t passes;      /* 0: until the time is up */
  int64_t first_pass;  /* number of the first one: patterns change with it */
  int64_t duration_ns; /* 0: until the passes are done */
  int64_t fade_ns;     /* each pause of fade */
  uint64_t seed;
  char engine[16]; /* "": the fastest */
  struct sl_integrity_plant plants[SL_INTEGRITY_PLANTS_MAX];
  unsigned plant_count;
};

struct sl_integrity_error {
  enum sl_integrity_pattern pattern;
  int64_t pass; /* from first_pass on */
  unsigned thread;
  int64_t offset;             /* in the thread's slice */
  uint64_t address, physical; /* physical: 0 when not to be known */
  uint64_t expected, found, reread, after_flush;
  bool repeats; /* still wrong when read again past the cache */
};

enum sl_integrity_end {
  SL_INTEGRITY_COMPLETE,
  SL_INTEGRITY_CANCELLED,
  SL_INTEGRITY_MEMORY_SHORT /* given back before others starve */
};

struct sl_integrity_result {
  enum sl_integrity_end end;
  int64_t bytes;  /* really tested */
  int64_t passes; /* whole ones */
  int64_t errors_total;
  struct sl_integrity_error errors[SL_INTEGRITY_ERRORS_MAX];
  unsigned error_count;
  struct {
    int64_t runs, verified_bytes, moved_bytes, ns, errors;
  } patterns[SL_INTEGRITY_PATTERNS];
  bool locked;
  int lock_error; /* errno of the first mlock that was refused */
  int64_t huge_bytes;
  const char *engine;
};

struct sl_integrity_progress {
  _Atomic(const char *) pattern;
  _Atomic int64_t pass, verified_bytes, errors;
};

int sl_integrity_run(const struct sl_integrity_spec *spec, struct sl_job *job,
                     struct sl_integrity_progress *progress,
                     struct sl_integrity_result *result, struct sl_error *e);

#endif
