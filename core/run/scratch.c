/* SPDX-License-Identifier: MIT */
#include "core/run/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/run/lock.h"

struct sl_scratch {
  char *path, *note_path;
  int note_fd;
  uint64_t inode;
  bool reused;
};

static void free_scratch(struct sl_scratch *s) {
  if (s->note_fd >= 0) close(s->note_fd);
  free(s->path);
  free(s->note_path);
  free(s);
}

/* The note: "<pid>\ninode <n>\n" and perhaps "evidence <reason>\n".  It is on
 * the medium when this returns: who resumes knows the file by it. */
static int write_note(struct sl_scratch *s, const char *reason,
                      struct sl_error *e) {
  char text[512];
  int length = snprintf(text, sizeof text, "%ld\ninode %" PRIu64 "\n",
                        (long)getpid(), s->inode);
  if (reason)
    length += snprintf(text + length, sizeof text - (size_t)length,
                       "evidence %.200s\n", reason);
  if (pwrite(s->note_fd, text, (size_t)length, 0) != length ||
      ftruncate(s->note_fd, length) != 0)
    return sl_error_set(e, errno ? -errno : -EIO, "write", s->note_path, -1);
  if (fsync(s->note_fd) != 0)
    return sl_error_set(e, -errno, "fsync", s->note_path, -1);
  return 0;
}

struct note {
  bool names_inode;
  uint64_t inode;
  char evidence[256];
};

/* Read before the lock is taken, which makes the file. */
static struct note read_note(const char *path) {
  struct note note = {0};
  FILE *file = fopen(path, "re");
  if (!file) return note;
  char line[512];
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "inode %" SCNu64, &note.inode) == 1)
      note.names_inode = true;
    if (strncmp(line, "evidence ", 9) == 0)
      snprintf(note.evidence, sizeof note.evidence, "%.255s", line + 9);
  }
  fclose(file);
  return note;
}

/* A file that is there already must be the one that the note names. */
static int check_ours(struct sl_scratch *s, const struct stat *st,
                      const struct note *note, bool resume,
                      struct sl_error *e) {
  if (!S_ISREG(st->st_mode) || st->st_nlink != 1 || !note->names_inode ||
      note->inode != (uint64_t)st->st_ino) {
    sl_error_set(e, -EEXIST, "claim", s->path, -1);
    sl_error_hint(e, "this file was not made by storlua; it is not touched");
    return -EEXIST;
  }
  if (note->evidence[0] && !resume) {
    sl_error_set(e, -EPERM, "claim", s->path, -1);
    sl_error_hint(e, "kept as evidence (%s); move or remove it and %s",
                  note->evidence, s->note_path);
    return -EPERM;
  }
  s->reused = true;
  return 0;
}

static int claim(struct sl_scratch *s, bool resume, struct sl_error *e) {
  struct stat st;
  bool exists = lstat(s->path, &st) == 0;
  struct note note = read_note(s->note_path);
  if (exists && !note.names_inode)
    return check_ours(s, &st, &note, resume, e); /* leaves no note behind */
  s->note_fd = sl_lock_file_as_is(s->note_path, e);
  if (s->note_fd < 0) {
    if (s->note_fd == -EWOULDBLOCK && !e->hint[0])
      sl_error_hint(e, "another run uses this file");
    return s->note_fd;
  }
  if (exists) {
    int code = check_ours(s, &st, &note, resume, e);
    s->inode = note.inode;
    return code ? code : write_note(s, NULL, e);
  }
  int fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  int code = fd < 0 ? sl_error_set(e, -errno, "open", s->path, -1) : 0;
  if (!code && fstat(fd, &st) != 0)
    code = sl_error_set(e, -errno, "fstat", s->path, -1);
  if (fd >= 0) close(fd);
  if (!code) {
    s->inode = (uint64_t)st.st_ino;
    code = write_note(s, NULL, e);
    if (!code) code = sl_file_sync_name(s->path, e);
    if (code) unlink(s->path);
  }
  if (code) unlink(s->note_path);
  return code;
}

int sl_scratch_claim(const char *path, bool resume, struct sl_scratch **out,
                     struct sl_error *e) {
  struct sl_scratch *s = calloc(1, sizeof *s);
  if (!s) return sl_error_set(e, -ENOMEM, "malloc", path, -1);
  s->note_fd = -1;
  s->path = strdup(path);
  if (asprintf(&s->note_path, "%s.owner", path) < 0) s->note_path = NULL;
  int code = s->path && s->note_path
                 ? claim(s, resume, e)
                 : sl_error_set(e, -ENOMEM, "malloc", path, -1);
  if (code)
    free_scratch(s);
  else
    *out = s;
  return code;
}

bool sl_scratch_is_reused(const struct sl_scratch *scratch) {
  return scratch->reused;
}

int sl_scratch_release(struct sl_scratch *s, const char *reason,
                       struct sl_error *e) {
  int code = 0;
  struct stat st;
  if (reason) {
    code = write_note(s, reason, e);
  } else {
    /* only the file that was claimed, not one that took its name */
    bool same = lstat(s->path, &st) == 0 && (uint64_t)st.st_ino == s->inode;
    if (same && unlink(s->path) != 0)
      code = sl_error_set(e, -errno, "unlink", s->path, -1);
    if (!code && unlink(s->note_path) != 0 && errno != ENOENT)
      code = sl_error_set(e, -errno, "unlink", s->note_path, -1);
  }
  free_scratch(s);
  return code;
}
