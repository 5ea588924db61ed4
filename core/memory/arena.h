/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_ARENA_H
#define STORLUA_CORE_MEMORY_ARENA_H

/* Memory of one thread of a memory test: with the pages asked for, touched by
 * the thread that works on it, in steps between which the limits are asked
 * again. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

enum sl_pages {
  SL_PAGES_SYSTEM, /* what the system gives */
  SL_PAGES_SMALL,  /* never huge */
  SL_PAGES_HUGE,   /* transparent huge pages where there are any */
  SL_PAGES_HUGETLB /* from the pool, or not at all */
};

struct sl_arena {
  unsigned char *data; /* aligned to 2 MiB; NULL when not mapped */
  size_t size, mapped;
};

/* Whether so much can be in the address space at all: -ENOMEM with a hint for
 * more than half of it, which only a 32-bit program reaches. */
int sl_arena_fits(int64_t bytes, struct sl_error *e);

/* Maps, without touching.  -ENOMEM with a hint where the pool of huge pages
 * has not enough. */
int sl_arena_map(struct sl_arena *arena, size_t size, enum sl_pages pages,
                 struct sl_error *e);

/* Touches all pages.  Ends early with -ECANCELED when *stop becomes true, and
 * with -ENOMEM when the memory that must stay free is reached. */
int sl_arena_touch(struct sl_arena *arena, const atomic_bool *stop,
                   struct sl_error *e);

/* How much of it lies in huge pages now; -1 when the kernel does not tell. */
int64_t sl_arena_huge_bytes(const struct sl_arena *arena);

void sl_arena_unmap(struct sl_arena *arena);

/* The number of the physical page frame that holds `at`, 0 when it is not to
 * be known (not root, or no /proc/self/pagemap). */
uint64_t sl_physical_frame(const void *at);

#endif
