/* SPDX-License-Identifier: MIT */
/* bare_pread PATH RECORD_BYTES SECONDS SEED: random reads with nothing around
 * them but the choice of the offset: what the machine gives at best. One
 * thread, one page-aligned buffer, the clock read once in 256 reads. Prints
 * the number of reads and the nanoseconds they took. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: bare_pread PATH RECORD_BYTES SECONDS SEED\n");
    return 2;
  }
  size_t record = strtoul(argv[2], NULL, 10);
  int64_t limit = (int64_t)(strtod(argv[3], NULL) * 1e9);
  uint64_t x = strtoull(argv[4], NULL, 10) * 2 + 1;
  int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
  struct stat st;
  void *data = NULL;
  if (fd < 0 || fstat(fd, &st) != 0 || record == 0 ||
      (uint64_t)st.st_size < record || posix_memalign(&data, 4096, record)) {
    perror(argv[1]);
    return 1;
  }
  uint64_t records = (uint64_t)st.st_size / record, reads = 0;
  int64_t begin = now_ns(), now = begin;
  while (now - begin < limit) {
    for (int i = 0; i < 256; i++) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      uint64_t at = ((x >> 32) * records) >> 32;
      if (pread(fd, data, record, (off_t)(at * record)) != (ssize_t)record) {
        perror("pread");
        return 1;
      }
    }
    reads += 256;
    now = now_ns();
  }
  printf("%" PRIu64 " %" PRId64 "\n", reads, now - begin);
  free(data);
  close(fd);
  return 0;
}
