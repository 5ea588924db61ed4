/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_ERROR_H
#define STORLUA_CORE_BASE_ERROR_H

/* What failed, where, and what to do about it.
 *
 * Core functions return 0, a negative errno (the same values as libuv's
 * UV_E*) or SL_REFUSED, and fill a struct sl_error of the caller's.  The struct
 * owns no memory, so it may live on any stack and be copied between threads. */

#include <stddef.h>
#include <stdint.h>

/* The one code that is not an errno: the safety gate said no. */
enum { SL_REFUSED = -9001 };

enum {
  SL_ERROR_OP_BYTES = 32,
  SL_ERROR_PATH_BYTES = 512,
  SL_ERROR_HINT_BYTES = 256,
  SL_ERROR_TEXT_BYTES = 1024
};

struct sl_error {
  int code;       /* as returned; 0 means that nothing failed */
  int64_t offset; /* byte offset of the operation, -1 where it has none */
  char op[SL_ERROR_OP_BYTES];     /* system call or step: "pread", "open" */
  char path[SL_ERROR_PATH_BYTES]; /* may be empty; long paths keep the tail */
  char hint[SL_ERROR_HINT_BYTES]; /* what to do; may be empty */
};

/* Fills *e and returns `code`, so that `return sl_error_set(...)` reads well.
 * `code` is a negative errno; `path` may be NULL; `offset` -1 for none.
 * `e` may be NULL: then only the code is passed on. */
int sl_error_set(struct sl_error *e, int code, const char *op, const char *path,
                 int64_t offset);

/* Adds the advice for the user to an error that is already set. */
void sl_error_hint(struct sl_error *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes "EIO: pread /dev/x at 4096: input/output error (hint)" into `text`,
 * always terminated.  Returns `text`. */
char *sl_error_text(const struct sl_error *e, char *text, size_t size);

/* "EIO" for -EIO.  Never NULL; "E<number>" for one without a name.  The
 * returned string is static. */
const char *sl_error_name(int code);

/* 5 for "EIO", as this system counts; 0 for what is no errno. */
int sl_error_number(const char *name);

/* The C library's message for the code in lower case, static per thread. */
const char *sl_error_message(int code);

#endif
