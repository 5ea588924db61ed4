/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_LOCK_H
#define STORLUA_CORE_RUN_LOCK_H

/* A file that one process at a time holds; the kernel lets go of it when the
 * process ends, however it ends.  Blocks; any thread. */

#include "core/base/error.h"

/* Opens or creates `path` and locks it.  Returns the descriptor, to be closed
 * by the caller; -EWOULDBLOCK when another process holds it, with its id as
 * hint.  A file system without locks gives an unlocked descriptor. */
int sl_lock_file(const char *path, struct sl_error *e);

/* The same for a file with a content: its first line is the holder's id,
 * which is for the caller to write. */
int sl_lock_file_as_is(const char *path, struct sl_error *e);

#endif
