/* SPDX-License-Identifier: MIT */
#include "core/base/buffer.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/quantity.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM ((size_t)1 << 20)

/* Maps `size` bytes at a multiple of `align`, which is a multiple of the page
 * size: maps more and gives the ends back. */
static unsigned char *map_aligned(size_t size, size_t align, size_t page) {
  size_t total = size + align - page;
  if (total < size) return NULL;
  unsigned char *start = mmap(NULL, total, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  size_t before = (align - (uintptr_t)start % align) % align;
  size_t after = total - before - size;
  if (before) munmap(start, before);
  if (after) munmap(start + before + size, after);
  return start + before;
}

int sl_buffer_init(struct sl_buffer *buffer, size_t size, struct sl_error *e) {
  *buffer = (struct sl_buffer){0};
  if (size == 0 || size > SIZE_MAX / 2)
    return sl_error_set(e, -EINVAL, "buffer", NULL, -1);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t align = size >= HUGE_FROM && page < HUGE_PAGE ? HUGE_PAGE : page;
  size_t mapped = (size + align - 1) / align * align;
  unsigned char *data = map_aligned(mapped, align, page);
  if (!data) {
    char text[32];
    sl_error_set(e, -ENOMEM, "mmap", NULL, -1);
    sl_error_hint(e, "%s of memory for buffers are not available",
                  sl_size_text((int64_t)size, text, sizeof text));
    return -ENOMEM;
  }
  if (align == HUGE_PAGE)
    buffer->huge = madvise(data, mapped, MADV_HUGEPAGE) == 0;
  volatile unsigned char *touch = data;
  for (size_t i = 0; i < mapped; i += page)
    touch[i] = 0;
  buffer->data = data;
  buffer->size = size;
  buffer->mapped = mapped;
  return 0;
}

void sl_buffer_release(struct sl_buffer *buffer) {
  if (buffer->data) munmap(buffer->data, buffer->mapped);
  *buffer = (struct sl_buffer){0};
}
