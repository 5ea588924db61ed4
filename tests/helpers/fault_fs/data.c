/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "rules.h"

/* The part of a rule's range that lies in [offset, offset + bytes). */
static size_t overlap(const struct rule *r, off_t offset, size_t bytes,
                      size_t *first) {
  off_t begin = r->offset > offset ? r->offset : offset;
  off_t end = r->offset + r->length;
  if (end > offset + (off_t)bytes) end = offset + (off_t)bytes;
  *first = (size_t)(begin - offset);
  return end > begin ? (size_t)(end - begin) : 0;
}

static void alter(int fd, const struct rule *r, char *data, size_t bytes,
                  off_t offset) {
  size_t first, n = overlap(r, offset, bytes, &first);
  char *at = data + first;
  if (r->offset < 0 || n == 0) return;
  switch ((int)r->kind) {
    case RULE_FLIP:
      for (size_t i = 0; i < n; i++)
        at[i] = (char)(at[i] ^ 0x10);
      break;
    case RULE_ZERO:
      memset(at, 0, n);
      break;
    case RULE_ONES:
      memset(at, 0xff, n);
      break;
    case RULE_GARBAGE:
      for (size_t i = 0; i < n; i++)
        at[i] = (char)((offset + (off_t)(first + i)) * 2654435761u >> 13);
      break;
    case RULE_MISDIRECT: {
      off_t from = r->value + (offset + (off_t)first - r->offset);
      if (pread(fd, at, n, from) < 0) memset(at, 0, n);
      break;
    }
    default:
      break;
  }
}

static size_t shortened(const struct rule *rules, size_t count, enum rule_op op,
                        size_t bytes) {
  for (size_t i = 0; i < count; i++)
    if (rules[i].kind == RULE_SHORT && rules[i].op == op &&
        (off_t)bytes > rules[i].value)
      bytes = (size_t)rules[i].value;
  return bytes;
}

ssize_t data_read(int fd, const char *path, char *data, size_t bytes,
                  off_t offset) {
  struct rule rules[RULES_MAX];
  size_t count = rules_touching(path, offset, bytes, rules);
  bytes = shortened(rules, count, RULE_READ, bytes);
  ssize_t got = pread(fd, data, bytes, offset);
  if (got < 0) return -errno;
  for (size_t i = 0; i < count; i++)
    alter(fd, &rules[i], data, (size_t)got, offset);
  return got;
}

/* Whether the rules swallow the write of this byte; a run of bytes of one fate
 * is written or skipped as a whole. */
static int is_lost(const struct rule *rules, size_t count, off_t at,
                   off_t begin) {
  for (size_t i = 0; i < count; i++) {
    const struct rule *r = &rules[i];
    if (r->kind == RULE_DROP) return 1;
    if (r->kind == RULE_STALE && at >= r->offset && at < r->offset + r->length)
      return 1;
    if (r->kind == RULE_TORN && begin < r->offset && at >= r->offset) return 1;
  }
  return 0;
}

ssize_t data_write(int fd, const char *path, const char *data, size_t bytes,
                   off_t offset) {
  struct rule rules[RULES_MAX];
  size_t count = rules_touching(path, offset, bytes, rules);
  bytes = shortened(rules, count, RULE_WRITE, bytes);
  size_t room = rules_take_room(path, bytes);
  if (room == 0 && bytes > 0) return -ENOSPC;
  bytes = room;
  for (size_t i = 0; i < bytes;) {
    int lost = is_lost(rules, count, offset + (off_t)i, offset);
    size_t end = i + 1;
    while (end < bytes &&
           is_lost(rules, count, offset + (off_t)end, offset) == lost)
      end++;
    /* A lost write still makes the file as long as it promised. */
    off_t length = offset + (off_t)end;
    if (lost && lseek(fd, 0, SEEK_END) < length && ftruncate(fd, length) != 0)
      return -errno;
    while (!lost && i < end) {
      ssize_t n = pwrite(fd, data + i, end - i, offset + (off_t)i);
      if (n < 0) return i > 0 ? (ssize_t)i : -errno;
      i += (size_t)n;
    }
    i = end;
  }
  return (ssize_t)bytes;
}
