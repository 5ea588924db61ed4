/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_DIRECTORY_H
#define STORLUA_CORE_BASE_DIRECTORY_H

/* The names in a folder.  Blocks, so not for a device under test. */

#include "core/base/error.h"

/* Called once for each name but "." and "..", in no particular order; a
 * return other than 0 ends the listing. */
typedef int sl_directory_visit(const char *name, void *user);

/* Returns 0, -errno, or what a visit returned. */
int sl_directory_list(const char *path, sl_directory_visit *visit, void *user,
                      struct sl_error *e);

#endif
