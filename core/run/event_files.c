/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/run/event_log_private.h"

static char *join(const char *directory, const char *name) {
  char *path;
  return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

/* True for a line that a crash cannot have left half written. */
static bool is_whole(const char *line, size_t length) {
  return length >= 2 && line[0] == '{' && line[length - 1] == '}' &&
         !memchr(line, '\0', length);
}

/* Cuts off what follows the last whole line. */
static int cut_torn_line(struct sl_event_files *files, struct sl_error *e) {
  char *content;
  size_t size;
  int code = sl_file_read_all(files->live, &content, &size, e);
  if (code) return code;
  size_t end = size;
  while (end > 0) {
    const char *newline = content[end - 1] == '\n'
                              ? content + end - 1
                              : memrchr(content, '\n', end);
    if (!newline) {
      end = 0;
      break;
    }
    size_t line_end = (size_t)(newline - content);
    const char *before = memrchr(content, '\n', line_end);
    size_t start = before ? (size_t)(before - content) + 1 : 0;
    end = line_end + 1;
    if (is_whole(content + start, line_end - start)) break;
    end = start;
  }
  free(content);
  files->torn_bytes = size - end;
  files->bytes = end;
  if (files->torn_bytes && ftruncate(files->fd, (off_t)end) != 0)
    return sl_error_set(e, -errno, "ftruncate", files->live, (int64_t)end);
  return 0;
}

/* Real data, so that no file system saves the room by compressing it. */
static int make_reserve(struct sl_event_files *files, struct sl_error *e) {
  int fd = open(files->reserve, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return sl_error_set(e, -errno, "open", files->reserve, -1);
  uint64_t x = (uint64_t)getpid() | 1u << 31;
  int code = 0;
  for (size_t at = 0; at < SL_EVENT_RESERVE_BYTES && !code;) {
    uint64_t block[512];
    for (size_t i = 0; i < 512; i++) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      block[i] = x;
    }
    code = sl_file_write_fd(fd, block, sizeof block);
    if (code) sl_error_set(e, code, "write", files->reserve, (int64_t)at);
    at += sizeof block;
  }
  if (!code && fdatasync(fd) != 0)
    code = sl_error_set(e, -errno, "fdatasync", files->reserve, -1);
  close(fd);
  if (!code) return 0;
  unlink(files->reserve);
  if (code == -ENOSPC)
    sl_error_hint(e,
                  "the event log needs %d KiB at least; --output DIR puts "
                  "it elsewhere",
                  SL_EVENT_RESERVE_BYTES >> 10);
  return code;
}

/* Three quarters of the room that there is must do. */
static void fit_limit(struct sl_event_files *files) {
  struct statvfs fs;
  if (fstatvfs(files->fd, &fs) != 0 || fs.f_blocks == 0) return;
  uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize + files->bytes;
  uint64_t most = room / 4 * 3;
  uint64_t least = SL_EVENT_LIMIT_MIN_BYTES / 4;
  if (most < least) most = least;
  if (files->limit_bytes > most) files->limit_bytes = most;
}

static int open_live(struct sl_event_files *files, bool resume,
                     struct sl_error *e) {
  int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | (resume ? 0 : O_EXCL);
  files->fd = open(files->live, flags, 0666);
  if (files->fd < 0) return sl_error_set(e, -errno, "open", files->live, -1);
  files->bytes = 0;
  return 0;
}

static int open_files(struct sl_event_files *files,
                      const struct sl_event_log_options *options,
                      struct sl_error *e) {
  *files = (struct sl_event_files){
      .directory_fd = -1, .fd = -1, .limit_bytes = options->limit_bytes};
  const char *directory = options->directory;
  files->live = join(directory, "events.jsonl");
  files->older = join(directory, "events.1.jsonl");
  files->reserve = join(directory, "reserve");
  int code = 0;
  if (!files->live || !files->older || !files->reserve)
    code = sl_error_set(e, -ENOMEM, "malloc", directory, -1);
  if (!code) {
    files->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->directory_fd < 0)
      code = sl_error_set(e, -errno, "open", directory, -1);
  }
  if (!code) code = open_live(files, options->resume, e);
  if (!code && options->resume) code = cut_torn_line(files, e);
  if (!code) code = make_reserve(files, e);
  if (!code) fit_limit(files);
  if (!code) fsync(files->directory_fd);
  if (code) sl_event_files_close(files);
  return code;
}

int sl_event_files_prepare(const struct sl_event_log_options *options,
                           struct sl_event_files **out, struct sl_error *e) {
  struct sl_event_files *files = malloc(sizeof *files);
  if (!files) return sl_error_set(e, -ENOMEM, "malloc", options->directory, -1);
  int code = open_files(files, options, e);
  if (code)
    free(files);
  else
    *out = files;
  return code;
}

void sl_event_files_free(struct sl_event_files *files) {
  sl_event_files_release_reserve(files);
  sl_event_files_close(files);
  free(files);
}

int sl_event_files_write(struct sl_event_files *files, const char *line,
                         size_t length, struct sl_error *e) {
  /* the entry holds a newline behind its text */
  int code = sl_file_write_fd(files->fd, line, length + 1);
  if (code == 0) {
    files->bytes += length + 1;
    return 0;
  }
  if (ftruncate(files->fd, (off_t)files->bytes) != 0) {
    /* the torn line stays; readers ignore it while it is the last one */
  }
  return sl_error_set(e, code, "write", files->live, (int64_t)files->bytes);
}

/* What is written to a file without a name is gone with the run. */
static bool is_removed(const struct sl_event_files *files) {
  struct stat st;
  return fstat(files->fd, &st) == 0 && st.st_nlink == 0 &&
         stat(files->live, &st) != 0 && errno == ENOENT;
}

int sl_event_files_sync(struct sl_event_files *files, struct sl_error *e) {
  if (fdatasync(files->fd) != 0)
    return sl_error_set(e, -errno, "fdatasync", files->live, -1);
  if (!is_removed(files)) return 0;
  sl_error_set(e, -ENOENT, "write", files->live, -1);
  sl_error_hint(e, "somebody removed the log of a run that goes on");
  return -ENOENT;
}

int sl_event_files_rotate(struct sl_event_files *files, struct sl_error *e) {
  int code = sl_event_files_sync(files, e);
  if (code) return code;
  if (rename(files->live, files->older) != 0)
    return sl_error_set(e, -errno, "rename", files->live, -1);
  close(files->fd);
  code = open_live(files, false, e);
  fsync(files->directory_fd);
  return code;
}

void sl_event_files_release_reserve(struct sl_event_files *files) {
  unlink(files->reserve);
  fsync(files->directory_fd); /* some file systems free it only then */
}

void sl_event_files_close(struct sl_event_files *files) {
  if (files->fd >= 0) close(files->fd);
  if (files->directory_fd >= 0) close(files->directory_fd);
  files->fd = files->directory_fd = -1;
  free(files->live);
  free(files->older);
  free(files->reserve);
  files->live = files->older = files->reserve = NULL;
}
