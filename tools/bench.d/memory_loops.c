/* SPDX-License-Identifier: MIT */
/* Loops over memory as a compiler makes them: STREAM's four, a sum, a store,
 * and the C library's memcpy and memset.
 *
 * memory_loops MIB PASSES: for each "name MB/s", the best pass, 10^6 bytes
 * that the loop reads and writes; the first pass is left out. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double *a, *b, *c;
static size_t count;
static volatile double sink;

static void copy(void) {
  for (size_t i = 0; i < count; i++)
    c[i] = a[i];
}

static void scale(void) {
  for (size_t i = 0; i < count; i++)
    b[i] = 3.0 * c[i];
}

static void add(void) {
  for (size_t i = 0; i < count; i++)
    c[i] = a[i] + b[i];
}

static void triad(void) {
  for (size_t i = 0; i < count; i++)
    a[i] = b[i] + 3.0 * c[i];
}

/* Whole numbers: a compiler may not reorder sums of doubles. */
static void sum(void) {
  const uint64_t *words = (const uint64_t *)(const void *)a;
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++)
    total += words[i];
  sink = (double)total;
}

static void store(void) {
  for (size_t i = 0; i < count; i++)
    c[i] = 1.5;
}

static void libc_copy(void) { memcpy(c, a, count * sizeof *a); }
static void libc_set(void) { memset(c, 0x5a, count * sizeof *c); }

static double *map(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) exit(EXIT_FAILURE);
  madvise(at, bytes, MADV_HUGEPAGE);
  return at;
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static const struct {
  const char *name;
  void (*run)(void);
  unsigned times;
} loops[] = {{"copy", copy, 2},        {"scale", scale, 2},
             {"add", add, 3},          {"triad", triad, 3},
             {"sum", sum, 1},          {"store", store, 1},
             {"memcpy", libc_copy, 2}, {"memset", libc_set, 1}};

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  count = (size_t)strtoul(argv[1], NULL, 10) * 1048576 / sizeof *a;
  const long passes = strtol(argv[2], NULL, 10);
  a = map(count * sizeof *a);
  b = map(count * sizeof *b);
  c = map(count * sizeof *c);
  for (size_t i = 0; i < count; i++) {
    a[i] = 1.0 + (double)(i % 1000);
    b[i] = 2.0;
    c[i] = 0.5;
  }
  for (size_t k = 0; k < sizeof loops / sizeof loops[0]; k++) {
    int64_t best = INT64_MAX;
    for (long pass = 0; pass <= passes; pass++) {
      const int64_t begin = now_ns();
      loops[k].run();
      const int64_t ns = now_ns() - begin;
      if (pass > 0 && ns < best) best = ns;
    }
    printf("%s %.1f\n", loops[k].name,
           (double)(count * sizeof *a * loops[k].times) * 1e3 / (double)best);
  }
  return EXIT_SUCCESS;
}
