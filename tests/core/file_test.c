/* SPDX-License-Identifier: MIT */
#include "core/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/test.h"

static char dir[64];

static const char *in_dir(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return path;
}

static unsigned entries(const char *path) {
  unsigned n = 0;
  DIR *d = opendir(path);
  for (struct dirent *entry; d && (entry = readdir(d));)
    n += entry->d_name[0] != '.';
  if (d) closedir(d);
  return n;
}

static void read_small(void) {
  char buffer[8];
  struct sl_error e;
  CHECK_EQ(sl_file_replace(in_dir("a"), "1234567", 7, &e), 0);
  CHECK_EQ(sl_file_read(in_dir("a"), buffer, 8, &e), 7);
  CHECK_STR(buffer, "1234567");
  CHECK_EQ(sl_file_read(in_dir("a"), buffer, 7, &e), -EFBIG);
  CHECK_EQ(e.code, -EFBIG);
  CHECK_EQ(sl_file_read(in_dir("none"), buffer, 8, &e), -ENOENT);
  CHECK_STR(e.op, "open");
  CHECK_STR(e.path, in_dir("none"));
  CHECK_EQ(sl_file_read(dir, buffer, 8, &e), -EISDIR);
  unlink(in_dir("a"));
}

static void read_whole(void) {
  char *content;
  size_t length;
  static char large[100001];
  memset(large, 'x', sizeof large);
  CHECK_EQ(sl_file_replace(in_dir("a"), large, sizeof large, NULL), 0);
  CHECK_EQ(sl_file_read_all(in_dir("a"), &content, &length, NULL), 0);
  CHECK_EQ(length, sizeof large);
  CHECK(memcmp(content, large, length) == 0);
  CHECK_EQ(content[length], 0);
  free(content);
  CHECK_EQ(sl_file_replace(in_dir("a"), "", 0, NULL), 0);
  CHECK_EQ(sl_file_read_all(in_dir("a"), &content, &length, NULL), 0);
  CHECK_EQ(length, 0);
  CHECK_STR(content, "");
  free(content);
  CHECK_EQ(sl_file_read_all("/proc/self/status", &content, &length, NULL), 0);
  CHECK(length > 100 && strlen(content) == length);
  free(content);
  CHECK_EQ(sl_file_read_all(in_dir("none"), &content, &length, NULL), -ENOENT);
  unlink(in_dir("a"));
}

static void replace_honours_umask_and_relative_names(void) {
  struct stat st;
  char here[512];
  mode_t before = umask(027);
  CHECK(getcwd(here, sizeof here) != NULL);
  CHECK_EQ(chdir(dir), 0);
  CHECK_EQ(sl_file_replace("relative", "x", 1, NULL), 0);
  CHECK_EQ(stat("relative", &st), 0);
  CHECK_EQ(st.st_mode & 0777, 0640);
  CHECK_EQ(entries("."), 1);
  unlink("relative");
  CHECK_EQ(chdir(here), 0);
  umask(before);
}

static void replace_keeps_links_and_streams(void) {
  struct sl_error e;
  struct stat st;
  char text[16];
  CHECK_EQ(sl_file_replace(in_dir("a"), "old", 3, &e), 0);
  CHECK_EQ(symlink("a", in_dir("link")), 0);
  CHECK_EQ(sl_file_replace(in_dir("link"), "new!", 4, &e), 0);
  CHECK_EQ(lstat(in_dir("link"), &st), 0);
  CHECK(S_ISLNK(st.st_mode));
  CHECK_EQ(sl_file_read(in_dir("a"), text, sizeof text, &e), 4);
  unlink(in_dir("link"));
  unlink(in_dir("a"));

  CHECK_EQ(symlink("/dev/full", in_dir("full")), 0);
  CHECK_EQ(sl_file_replace(in_dir("full"), "x", 1, &e), -ENOSPC);
  CHECK_EQ(stat("/dev/full", &st), 0);
  CHECK(S_ISCHR(st.st_mode));
  unlink(in_dir("full"));

  CHECK_EQ(mkfifo(in_dir("pipe"), 0600), 0);
  CHECK_EQ(sl_file_replace(in_dir("pipe"), "x", 1, &e), -ENXIO);
  int fd = open(in_dir("pipe"), O_RDONLY | O_NONBLOCK);
  CHECK_EQ(sl_file_replace(in_dir("pipe"), "hello", 5, &e), 0);
  CHECK_EQ(read(fd, text, sizeof text), 5);
  close(fd);
  CHECK_EQ(entries(dir), 1);
  unlink(in_dir("pipe"));
}

static void replace_failures_leave_the_old(void) {
  struct sl_error e;
  char text[16];
  CHECK_EQ(sl_file_replace(in_dir("no/such"), "x", 1, &e), -ENOENT);
  CHECK_EQ(mkdir(in_dir("target"), 0755), 0);
  CHECK_EQ(mkdir(in_dir("target/full"), 0755), 0);
  int code = sl_file_replace(in_dir("target"), "x", 1, &e);
  CHECK_EQ(code, -EISDIR);
  CHECK_EQ(entries(dir), 1);
  rmdir(in_dir("target/full"));
  rmdir(in_dir("target"));

  /* a limit on the size of files stands for any failing write */
  CHECK_EQ(sl_file_replace(in_dir("a"), "old", 3, &e), 0);
  pid_t child = fork();
  if (child == 0) {
    static char large[65536];
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGXFSZ, &ignore, NULL);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
    code = sl_file_replace(in_dir("a"), large, sizeof large, &e);
    _exit(code == -EFBIG && strcmp(e.op, "write") == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  CHECK_EQ(sl_file_read(in_dir("a"), text, sizeof text, &e), 3);
  CHECK_EQ(entries(dir), 1);
  unlink(in_dir("a"));
}

static void read_only_and_full(void) {
  if (geteuid() != 0) SKIP("needs root to mount a tmpfs");
  struct sl_error e;
  char text[16], path[160];
  static char large[300000];
  if (mount("none", dir, "tmpfs", 0, "size=64k") != 0)
    SKIP("cannot mount a tmpfs here");
  snprintf(path, sizeof path, "%s/a", dir);
  CHECK_EQ(sl_file_replace(path, "old", 3, &e), 0);
  CHECK_EQ(sl_file_replace(path, large, sizeof large, &e), -ENOSPC);
  CHECK_EQ(entries(dir), 1);
  CHECK_EQ(mount("none", dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
  CHECK_EQ(sl_file_replace(path, "new", 3, &e), -EROFS);
  CHECK_STR(e.op, "open");
  CHECK_EQ(sl_file_read(path, text, sizeof text, &e), 3);
  CHECK_STR(text, "old");
  CHECK_EQ(entries(dir), 1);
  CHECK_EQ(umount(dir), 0);
}

/* A reader that opens again and again sees whole contents only. */
static void replace_is_atomic(void) {
  static char content[2][20000];
  memset(content[0], 'a', sizeof content[0]);
  memset(content[1], 'b', 9999);
  CHECK_EQ(sl_file_replace(in_dir("a"), content[0], 20000, NULL), 0);
  pid_t writer = fork();
  if (writer == 0) {
    for (int i = 1; i <= 300; i++)
      sl_file_replace(in_dir("a"), content[i & 1], i & 1 ? 9999 : 20000, NULL);
    _exit(0);
  }
  unsigned reads = 0;
  while (waitpid(writer, NULL, WNOHANG) == 0) {
    char *got;
    size_t length;
    if (sl_file_read_all(in_dir("a"), &got, &length, NULL) != 0) {
      CHECK(false && "the file is always there");
      continue;
    }
    CHECK(length == 20000 || length == 9999);
    CHECK(memcmp(got, content[length == 9999], length) == 0);
    free(got);
    reads++;
  }
  CHECK(reads > 0);
  CHECK_EQ(entries(dir), 1);
  unlink(in_dir("a"));
}

static void write_to_pipe_in_pieces(void) {
  int fds[2];
  CHECK_EQ(pipe(fds), 0);
  static char large[300000];
  pid_t reader = fork();
  if (reader == 0) {
    static char piece[777];
    size_t total = 0;
    close(fds[1]);
    for (ssize_t n; (n = read(fds[0], piece, sizeof piece)) > 0;)
      total += (size_t)n;
    _exit(total == sizeof large ? 0 : 1);
  }
  close(fds[0]);
  CHECK_EQ(sl_file_write_fd(fds[1], large, sizeof large), 0);
  close(fds[1]);
  int status = -1;
  waitpid(reader, &status, 0);
  CHECK_EQ(status, 0);
  CHECK_EQ(sl_file_write_fd(-1, large, 1), -EBADF);
}

int main(void) {
  snprintf(dir, sizeof dir, "/tmp/file_test-XXXXXX");
  if (!mkdtemp(dir)) return EXIT_FAILURE;
  RUN(read_small);
  RUN(read_whole);
  RUN(replace_honours_umask_and_relative_names);
  RUN(replace_keeps_links_and_streams);
  RUN(replace_failures_leave_the_old);
  RUN(read_only_and_full);
  RUN(replace_is_atomic);
  RUN(write_to_pipe_in_pieces);
  rmdir(dir);
  return TEST_DONE();
}
