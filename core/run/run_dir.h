/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_RUN_DIR_H
#define STORLUA_CORE_RUN_RUN_DIR_H

/* Folders for the results of runs, which are still there after a power cut.
 * Blocks: for jobs. */

#include "core/base/error.h"
#include "core/run/job.h"

enum sl_run_dir_how {
  SL_RUN_DIR_NUMBERED, /* <path><n>, the smallest free n from 1 on, by mkdir:
                          two processes never get the same one */
  SL_RUN_DIR_NEW,      /* `path` itself, made or empty */
  SL_RUN_DIR_RESUME    /* `path` holds the log of a run */
};

struct sl_run_dir {
  char *path;  /* of the folder; from malloc */
  char *made;  /* the uppermost folder that was made for it, or NULL */
  int lock_fd; /* of the file "lock" in it */
};

/* Makes the folder and locks it.  -EWOULDBLOCK: another run holds it, with its
 * process as hint; of a NEW one -EEXIST: it holds a run, -ENOTEMPTY: something
 * else; of one to RESUME -ENOENT: there is no run.  `job` may be NULL. */
int sl_run_dir_open(struct sl_job *job, struct sl_run_dir *dir,
                    enum sl_run_dir_how how, const char *path,
                    struct sl_error *e);

/* Takes away the files of a run that has just begun, and the folders that were
 * made for it. */
int sl_run_dir_remove(struct sl_job *job, const struct sl_run_dir *dir,
                      struct sl_error *e);

/* Lets go of the lock and frees what it holds.  Fine when nothing is open. */
void sl_run_dir_close(struct sl_run_dir *dir);

#endif
