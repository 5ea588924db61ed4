/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_RUN_DIR_H
#define STORLUA_CORE_RUN_RUN_DIR_H

/* Folders for the results of runs, which are still there after a power cut.
 * Blocks; any thread. */

#include <stdbool.h>

#include "core/base/error.h"

/* Creates `path` and the folders above it.  Fine when it exists. */
int sl_make_directories(const char *path, struct sl_error *e);

/* Creates `<prefix><n>` with the smallest free n from 1 on, by mkdir, so that
 * two processes never get the same one.  Returns n. */
int sl_make_numbered_directory(const char *prefix, struct sl_error *e);

/* 1 when the folder has no entries, 0 when it has, or a negative errno. */
int sl_directory_is_empty(const char *path, struct sl_error *e);

#endif
