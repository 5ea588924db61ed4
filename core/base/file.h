/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_FILE_H
#define STORLUA_CORE_BASE_FILE_H

/* Small whole files: read one, or replace one so that a crash leaves either
 * the old or the new content, never a part. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/base/error.h"

/* Reads at most `size - 1` bytes of `path` into `buffer` and terminates it.
 * Returns the number of bytes, or a negative errno.  -EFBIG when the file is
 * longer.  Meant for /proc and /sys; blocks, so not for a device under test. */
ssize_t sl_file_read(const char *path, char *buffer, size_t size,
                     struct sl_error *e);

/* Reads all of `path` into memory from malloc, terminated by a NUL that
 * *length does not count; the caller frees *content. */
int sl_file_read_all(const char *path, char **content, size_t *length,
                     struct sl_error *e);

/* Writes `length` bytes to a temporary file beside `path`, fsyncs it, renames
 * it over `path` and fsyncs the directory.  Removes the temporary file when
 * any step fails.  Of a symbolic link the file behind it is replaced; a
 * character device or a pipe is written to; a block device is refused. */
int sl_file_replace(const char *path, const void *content, size_t length,
                    struct sl_error *e);

/* Tells whether sl_file_replace could do its work as things are, without
 * touching anything: 0, or why not. */
int sl_file_check_replace(const char *path, struct sl_error *e);

/* Puts the name of `path` on the medium: fsyncs the folder it lies in.  That
 * of the file alone promises no more than its content. */
int sl_file_sync_name(const char *path, struct sl_error *e);

/* Writes all of `content`, retrying after EINTR and short writes. */
int sl_file_write_fd(int fd, const void *content, size_t length);

#endif
