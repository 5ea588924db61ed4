/* SPDX-License-Identifier: MIT */
#include "core/memory/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/quantity.h"
#include "core/memory/limits.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define TOUCH_STEP ((size_t)16 << 20)

static int refuse(int64_t size, int code, bool hugetlb, struct sl_error *e) {
  char text[32];
  sl_error_set(e, code, "mmap", NULL, -1);
  sl_size_text(size, text, sizeof text);
  if (hugetlb)
    sl_error_hint(e,
                  "the pool of huge pages has no %s: see "
                  "/proc/sys/vm/nr_hugepages, or ask for pages = \"huge\"",
                  text);
  else
    sl_error_hint(e, "%s do not fit into the address space%s", text,
                  sizeof(size_t) < 8 ? " of a 32-bit program"
                                     : ": see ulimit -v, overcommit_memory");
  return code;
}

int sl_arena_fits(int64_t bytes, struct sl_error *e) {
  return (uint64_t)bytes <= SIZE_MAX / 2 ? 0 : refuse(bytes, -ENOMEM, false, e);
}

int sl_arena_map(struct sl_arena *arena, size_t size, enum sl_pages pages,
                 struct sl_error *e) {
  *arena = (struct sl_arena){0};
  if (size == 0 || size > SIZE_MAX / 2 - 2 * HUGE_PAGE)
    return refuse((int64_t)size, -ENOMEM, false, e);
  const size_t used = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  const bool hugetlb = pages == SL_PAGES_HUGETLB;
  const size_t mapped = hugetlb ? used : used + HUGE_PAGE;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | (hugetlb ? MAP_HUGETLB : 0);
  unsigned char *start =
      mmap(NULL, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (start == MAP_FAILED) return refuse((int64_t)size, -errno, hugetlb, e);
  const size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
  if (!hugetlb) {
    if (before) munmap(start, before);
    const size_t after = mapped - before - used;
    if (after) munmap(start + before + used, after);
    start += before;
  }
  arena->data = start;
  arena->size = size;
  arena->mapped = used;
  /* Without transparent huge pages in the kernel both calls fail: then all
   * pages are small, which sl_arena_huge_bytes tells. */
  if (pages == SL_PAGES_HUGE) madvise(start, used, MADV_HUGEPAGE);
  if (pages == SL_PAGES_SMALL) madvise(start, used, MADV_NOHUGEPAGE);
  return 0;
}

int sl_arena_touch(struct sl_arena *arena, const atomic_bool *stop,
                   struct sl_error *e) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (size_t at = 0; at < arena->mapped;) {
    struct sl_memory_limits limits;
    int code = sl_memory_limits(NULL, &limits, e);
    if (code != 0) return code;
    size_t end = at + TOUCH_STEP;
    if (end > arena->mapped) end = arena->mapped;
    if (limits.room_bytes < (int64_t)(end - at)) {
      sl_error_set(e, -ENOMEM, "touch", NULL, -1);
      sl_error_hint(e,
                    "the memory became short: %" PRId64
                    " MiB are free and "
                    "%" PRId64 " MiB of them stay for others",
                    limits.free_bytes >> 20, limits.reserve_bytes >> 20);
      return -ENOMEM;
    }
    for (volatile unsigned char *touch = arena->data; at < end; at += page) {
      if (atomic_load_explicit(stop, memory_order_relaxed))
        return sl_error_set(e, -ECANCELED, "touch", NULL, -1);
      touch[at] = 1;
    }
  }
  return 0;
}

int64_t sl_arena_huge_bytes(const struct sl_arena *arena) {
  FILE *file = fopen("/proc/self/smaps", "re");
  if (!file) return -1;
  char line[256];
  bool inside = false, told = false;
  int64_t total = 0;
  const uintptr_t first = (uintptr_t)arena->data;
  while (fgets(line, sizeof line, file)) {
    uintptr_t from, to;
    int64_t kib;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
      inside = from < first + arena->mapped && to > first;
    } else if (inside &&
               (sscanf(line, "AnonHugePages: %" SCNd64, &kib) == 1 ||
                sscanf(line, "Private_Hugetlb: %" SCNd64, &kib) == 1)) {
      told = true;
      total += kib * 1024;
    }
  }
  fclose(file);
  if (!told) return -1;
  /* The kernel may have joined ours with a neighbour. */
  return total < (int64_t)arena->mapped ? total : (int64_t)arena->mapped;
}

void sl_arena_unmap(struct sl_arena *arena) {
  if (arena->data) munmap(arena->data, arena->mapped);
  *arena = (struct sl_arena){0};
}

uint64_t sl_physical_frame(const void *at) {
  int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  uint64_t entry = 0;
  const uintptr_t page = (uintptr_t)at / (uintptr_t)sysconf(_SC_PAGESIZE);
  if (pread(fd, &entry, sizeof entry, (off_t)(page * sizeof entry)) !=
      (ssize_t)sizeof entry)
    entry = 0;
  close(fd);
  const uint64_t present = (uint64_t)1 << 63;
  return entry & present ? entry & (((uint64_t)1 << 55) - 1) : 0;
}
