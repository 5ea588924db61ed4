/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/run/child_private.h"

/* Length of the name in "NAME=value" or "NAME". */
static size_t name_length(const char *entry) { return strcspn(entry, "="); }

static bool same_name(const char *a, const char *b) {
  size_t length = name_length(a);
  return length == name_length(b) && memcmp(a, b, length) == 0;
}

static bool is_changed(const char *entry, const char **changes) {
  for (; changes && *changes; changes++)
    if (same_name(entry, *changes)) return true;
  return false;
}

char **sl_child_environment(const char **changes) {
  extern char **environ;
  static char c_locale[] = "LC_ALL=C";
  size_t count = 0;
  for (char **entry = environ; entry && *entry; entry++)
    count++;
  for (const char **change = changes; change && *change; change++)
    count++;
  char **result = calloc(count + 2, sizeof *result);
  if (!result) return NULL;
  size_t n = 0;
  if (!is_changed(c_locale, changes)) result[n++] = c_locale;
  for (char **entry = environ; entry && *entry; entry++)
    if (!is_changed(*entry, changes) && !same_name(*entry, c_locale))
      result[n++] = *entry;
  for (const char **change = changes; change && *change; change++) {
    union {
      const char *in;
      char *out; /* environ's type; nobody writes to it */
    } entry = {.in = *change};
    if (strchr(*change, '=')) result[n++] = entry.out;
  }
  return result;
}

/* O_NONBLOCK so that a FIFO without a partner does not block the loop; the
 * child then gets a blocking descriptor as it expects. */
static int open_file(const struct sl_child_stdio *stdio, int number,
                     struct sl_error *e) {
  int flags = number == 0
                  ? O_RDONLY
                  : O_WRONLY | O_CREAT |
                        (stdio->kind == SL_CHILD_APPEND ? O_APPEND : O_TRUNC);
  int fd = open(stdio->path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (fd < 0) return sl_error_set(e, -errno, "open", stdio->path, -1);
  fcntl(fd, F_SETFL, flags & O_APPEND);
  return fd;
}

static int open_end(const struct sl_child_stdio *stdio, int number,
                    struct sl_child_ends *ends, struct sl_error *e) {
  int fds[2];
  switch (stdio->kind) {
    case SL_CHILD_NULL:
      break;
    case SL_CHILD_INHERIT:
      ends->child[number] = number;
      break;
    case SL_CHILD_MERGE:
      ends->child[number] = ends->child[1];
      break;
    case SL_CHILD_FILE:
    case SL_CHILD_APPEND:
      ends->child[number] = open_file(stdio, number, e);
      if (ends->child[number] < 0) return e->code;
      ends->owned[number] = true;
      break;
    case SL_CHILD_PIPE:
      /* A true pipe: libuv's own are sockets, which a child cannot open again
       * as /dev/stdout. */
      if (pipe2(fds, O_CLOEXEC) < 0)
        return sl_error_set(e, -errno, "pipe", NULL, -1);
      ends->child[number] = fds[number == 0 ? 0 : 1];
      ends->parent[number] = fds[number == 0 ? 1 : 0];
      ends->owned[number] = true;
      break;
  }
  return 0;
}

int sl_child_open_ends(const struct sl_child_spec *spec,
                       struct sl_child_ends *ends, struct sl_error *e) {
  *ends = (struct sl_child_ends){{-1, -1, -1}, {-1, -1, -1}, {0}};
  for (int i = 0; i < 3; i++) {
    int status = open_end(&spec->stdio[i], i, ends, e);
    if (status < 0) {
      sl_child_close_ends(ends);
      return status;
    }
  }
  return 0;
}

void sl_child_close_ends(struct sl_child_ends *ends) {
  for (int i = 0; i < 3; i++) {
    if (ends->owned[i]) close(ends->child[i]);
    if (ends->parent[i] >= 0) close(ends->parent[i]);
    ends->owned[i] = false;
    ends->parent[i] = -1;
  }
}
