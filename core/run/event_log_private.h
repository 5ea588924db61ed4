/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_EVENT_LOG_PRIVATE_H
#define STORLUA_CORE_RUN_EVENT_LOG_PRIVATE_H

/* What event_log.c (loop thread), event_writer.c (its thread) and
 * event_files.c (files) share. */

#include <pthread.h>

#include "core/run/event_log.h"

/* The files of a log.  Of the job that opens them, then of the writer. */
struct sl_event_files {
  char *live, *older, *reserve; /* paths */
  int directory_fd;
  int fd;
  uint64_t bytes; /* in the live file; always ends with a full line */
  uint64_t torn_bytes;
  uint64_t limit_bytes;
};

/* Writes a line and its newline; cuts a part off again when it fails. */
int sl_event_files_write(struct sl_event_files *files, const char *line,
                         size_t length, struct sl_error *e);
int sl_event_files_rotate(struct sl_event_files *files, struct sl_error *e);
int sl_event_files_sync(struct sl_event_files *files, struct sl_error *e);
/* Gives the reserved room back to the file system. */
void sl_event_files_release_reserve(struct sl_event_files *files);
void sl_event_files_close(struct sl_event_files *files);

struct sl_event_entry {
  struct sl_event_entry *next;
  uint64_t ticket;
  unsigned flags;
  const char *replace_path; /* in `text`, behind the content; NULL: a line */
  size_t length;
  char text[];
};

/* Held by its owner, its thread, and its two libuv handles; the last one to
 * let go frees it. */
struct sl_event_log {
  struct sl_loop *loop;
  uv_async_t async;
  uv_timer_t watch;
  atomic_uint holders;
  pthread_t thread;
  void (*changed)(struct sl_event_log *log, void *user);
  void *user;
  size_t queue_bytes;
  int64_t stuck_limit_ns;

  /* loop thread */
  uint64_t last_ticket;
  uint64_t awaited_ticket; /* somebody may wait for this one */
  bool is_pending;         /* counted in loop->in_flight */
  bool is_finishing;
  bool is_joined;
  bool is_stuck;       /* told already */
  uint64_t live_bytes; /* queued or written since the last rotation */

  struct sl_event_files files; /* writer thread, once it runs */

  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t wake;
  struct sl_event_entry *first, **last;
  size_t queued_bytes;
  bool stop;
  bool is_abandoned;
  bool is_ended;
  uint64_t done_ticket;
  uint64_t lost_lines;
  struct sl_error failure, replaced, last_word;
  const char *what; /* system call the writer is in */
  int64_t since_ns;
};

void *sl_event_writer_main(void *arg);
void sl_event_log_let_go(struct sl_event_log *log);

#endif
