/* SPDX-License-Identifier: MIT */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_retry(const char *path, int flags, mode_t mode) {
  int fd;
  do {
    fd = open(path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd < 0 ? -errno : fd;
}

static ssize_t read_retry(int fd, void *buffer, size_t size) {
  ssize_t n;
  do {
    n = read(fd, buffer, size);
  } while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

ssize_t sl_file_read(const char *path, char *buffer, size_t size,
                     struct sl_error *e) {
  int fd = open_retry(path, O_RDONLY, 0);
  if (fd < 0) return sl_error_set(e, fd, "open", path, -1);
  size_t length = 0;
  ssize_t n = 0;
  /* one byte is kept for the terminator; it also tells a longer file */
  while (length < size &&
         (n = read_retry(fd, buffer + length, size - length)) > 0)
    length += (size_t)n;
  close(fd);
  if (n < 0) return sl_error_set(e, (int)n, "read", path, (int64_t)length);
  if (length >= size) {
    if (size) buffer[size - 1] = '\0';
    return sl_error_set(e, -EFBIG, "read", path, -1);
  }
  buffer[length] = '\0';
  return (ssize_t)length;
}

int sl_file_read_all(const char *path, char **content, size_t *length,
                     struct sl_error *e) {
  int fd = open_retry(path, O_RDONLY, 0);
  if (fd < 0) return sl_error_set(e, fd, "open", path, -1);
  char *data = NULL;
  size_t used = 0, room = 0;
  for (;;) {
    /* st_size is 0 in /proc, so the buffer grows as the content comes */
    if (room - used < 2) {
      size_t larger = room ? room * 2 : 4096;
      char *grown = larger > room ? realloc(data, larger) : NULL;
      if (!grown) {
        free(data);
        close(fd);
        return sl_error_set(e, -ENOMEM, "malloc", path, (int64_t)used);
      }
      data = grown;
      room = larger;
    }
    ssize_t n = read_retry(fd, data + used, room - used - 1);
    if (n < 0) {
      free(data);
      close(fd);
      return sl_error_set(e, (int)n, "read", path, (int64_t)used);
    }
    if (n == 0) break;
    used += (size_t)n;
  }
  close(fd);
  data[used] = '\0';
  *content = data;
  *length = used;
  return 0;
}

int sl_file_write_fd(int fd, const void *content, size_t length) {
  const char *next = content;
  while (length) {
    ssize_t n = write(fd, next, length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    if (n == 0) return -EIO; /* no progress and no reason */
    next += n;
    length -= (size_t)n;
  }
  return 0;
}

/* The folder that the name of `path` lies in, from malloc. */
static char *folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return !slash          ? strdup(".")
         : slash == path ? strdup("/")
                         : strndup(path, (size_t)(slash - path));
}

int sl_file_sync_name(const char *path, struct sl_error *e) {
  char *directory = folder_of(path);
  if (!directory) return sl_error_set(e, -ENOMEM, "malloc", path, -1);
  int code = 0;
  int fd = open_retry(directory, O_RDONLY | O_DIRECTORY, 0);
  if (fd == -EACCES) {
    /* a folder that may be written but not read cannot be synced */
  } else if (fd < 0) {
    code = sl_error_set(e, fd, "open", directory, -1);
  } else {
    /* some file systems cannot sync a directory and say EINVAL */
    if (fsync(fd) != 0 && errno != EINVAL && errno != ENOSYS)
      code = sl_error_set(e, -errno, "fsync", directory, -1);
    close(fd);
  }
  free(directory);
  return code;
}

/* Creates "<path>.tmp-<pid>-<n>" with the mode that open gives a new file. */
static int open_temporary(const char *path, char **name, struct sl_error *e) {
  static atomic_uint counter;
  for (int attempt = 0; attempt < 100; attempt++) {
    if (asprintf(name, "%s.tmp-%ld-%u", path, (long)getpid(),
                 atomic_fetch_add(&counter, 1)) < 0) {
      *name = NULL;
      return sl_error_set(e, -ENOMEM, "malloc", path, -1);
    }
    int fd = open_retry(*name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0) return fd;
    if (fd != -EEXIST) sl_error_set(e, fd, "open", *name, -1);
    free(*name);
    *name = NULL;
    if (fd != -EEXIST) return fd;
  }
  return sl_error_set(e, -EEXIST, "open", path, -1);
}

/* A terminal, a pipe, /dev/null: a renamed file would take its place. */
static int write_stream(const char *path, mode_t mode, const void *content,
                        size_t length, struct sl_error *e) {
  if (S_ISDIR(mode)) return sl_error_set(e, -EISDIR, "open", path, -1);
  if (!S_ISCHR(mode) && !S_ISFIFO(mode)) {
    sl_error_set(e, -EINVAL, "open", path, -1);
    sl_error_hint(e, "neither a file nor a stream");
    return -EINVAL;
  }
  /* a pipe that nobody reads is an error, not a wait */
  int fd = open_retry(path, O_WRONLY | O_NOCTTY | O_NONBLOCK, 0);
  if (fd < 0) return sl_error_set(e, fd, "open", path, -1);
  int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  int code = sl_file_write_fd(fd, content, length);
  if (close(fd) != 0 && !code) code = -errno;
  return code ? sl_error_set(e, code, "write", path, -1) : 0;
}

static int replace_file(const char *path, const void *content, size_t length,
                        struct sl_error *e) {
  char *temporary = NULL;
  int fd = open_temporary(path, &temporary, e);
  if (fd < 0) return fd;
  int code = sl_file_write_fd(fd, content, length);
  if (code) {
    sl_error_set(e, code, "write", temporary, -1);
  } else if (fsync(fd) != 0) {
    code = sl_error_set(e, -errno, "fsync", temporary, -1);
  }
  if (close(fd) != 0 && !code)
    code = sl_error_set(e, -errno, "close", temporary, -1);
  if (!code && rename(temporary, path) != 0)
    code = sl_error_set(e, -errno, "rename", path, -1);
  if (code) unlink(temporary);
  free(temporary);
  return code ? code : sl_file_sync_name(path, e);
}

int sl_file_replace(const char *path, const void *content, size_t length,
                    struct sl_error *e) {
  struct stat st;
  if (stat(path, &st) != 0) return replace_file(path, content, length, e);
  if (!S_ISREG(st.st_mode))
    return write_stream(path, st.st_mode, content, length, e);
  /* what a link names is replaced, not the link */
  char *real = realpath(path, NULL);
  if (!real) return sl_error_set(e, -errno, "realpath", path, -1);
  int code = replace_file(real, content, length, e);
  free(real);
  return code;
}

static int check_folder(const char *path, struct sl_error *e) {
  struct stat st;
  char *folder = folder_of(path);
  if (!folder) return sl_error_set(e, -ENOMEM, "malloc", path, -1);
  int code = 0;
  if (stat(folder, &st) != 0)
    code = sl_error_set(e, -errno, "open", folder, -1);
  else if (!S_ISDIR(st.st_mode))
    code = sl_error_set(e, -ENOTDIR, "open", folder, -1);
  else if (access(folder, W_OK | X_OK) != 0)
    code = sl_error_set(e, -errno, "write to", folder, -1);
  free(folder);
  return code;
}

int sl_file_check_replace(const char *path, struct sl_error *e) {
  struct stat st;
  if (stat(path, &st) != 0) return check_folder(path, e);
  if (S_ISDIR(st.st_mode)) return sl_error_set(e, -EISDIR, "open", path, -1);
  if (!S_ISREG(st.st_mode)) return 0; /* whether anybody reads shows later */
  char *real = realpath(path, NULL);
  if (!real) return sl_error_set(e, -errno, "realpath", path, -1);
  int code = check_folder(real, e);
  free(real);
  return code;
}
