/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_TESTS_FAULT_FS_RULES_H
#define STORLUA_TESTS_FAULT_FS_RULES_H

/* The faults that are in force, changed at run time by lines of text. They
 * apply to every file of the mount, or after `only TEXT` to paths that end in
 * TEXT. Offsets and lengths are bytes in the file; a length is 512 unless
 * given.
 *
 *   OP ERROR [OFFSET [LENGTH]]      fail with EIO, ENOSPC, …
 *   hang OP [OFFSET [LENGTH]]       no answer until `release`
 *   slow OP MILLISECONDS            answer late
 *   short read|write BYTES          move at most so much in one call
 *   flip OFFSET BITS                reads: one bit of so many bytes flipped
 *   zero|ones|garbage OFFSET [LENGTH]              reads: other data
 *   misdirect OFFSET FROM [LENGTH]  reads: data of another place
 *   stale OFFSET [LENGTH]           writes there are confirmed and lost
 *   drop writes                     so is every write
 *   torn OFFSET                     a write across OFFSET ends there, unsaid
 *   enospc after BYTES              room for so much more
 *   only TEXT                       paths that the rules are for
 *   release                         let what hangs go on
 *   clear                           no rules at all
 *
 * OP is read, write, fsync, open (of files), mkdir or fsyncdir.
 *
 * All functions may be called from any thread. */

#include <stddef.h>
#include <sys/types.h>

enum rule_op {
  RULE_READ,
  RULE_WRITE,
  RULE_FSYNC,
  RULE_OPEN,
  RULE_MKDIR,
  RULE_FSYNCDIR,
  RULE_OPS
};

/* Obeys lines of text. 0, or -EINVAL at the first that is not understood. */
int rules_command(const char *text, size_t length);

/* How often each operation was called and how many of them hang. Returns the
 * length of the text. */
size_t rules_status(char *text, size_t size);

/* Called before an operation: waits, then returns 0 or a negative errno. */
int rules_before(enum rule_op op, const char *path, off_t offset, size_t bytes);

enum rule_kind {
  RULE_FAIL,
  RULE_HANG,
  RULE_SLOW,
  RULE_SHORT, /* by operation */
  RULE_FLIP,
  RULE_ZERO,
  RULE_ONES,
  RULE_GARBAGE,
  RULE_MISDIRECT, /* reads */
  RULE_STALE,
  RULE_DROP,
  RULE_TORN /* writes */
};

struct rule {
  enum rule_kind kind;
  enum rule_op op;
  int error;
  off_t offset; /* -1: everywhere */
  off_t length;
  off_t value; /* milliseconds, bytes, bits, or the place read instead */
};

enum { RULES_MAX = 64 };

/* Copies the rules that touch this range of this file to `found`, which has
 * room for RULES_MAX. Returns how many. */
size_t rules_touching(const char *path, off_t offset, size_t bytes,
                      struct rule *found);

/* Takes up to `bytes` from the room that `enospc after` left. */
size_t rules_take_room(const char *path, size_t bytes);

/* data.c: reads and writes `fd` as the rules have it. Bytes moved or a
 * negative errno. */
ssize_t data_read(int fd, const char *path, char *data, size_t bytes,
                  off_t offset);
ssize_t data_write(int fd, const char *path, const char *data, size_t bytes,
                   off_t offset);

#endif
