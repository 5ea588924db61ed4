/* SPDX-License-Identifier: MIT */
/* Which queued engines the kernel has, which it punts, and which is taken. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "core/queue_rig.h"

static void what_is_not_there_is_named(void) {
  struct sl_error e = {0};
  CHECK_EQ(sl_engine_probe("psync", &e), 0);
  CHECK_EQ(sl_engine_probe("splice", &e), -ENOSYS);
  CHECK(strstr(e.hint, "no engine splice; engines here: psync, sync"));
  CHECK(sl_engine_probe("posixaio", &e) == 0);
}

/* As a container forbids it. */
static bool forbid_io_uring(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void a_forbidden_engine_names_the_others(void) {
  if (!sl_engine_find("io_uring")) SKIP("built without liburing");
  rig_open("/dev/shm");
  rig_write(64 * KIB, 1);
  pid_t child = fork();
  if (child == 0) {
    struct sl_workload_spec spec = spec_of("io_uring", SL_READ, 4);
    int before = test_failures;
    if (!forbid_io_uring()) _exit(3);
    RIG_REFUSED(&spec, -EPERM, "forbidden");
    CHECK(strstr(rig_error.hint, "engines here: psync") != NULL);
    CHECK(strstr(rig_error.hint, "io_uring, lib") == NULL);
    spec.engine = sl_engine_find("libaio");
    RIG_RUN(&spec, SL_END_COMPLETE);
    fflush(stdout);
    _exit(test_failures == before ? 0 : 1);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  rig_close();
}

static bool has_note(const char *name) {
  for (unsigned i = 0; i < rig_result->engine_note_count; i++) {
    if (strcmp(rig_result->engine_notes[i], name) == 0) return true;
  }
  return false;
}

/* On tmpfs the ring's reads go to threads of the kernel, or a later kernel
 * does without: the note says which. */
static void a_punt_is_noted(void) {
  if (!have("io_uring")) SKIP("no io_uring here");
  rig_open("/dev/shm");
  rig_write(4 * MIB, 1);
  struct sl_workload_spec spec = spec_of("io_uring", SL_READ, 16);
  RIG_RUN(&spec, SL_END_COMPLETE);
  bool noted = has_note("io_uring_punted");
  int fd = open(rig_file, O_RDONLY | O_CLOEXEC);
  char byte;
  struct iovec vector = {&byte, 1};
  bool waits =
      preadv2(fd, &vector, 1, 0, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP;
  close(fd);
  CHECK_EQ(noted, waits);
  rig_close();
}

static void in_memory_psync_is_taken(void) {
  if (!have("io_uring")) SKIP("no io_uring here");
  for (int on_disk = 0; on_disk < 2; on_disk++) {
    rig_open(on_disk ? "/var/tmp" : "/dev/shm");
    rig_write(4 * MIB, 1);
    for (unsigned depth = 1; depth <= 16; depth += 15) {
      struct sl_workload_spec spec = spec_of("io_uring", SL_READ, depth);
      spec.engine_forced = false;
      spec.verify = true;
      RIG_RUN(&spec, SL_END_COMPLETE);
      CHECK_STR(rig_result->engine->name, on_disk ? "io_uring" : "psync");
      CHECK_EQ(rig_result->queue_depth, on_disk ? depth : 1);
      CHECK_EQ(rig_result->read.bytes, 4 * MIB);
      CHECK_EQ(rig_result->bad_sectors, 0);
      CHECK_EQ(has_note("psync_taken"), !on_disk);
    }
    rig_close();
  }
}

int main(void) {
  RUN(in_memory_psync_is_taken);
  RUN(a_punt_is_noted);
  RUN(what_is_not_there_is_named);
  RUN(a_forbidden_engine_names_the_others);
  return TEST_DONE();
}
