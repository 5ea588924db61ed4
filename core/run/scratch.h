/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_SCRATCH_H
#define STORLUA_CORE_RUN_SCRATCH_H

/* Files that a procedure may overwrite because they are ours.
 *
 * Beside each lies `<path>.owner`, a file that is locked while the run lives
 * and that names the inode of the scratch file.  Of a run that was killed both
 * stay; the next one sees from the inode that the file is ours and uses it
 * again.  A file without such a note is somebody's data.  A file kept as
 * evidence says so in the note and is not touched again.  Blocks. */

#include <stdbool.h>

#include "core/base/error.h"

struct sl_scratch;

/* Creates or takes over the file.  -EEXIST: not ours; -EWOULDBLOCK: another
 * run uses it; -EPERM: kept as evidence; each with a hint.
 * `resume`: evidence and files of the run itself are taken as they are. */
int sl_scratch_claim(const char *path, bool resume, struct sl_scratch **out,
                     struct sl_error *e);

/* True when the file was there already. */
bool sl_scratch_is_reused(const struct sl_scratch *scratch);

/* Removes file and note, or keeps both and writes `reason` into the note when
 * that is not NULL.  Frees the scratch in any case. */
int sl_scratch_release(struct sl_scratch *scratch, const char *reason,
                       struct sl_error *e);

#endif
