/* SPDX-License-Identifier: MIT */
/* bare_pread PATH RECORD_BYTES SECONDS SEED [timed]: random reads with nothing
 * around them but the choice of the offset: what the machine gives at best.
 * Every record once before any again, as the programs it is compared with do:
 * records that come back soon would be found in the processor's cache.
 * One thread, one page-aligned buffer, the clock read once in 256 reads; with
 * `timed` before and after each one, what a latency costs at least.  The path
 * "-" reads nothing: the clock alone.  Prints the number of reads and the
 * nanoseconds they took. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct {
  int fd; /* -1: nothing is read */
  bool timed;
  void *data;
  size_t record;
  int64_t slowest_ns;
} run = {.fd = -1};

/* A permutation of 0 .. mask, mask + 1 being a power of two. */
static uint64_t scatter(uint64_t i, uint64_t mask) {
  i = i * UINT64_C(0x9e3779b97f4a7c15) & mask;
  i ^= i >> 8;
  i = i * UINT64_C(0xd6e8feb86659fd93) & mask;
  return i ^ i >> 7;
}

static bool read_one(uint64_t record_number) {
  int64_t begin = run.timed ? now_ns() : 0;
  if (run.fd >= 0 &&
      pread(run.fd, run.data, run.record,
            (off_t)(record_number * run.record)) != (ssize_t)run.record) {
    return false;
  }
  int64_t ns = run.timed ? now_ns() - begin : 0;
  if (ns > run.slowest_ns) run.slowest_ns = ns;
  return true;
}

int main(int argc, char **argv) {
  if (argc < 5 || argc > 6) {
    fprintf(stderr,
            "usage: bare_pread PATH RECORD_BYTES SECONDS SEED [timed]\n");
    return 2;
  }
  run.record = strtoul(argv[2], NULL, 10);
  int64_t limit = (int64_t)(strtod(argv[3], NULL) * 1e9);
  uint64_t next = strtoull(argv[4], NULL, 10) * 7919;
  run.timed = argc == 6;
  struct stat st = {.st_size = (off_t)1 << 30};
  if (strcmp(argv[1], "-") != 0) {
    run.fd = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (run.fd < 0 || fstat(run.fd, &st) != 0) {
      perror(argv[1]);
      return 1;
    }
  }
  if (run.record == 0 || (uint64_t)st.st_size < run.record ||
      posix_memalign(&run.data, 4096, run.record)) {
    fprintf(stderr, "bare_pread: no record of %s bytes\n", argv[2]);
    return 1;
  }
  uint64_t records = (uint64_t)st.st_size / run.record, reads = 0, mask = 1;
  while (mask < records - 1)
    mask = mask << 1 | 1;
  int64_t begin = now_ns(), now = begin;
  while (now - begin < limit) {
    for (int i = 0; i < 256; i++) {
      uint64_t at;
      do {
        at = scatter(next++, mask);
      } while (at >= records);
      if (!read_one(at)) {
        perror("pread");
        return 1;
      }
    }
    reads += 256;
    now = now_ns();
  }
  printf("%" PRIu64 " %" PRId64 "\n", reads, now - begin);
  if (run.slowest_ns < 0) return 1; /* it is used: the clocks are read */
  free(run.data);
  if (run.fd >= 0) close(run.fd);
  return 0;
}
