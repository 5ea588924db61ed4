/* SPDX-License-Identifier: MIT */
/* fault_fs [--cached] BACKING MOUNTPOINT: shows the directory BACKING at
 * MOUNTPOINT and misbehaves as told through MOUNTPOINT/.control (rules.h).
 * Reading .control gives counts. Prints "ready" when mounted, ends when
 * unmounted. Without --cached the page cache is not in between. */
#define FUSE_USE_VERSION 314
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <fuse_log.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "rules.h"

#define CONTROL "/.control"

static struct {
  int backing; /* directory file descriptor */
  bool cached;
} fs;

/* An open file. It keeps its path, so that the library need not look it up:
 * a look-up takes locks, and removing a file would wait for a hanging read. */
struct open_file {
  int fd; /* -1: the control file */
  char path[];
};

static struct open_file *file_of(const struct fuse_file_info *fi) {
  return (struct open_file *)(uintptr_t)fi->fh;
}

static bool is_control(const char *path) { return strcmp(path, CONTROL) == 0; }

/* Paths come as "/x/y"; the backing directory wants "x/y". */
static const char *inside(const char *path) { return path[1] ? path + 1 : "."; }

static int result(int rc) { return rc < 0 ? -errno : 0; }

static void *f_init(struct fuse_conn_info *conn, struct fuse_config *config) {
  (void)conn;
  config->use_ino = 1;
  config->nullpath_ok = 1;
  config->hard_remove = 1;
  if (!fs.cached)
    config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
  puts("ready");
  fflush(stdout);
  return NULL;
}

static int f_getattr(const char *path, struct stat *st,
                     struct fuse_file_info *fi) {
  if (fi && file_of(fi)->fd >= 0) return result(fstat(file_of(fi)->fd, st));
  if (fi || is_control(path)) {
    *st = (struct stat){.st_mode = S_IFREG | 0600, .st_nlink = 1};
    return 0;
  }
  return result(fstatat(fs.backing, inside(path), st, AT_SYMLINK_NOFOLLOW));
}

static int f_opendir(const char *path, struct fuse_file_info *fi) {
  int fd = openat(fs.backing, inside(path), O_RDONLY | O_DIRECTORY);
  fi->fh = (uint64_t)fd;
  return fd < 0 ? -errno : 0;
}

static int f_releasedir(const char *path, struct fuse_file_info *fi) {
  (void)path;
  close((int)fi->fh);
  return 0;
}

static int f_fsyncdir(const char *path, int data_only,
                      struct fuse_file_info *fi) {
  (void)data_only;
  int rc = rules_before(RULE_FSYNCDIR, path ? path : "", 0, 0);
  return rc ? rc : result(fsync((int)fi->fh));
}

static int f_readdir(const char *path, void *buf, fuse_fill_dir_t fill,
                     off_t offset, struct fuse_file_info *fi,
                     enum fuse_readdir_flags flags) {
  (void)path, (void)offset, (void)flags;
  int fd = openat((int)fi->fh, ".", O_RDONLY | O_DIRECTORY);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) return -errno;
  for (struct dirent *entry; (entry = readdir(dir));)
    if (fill(buf, entry->d_name, NULL, 0, 0)) break;
  closedir(dir);
  return 0;
}

static int open_backing(const char *path, struct fuse_file_info *fi, int flags,
                        mode_t mode) {
  bool control = is_control(path);
  fi->direct_io = !fs.cached || control;
  int rc = control ? 0 : rules_before(RULE_OPEN, path, 0, 0);
  if (rc) return rc;
  struct open_file *file = malloc(sizeof(*file) + strlen(path) + 1);
  if (!file) return -ENOMEM;
  strcpy(file->path, path);
  /* The library's buffers are not aligned for O_DIRECT, and O_APPEND would
   * move positioned writes. */
  file->fd = control ? -1
                     : openat(fs.backing, inside(path),
                              flags & ~(O_DIRECT | O_APPEND), mode);
  if (file->fd < 0 && !control) {
    free(file);
    return -errno;
  }
  fi->fh = (uint64_t)(uintptr_t)file;
  return 0;
}

static int f_open(const char *path, struct fuse_file_info *fi) {
  return open_backing(path, fi, fi->flags, 0);
}

static int f_create(const char *path, mode_t mode, struct fuse_file_info *fi) {
  return open_backing(path, fi, fi->flags | O_CREAT, mode);
}

static int f_release(const char *path, struct fuse_file_info *fi) {
  (void)path;
  struct open_file *file = file_of(fi);
  if (file->fd >= 0) close(file->fd);
  free(file);
  return 0;
}

static int read_control(char *data, size_t bytes, off_t offset) {
  char text[256];
  size_t n = rules_status(text, sizeof(text));
  if (offset >= (off_t)n) return 0;
  n -= (size_t)offset;
  if (n > bytes) n = bytes;
  memcpy(data, text + offset, n);
  return (int)n;
}

static int f_read(const char *path, char *data, size_t bytes, off_t offset,
                  struct fuse_file_info *fi) {
  (void)path;
  struct open_file *file = file_of(fi);
  if (file->fd < 0) return read_control(data, bytes, offset);
  int rc = rules_before(RULE_READ, file->path, offset, bytes);
  if (rc) return rc;
  return (int)data_read(file->fd, file->path, data, bytes, offset);
}

static int f_write(const char *path, const char *data, size_t bytes,
                   off_t offset, struct fuse_file_info *fi) {
  (void)path;
  struct open_file *file = file_of(fi);
  if (file->fd < 0) {
    int bad = rules_command(data, bytes);
    return bad ? bad : (int)bytes;
  }
  int rc = rules_before(RULE_WRITE, file->path, offset, bytes);
  if (rc) return rc;
  return (int)data_write(file->fd, file->path, data, bytes, offset);
}

static int f_fsync(const char *path, int data_only, struct fuse_file_info *fi) {
  (void)path;
  struct open_file *file = file_of(fi);
  if (file->fd < 0) return 0;
  int rc = rules_before(RULE_FSYNC, file->path, 0, 0);
  if (rc) return rc;
  return result(data_only ? fdatasync(file->fd) : fsync(file->fd));
}

static int f_truncate(const char *path, off_t size, struct fuse_file_info *fi) {
  if (fi)
    return file_of(fi)->fd < 0 ? 0 : result(ftruncate(file_of(fi)->fd, size));
  if (is_control(path)) return 0;
  int fd = openat(fs.backing, inside(path), O_WRONLY);
  if (fd < 0) return -errno;
  int rc = result(ftruncate(fd, size));
  close(fd);
  return rc;
}

static int f_fallocate(const char *path, int mode, off_t offset, off_t length,
                       struct fuse_file_info *fi) {
  (void)path;
  if (file_of(fi)->fd < 0) return -EOPNOTSUPP;
  return result(fallocate(file_of(fi)->fd, mode, offset, length));
}

static int f_mkdir(const char *path, mode_t mode) {
  int rc = rules_before(RULE_MKDIR, path, 0, 0);
  return rc ? rc : result(mkdirat(fs.backing, inside(path), mode));
}

static int f_unlink(const char *path) {
  return result(unlinkat(fs.backing, inside(path), 0));
}

static int f_rmdir(const char *path) {
  return result(unlinkat(fs.backing, inside(path), AT_REMOVEDIR));
}

static int f_rename(const char *from, const char *to, unsigned flags) {
  return result(
      renameat2(fs.backing, inside(from), fs.backing, inside(to), flags));
}

static int f_chmod(const char *path, mode_t mode, struct fuse_file_info *fi) {
  if (fi) return result(fchmod(file_of(fi)->fd, mode));
  return result(fchmodat(fs.backing, inside(path), mode, 0));
}

static int f_chown(const char *path, uid_t uid, gid_t gid,
                   struct fuse_file_info *fi) {
  if (fi) return result(fchown(file_of(fi)->fd, uid, gid));
  return result(
      fchownat(fs.backing, inside(path), uid, gid, AT_SYMLINK_NOFOLLOW));
}

static int f_utimens(const char *path, const struct timespec times[2],
                     struct fuse_file_info *fi) {
  if (fi) return result(futimens(file_of(fi)->fd, times));
  return result(
      utimensat(fs.backing, inside(path), times, AT_SYMLINK_NOFOLLOW));
}

static int f_statfs(const char *path, struct statvfs *st) {
  (void)path;
  return result(fstatvfs(fs.backing, st));
}

/* The library complains when somebody else has unmounted. */
static void quiet(enum fuse_log_level level, const char *format, va_list ap) {
  (void)level, (void)format, (void)ap;
}

static const struct fuse_operations operations = {.init = f_init,
                                                  .opendir = f_opendir,
                                                  .releasedir = f_releasedir,
                                                  .fsyncdir = f_fsyncdir,
                                                  .getattr = f_getattr,
                                                  .readdir = f_readdir,
                                                  .open = f_open,
                                                  .create = f_create,
                                                  .release = f_release,
                                                  .read = f_read,
                                                  .write = f_write,
                                                  .fsync = f_fsync,
                                                  .truncate = f_truncate,
                                                  .fallocate = f_fallocate,
                                                  .mkdir = f_mkdir,
                                                  .unlink = f_unlink,
                                                  .rmdir = f_rmdir,
                                                  .rename = f_rename,
                                                  .chmod = f_chmod,
                                                  .chown = f_chown,
                                                  .utimens = f_utimens,
                                                  .statfs = f_statfs};

int main(int argc, char **argv) {
  fs.cached = argc == 4 && strcmp(argv[1], "--cached") == 0;
  if (argc != (fs.cached ? 4 : 3)) {
    fprintf(stderr, "usage: fault_fs [--cached] BACKING MOUNTPOINT\n");
    return 2;
  }
  fs.backing = open(argv[argc - 2], O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fs.backing < 0) {
    perror(argv[argc - 2]);
    return 1;
  }
  struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
  fuse_opt_add_arg(&args, "fault_fs");
  fuse_opt_add_arg(&args, "-ofsname=fault_fs,allow_other");
  struct fuse *fuse = fuse_new(&args, &operations, sizeof(operations), NULL);
  if (!fuse || fuse_mount(fuse, argv[argc - 1]) != 0) return 1;
  /* Requests that hang hold a thread each: enough for many of them. */
  struct fuse_loop_config *config = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(config, 64);
  fuse_set_signal_handlers(fuse_get_session(fuse));
  int rc = fuse_loop_mt(fuse, config);
  fuse_loop_cfg_destroy(config);
  fuse_set_log_func(quiet);
  fuse_unmount(fuse);
  fuse_destroy(fuse);
  fuse_opt_free_args(&args);
  close(fs.backing);
  return rc == 0 ? 0 : 1;
}
