/* SPDX-License-Identifier: MIT */
#include "core/base/buffer.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/test.h"

static void small(void) {
  struct sl_buffer b;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  CHECK_EQ(sl_buffer_init(&b, 100, NULL), 0);
  CHECK_EQ(b.size, 100);
  CHECK_EQ((uintptr_t)b.data % page, 0);
  CHECK(!b.huge);
  memset(b.data, 1, b.size);
  sl_buffer_release(&b);
  CHECK(b.data == NULL);
  sl_buffer_release(&b);
}

static void large_is_aligned_and_touched(void) {
  static const size_t sizes[] = {1u << 20, (1u << 20) + 512, 3u << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct sl_buffer b;
    CHECK_EQ(sl_buffer_init(&b, sizes[i], NULL), 0);
    CHECK_EQ((uintptr_t)b.data % (2u << 20), 0);
    CHECK(b.mapped >= sizes[i] && b.mapped % (2u << 20) == 0);
    unsigned char resident[1024];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK_EQ(mincore(b.data, b.mapped, resident), 0);
    for (size_t p = 0; p < b.mapped / page; p++)
      CHECK(resident[p] & 1);
    for (size_t p = 0; p < b.size; p += page)
      CHECK_EQ(b.data[p], 0);
    b.data[b.size - 1] = 1;
    sl_buffer_release(&b);
  }
}

static void impossible_sizes(void) {
  struct sl_buffer b;
  struct sl_error e;
  CHECK_EQ(sl_buffer_init(&b, 0, &e), -EINVAL);
  CHECK_EQ(sl_buffer_init(&b, SIZE_MAX, &e), -EINVAL);
  if (sizeof(size_t) < 8) return; /* half of the address space may be had */
  CHECK_EQ(sl_buffer_init(&b, SIZE_MAX / 2, &e), -ENOMEM);
  CHECK(strstr(e.hint, "iB of memory") != NULL);
  CHECK(b.data == NULL);
  sl_buffer_release(&b);
}

static void memory_limit(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  /* a sanitizer maps more than any limit for itself */
  struct rlimit before;
  struct sl_buffer b;
  struct sl_error e;
  getrlimit(RLIMIT_AS, &before);
  struct rlimit limit = {64u << 20, before.rlim_max};
  setrlimit(RLIMIT_AS, &limit);
  CHECK_EQ(sl_buffer_init(&b, 128u << 20, &e), -ENOMEM);
  CHECK_STR(e.hint, "128 MiB of memory for buffers are not available");
  setrlimit(RLIMIT_AS, &before);
#endif
}

int main(void) {
  RUN(small);
  RUN(large_is_aligned_and_touched);
  RUN(impossible_sizes);
  RUN(memory_limit);
  return TEST_DONE();
}
