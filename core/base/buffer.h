/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_BUFFER_H
#define STORLUA_CORE_BASE_BUFFER_H

/* I/O memory of one job: page aligned, from huge pages where the kernel gives
 * them.  A 1 MiB direct transfer from 4 KiB pages has 256 segments and is
 * split by queues that take fewer; from one huge page it is not. */

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct sl_buffer {
  unsigned char *data; /* NULL when not allocated */
  size_t size;         /* as asked for */
  size_t mapped;       /* rounded up; private */
  bool huge;           /* madvise(MADV_HUGEPAGE) was accepted */
};

/* Maps and touches `size` bytes (1 .. SIZE_MAX/2), so no page fault falls
 * into a timed part.  Asks for huge pages from 1 MiB on.  -ENOMEM with a hint
 * that names the size when the memory is not there. */
int sl_buffer_init(struct sl_buffer *buffer, size_t size, struct sl_error *e);

/* Unmaps; safe on a zeroed or already released buffer. */
void sl_buffer_release(struct sl_buffer *buffer);

#endif
