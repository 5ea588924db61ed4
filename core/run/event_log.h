/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_EVENT_LOG_H
#define STORLUA_CORE_RUN_EVENT_LOG_H

/* The event log of a run: lines that one thread writes to DIR/events.jsonl.
 *
 * The log may lie on the disk under test, where one fdatasync was seen to
 * take 12 s.  So the loop thread only queues lines; the writer thread owns the
 * files, and says by a callback on the loop thread how far it got.  The queue
 * is bounded by bytes.  While somebody has reason to wait for the writer
 * (a durable line, a full queue, the end) it counts as work in flight: virtual
 * time stands still and the loop stays alive.
 *
 * Past half the limit the owner begins a new file; one older half is kept as
 * events.1.jsonl.  DIR/reserve keeps room for the last words of a run on a
 * full disk.  All functions: loop thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/run/loop.h"

struct sl_event_log;
struct sl_event_files;

enum {
  SL_EVENT_DURABLE = 1, /* fdatasync before its ticket counts as done */
  SL_EVENT_FINAL = 2,   /* a last word: may use the reserve, and is tried
                           although the log has failed */
  SL_EVENT_ROTATE = 4,  /* begins a new file with this line */

  SL_EVENT_QUEUE_BYTES = 1 << 20,
  SL_EVENT_RESERVE_BYTES = 64 << 10,
  SL_EVENT_LIMIT_MIN_BYTES = 1 << 20
};

struct sl_event_log_options {
  const char *directory;
  uint64_t limit_bytes; /* of both files together */
  bool resume;          /* continue the log that is there; else there must be
                           none */
  size_t queue_bytes;   /* 0: SL_EVENT_QUEUE_BYTES */
  int64_t stuck_ns;     /* silence that counts as stuck; 0: 10 s */
  /* Called when the state has changed. */
  void (*changed)(struct sl_event_log *log, void *user);
  void *user;
};

/* Opens the files; blocks, so for a job.  -EEXIST when there is a log and
 * `resume` is false.  The caller owns *out until it starts the log. */
int sl_event_files_prepare(const struct sl_event_log_options *options,
                           struct sl_event_files **out, struct sl_error *e);
void sl_event_files_free(struct sl_event_files *files);

/* Starts the thread.  Takes ownership of `files` in any case. */
int sl_event_log_start(struct sl_loop *loop,
                       const struct sl_event_log_options *options,
                       struct sl_event_files *files, struct sl_event_log **out,
                       struct sl_error *e);

/* Both at once. */
int sl_event_log_open(struct sl_loop *loop,
                      const struct sl_event_log_options *options,
                      struct sl_event_log **out, struct sl_error *e);

/* Queues one line (without the newline, and with none in it).  Tickets count
 * 1, 2, 3 … over lines and replaced files.  -EAGAIN when the queue is full:
 * again after `changed`; -EPIPE after sl_event_log_finish. */
int sl_event_log_append(struct sl_event_log *log, const char *line,
                        size_t length, unsigned flags, uint64_t *ticket);

/* Queues the replacement of a file (sl_file_replace), behind the lines that
 * are queued now.  Never refused for want of room: there are few of them. */
int sl_event_log_replace(struct sl_event_log *log, const char *path,
                         const void *content, size_t length, uint64_t *ticket);

/* True when a line of this length belongs into a new file.  Last words do
 * not: the limit leaves room for them. */
bool sl_event_log_wants_rotation(const struct sl_event_log *log, size_t length);

struct sl_event_log_state {
  uint64_t done_ticket; /* dealt with up to here: on disk if durable, or
                           lost when `failure` is set */
  size_t queued_bytes;
  bool has_room;
  bool is_closed;            /* the thread has ended */
  uint64_t lost_lines;       /* not written after the failure */
  struct sl_error failure;   /* the first one; code 0: none */
  struct sl_error replaced;  /* of the last replaced file; code 0: fine */
  struct sl_error last_word; /* of the last FINAL line; code 0: on disk */
  const char *stuck_what;    /* system call that does not return, or NULL */
  int64_t stuck_ns;          /* for how long */
};
void sl_event_log_state(struct sl_event_log *log,
                        struct sl_event_log_state *state);

/* What opening found: bytes of a torn last line that were cut off, and the
 * limit, which is lowered when the disk has less room than that. */
uint64_t sl_event_log_torn_bytes(const struct sl_event_log *log);
uint64_t sl_event_log_limit_bytes(const struct sl_event_log *log);

/* No more lines: the thread writes what is queued, syncs, removes the reserve
 * and ends; `changed` is called with is_closed set. */
void sl_event_log_finish(struct sl_event_log *log);

/* The owner's last word.  A thread that has not ended is abandoned: it goes
 * on by itself if its system call ever returns. */
void sl_event_log_release(struct sl_event_log *log);

#endif
