/* SPDX-License-Identifier: MIT */
#include "core/device/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/octal.h"

enum { ATTEMPTS = 20, FIRST_BYTES = 16384 };

/* The next field of the line, ended in place; NULL when there is none.  An
 * empty one (a source of "") counts. */
static char *next_field(char **line) {
  char *field = *line;
  if (!field) return NULL;
  char *blank = strchr(field, ' ');
  if (blank) *blank = '\0';
  *line = blank ? blank + 1 : NULL;
  return field;
}

static bool parse_line(char *line, struct sl_mount *m) {
  char *id = next_field(&line), *parent = next_field(&line);
  char *number = next_field(&line), *root = next_field(&line);
  char *point = next_field(&line), *options = next_field(&line);
  char *field, end;

  if (!options || sscanf(id, "%d%c", &m->id, &end) != 1 ||
      sscanf(parent, "%d%c", &m->parent, &end) != 1 ||
      sscanf(number, "%u:%u%c", &m->major, &m->minor, &end) != 2) {
    return false;
  }
  do { /* optional fields: shared:1 master:2 … */
    field = next_field(&line);
  } while (field && strcmp(field, "-") != 0);
  char *type = next_field(&line), *source = next_field(&line);
  if (!field || !source) return false;
  char *super_options = line ? line : source + strlen(source);

  sl_octal_decode(root);
  sl_octal_decode(point);
  sl_octal_decode(source);
  m->root = root;
  m->point = point;
  m->options = options;
  m->type = type;
  m->source = source;
  m->super_options = super_options;
  return true;
}

/* An id seen twice or a line without its end is the mark of a table that
 * changed under the reader; *bad is then the number of the line. */
static int parse(struct sl_mounts *mounts, size_t *bad) {
  size_t capacity = 0;

  for (const char *p = mounts->text; (p = strchr(p, '\n')); p++)
    capacity++;
  mounts->list = calloc(capacity + 1, sizeof *mounts->list);
  if (!mounts->list) return -ENOMEM;
  for (char *line = mounts->text, *end; *line; line = end + 1) {
    struct sl_mount *m = &mounts->list[mounts->count];
    *bad = mounts->count + 1;
    end = strchr(line, '\n');
    if (!end) return -EBADMSG;
    *end = '\0';
    if (!parse_line(line, m)) return -EBADMSG;
    if (sl_mounts_by_id(mounts, m->id)) return -EBADMSG;
    mounts->count++;
  }
  return 0;
}

static char *read_all(int fd) {
  size_t size = FIRST_BYTES, length = 0;
  char *text = malloc(size);

  while (text) {
    ssize_t got = read(fd, text + length, size - length - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      int code = errno;
      free(text);
      errno = code;
      return NULL;
    }
    if (got == 0) {
      text[length] = '\0';
      return text;
    }
    length += (size_t)got;
    if (length + 1 == size) {
      char *larger = realloc(text, size *= 2);
      if (!larger) free(text);
      text = larger;
    }
  }
  errno = ENOMEM;
  return NULL;
}

/* 0, or what kept this attempt from being believed. */
static int attempt(struct sl_mounts *mounts, const char *path, size_t *bad) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  *mounts = (struct sl_mounts){.text = read_all(fd)};
  int code = mounts->text ? 0 : -errno;

  /* The kernel marks the descriptor when the table has changed since it was
   * opened; plain files of tests never are. */
  struct pollfd changed = {.fd = fd, .events = POLLPRI};
  if (code == 0 && poll(&changed, 1, 0) > 0 &&
      (changed.revents & (POLLPRI | POLLERR))) {
    code = -EAGAIN;
  }
  close(fd);
  if (code == 0) code = parse(mounts, bad);
  if (code != 0) sl_mounts_release(mounts);
  return code;
}

int sl_mounts_read(struct sl_mounts *mounts, const char *path,
                   struct sl_error *e) {
  size_t bad = 0;
  int code = -EAGAIN;

  if (!path) path = "/proc/self/mountinfo";
  for (int i = 0; i < ATTEMPTS && (code == -EAGAIN || code == -EBADMSG); i++) {
    code = attempt(mounts, path, &bad);
  }
  if (code == 0) return 0;
  sl_error_set(e, code, "read mounts", path, -1);
  if (code == -EBADMSG) sl_error_hint(e, "line %zu is torn", bad);
  if (code == -EAGAIN) sl_error_hint(e, "the mount table keeps changing");
  return code;
}

void sl_mounts_release(struct sl_mounts *mounts) {
  free(mounts->list);
  free(mounts->text);
  *mounts = (struct sl_mounts){0};
}

int sl_mount_id_of_fd(int fd) {
  char path[40], text[512];
  int id;

  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  ssize_t length = sl_file_read(path, text, sizeof text, NULL);
  if (length < 0) return (int)length;
  const char *field = strstr(text, "mnt_id:");
  if (!field || sscanf(field, "mnt_id: %d", &id) != 1) return -ENODATA;
  return id;
}
