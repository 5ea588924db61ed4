/* SPDX-License-Identifier: MIT */
#include "core/device/residency.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/test.h"

enum { FILE_BYTES = 3 << 20, TMPFS = 0x01021994, CACHESTAT = 451 };

static char path[64];

static int make_file(size_t bytes) {
  static unsigned char block[1 << 16];

  strcpy(path, "residency_test.XXXXXX");
  int fd = mkstemp(path);
  for (size_t done = 0; fd >= 0 && done < bytes;) {
    size_t step = bytes - done < sizeof block ? bytes - done : sizeof block;
    if (write(fd, block, step) != (ssize_t)step) abort();
    done += step;
  }
  CHECK(fd >= 0);
  return fd;
}

static bool is_ram(int fd) {
  struct statfs fs;
  return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS;
}

static void check_drop(int fd, const char *source) {
  struct sl_residency r;
  struct sl_error e;

  sl_residency_read(fd, 0, 0, &r);
  CHECK_STR(r.source, source);
  CHECK_EQ(r.resident_bytes, FILE_BYTES);
  sl_residency_read(fd, 1 << 20, 8192, &r);
  CHECK_EQ(r.resident_bytes, 8192);
  sl_residency_read(fd, 2 << 20, UINT64_MAX, &r);
  CHECK_EQ(r.resident_bytes, 1 << 20);
  CHECK_EQ(sl_residency_drop(fd, path, &e), 0);
  sl_residency_read(fd, 0, 0, &r);
  CHECK_EQ(r.resident_bytes, is_ram(fd) ? FILE_BYTES : 0);
}

static bool has_cachestat(void) {
  struct {
    uint64_t a, b;
  } range = {0, 0};
  uint64_t out[5];
  return syscall(CACHESTAT, 0, &range, out, 0u) == 0 || errno != ENOSYS;
}

/* A kernel that answers cachestat with `code`, for the calling process. */
static bool refuse_cachestat(int code) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CACHESTAT, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, filter};

  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Runs `body` in a child whose cachestat fails with `code`; its failures are
 * ours. */
static void in_child(int code, void (*body)(void)) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    if (!refuse_cachestat(code)) {
      printf("no seccomp filter here\n");
      _exit(0);
    }
    test_failures = 0;
    body();
    fflush(stdout);
    _exit(test_failures ? 1 : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK_EQ(status, 0);
}

static void drops_by_cachestat(void) {
  if (!has_cachestat()) SKIP("this kernel has no cachestat");
  int fd = make_file(FILE_BYTES);
  check_drop(fd, "cachestat");
  close(fd);
  unlink(path);
}

static void drop_by_mincore(void) {
  int fd = make_file(FILE_BYTES);
  check_drop(fd, "mincore");
  close(fd);
  unlink(path);
}

static void falls_back_to_mincore(void) {
  in_child(ENOSYS, drop_by_mincore);
  in_child(EPERM, drop_by_mincore);
  in_child(EOPNOTSUPP, drop_by_mincore);
}

static void read_sparse(void) {
  const off_t size = (off_t)5 << 30;
  struct sl_residency r;

  int fd = make_file(0);
  CHECK_EQ(ftruncate(fd, size), 0);
  CHECK_EQ(pwrite(fd, "x", 1, size - 1), 1);
  sl_residency_read(fd, 0, 0, &r);
  CHECK_STR(r.source, "mincore");
  CHECK_EQ(r.resident_bytes, sysconf(_SC_PAGESIZE));
  close(fd);
  unlink(path);
}

static void mincore_covers_large_files(void) { in_child(ENOSYS, read_sparse); }

/* mincore would claim that every page is resident. */
static void read_of_stranger(void) {
  struct sl_residency r;
  int fd = open("/etc/passwd", O_RDONLY);

  if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return;
  sl_residency_read(fd, 0, 0, &r);
  CHECK_STR(r.source, "unknown");
  CHECK_EQ(r.resident_bytes, -1);
  CHECK_EQ(r.dirty_bytes, -1);
  close(fd);
}

static void unknown_where_not_permitted(void) {
  in_child(ENOSYS, read_of_stranger);
}

static void mapped_pages_stay(void) {
  struct sl_residency r;
  int fd = make_file(FILE_BYTES);

  volatile unsigned char *map =
      mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
  for (size_t i = 0; i < FILE_BYTES; i += 4096)
    (void)map[i];
  CHECK_EQ(sl_residency_drop(fd, path, NULL), 0);
  sl_residency_read(fd, 0, 0, &r);
  CHECK_EQ(r.resident_bytes, FILE_BYTES);
  close(fd);
  unlink(path);
}

static void pipes_are_unknown_and_refused(void) {
  struct sl_residency r;
  struct sl_error e;
  int ends[2];

  CHECK_EQ(pipe(ends), 0);
  sl_residency_read(ends[0], 0, 0, &r);
  CHECK(r.resident_bytes <= 0);
  CHECK_EQ(sl_residency_drop(ends[0], "pipe", &e), -ESPIPE);
  CHECK_STR(e.op, "posix_fadvise");
  close(ends[0]);
  close(ends[1]);
}

int main(void) {
  RUN(drops_by_cachestat);
  RUN(falls_back_to_mincore);
  RUN(mincore_covers_large_files);
  RUN(unknown_where_not_permitted);
  RUN(mapped_pages_stay);
  RUN(pipes_are_unknown_and_refused);
  return TEST_DONE();
}
