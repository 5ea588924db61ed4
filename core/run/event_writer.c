/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/file.h"
#include "core/run/event_log_private.h"
#include "core/run/job.h"

/* The thread that owns the log.  It takes all that is queued, writes it, and
 * syncs once for all durable lines among it; what is dirty for a second is
 * synced without being asked. */

enum { SYNC_AFTER_NS = 1000000000 };

/* What the loop thread may ask about while we are in the kernel. */
static void enter(struct sl_event_log *log, const char *what) {
  pthread_mutex_lock(&log->lock);
  log->what = what;
  log->since_ns = sl_monotonic_ns();
  pthread_mutex_unlock(&log->lock);
}

static bool has_failed(struct sl_event_log *log) {
  return log->failure.code != 0; /* only this thread writes it */
}

static void fail(struct sl_event_log *log, const struct sl_error *e) {
  pthread_mutex_lock(&log->lock);
  if (!log->failure.code) log->failure = *e;
  pthread_mutex_unlock(&log->lock);
}

static bool is_full(int code) {
  return code == -ENOSPC || code == -EDQUOT || code == -EFBIG;
}

static int write_line(struct sl_event_log *log,
                      const struct sl_event_entry *entry, struct sl_error *e) {
  struct sl_event_files *files = &log->files;
  enter(log, "write");
  if (entry->flags & SL_EVENT_ROTATE) {
    int code = files->fd < 0 ? 0 : sl_event_files_rotate(files, e);
    if (code && files->fd < 0) return code;
    if (code) fail(log, e); /* the old file is still there: go on in it */
  }
  return sl_event_files_write(files, entry->text, entry->length, e);
}

/* A last word is written although the log has failed, into the reserve when
 * the disk is full. */
static void write_last_word(struct sl_event_log *log,
                            const struct sl_event_entry *entry) {
  struct sl_error e = {0};
  int code = write_line(log, entry, &e);
  if (is_full(code)) {
    fail(log, &e);
    sl_event_files_release_reserve(&log->files);
    code = write_line(log, entry, &e);
  }
  if (!code) {
    enter(log, "fdatasync");
    code = sl_event_files_sync(&log->files, &e);
  }
  if (!code) e.code = 0;
  if (code) fail(log, &e);
  pthread_mutex_lock(&log->lock);
  log->last_word = e;
  pthread_mutex_unlock(&log->lock);
}

static void replace_file(struct sl_event_log *log,
                         const struct sl_event_entry *entry) {
  struct sl_error e = {0};
  enter(log, "write");
  int code =
      sl_file_replace(entry->replace_path, entry->text, entry->length, &e);
  if (is_full(code)) {
    sl_event_files_release_reserve(&log->files);
    code = sl_file_replace(entry->replace_path, entry->text, entry->length, &e);
  }
  if (!code) e.code = 0;
  pthread_mutex_lock(&log->lock);
  log->replaced = e;
  pthread_mutex_unlock(&log->lock);
}

/* Returns true when the entry asks for a sync. */
static bool handle(struct sl_event_log *log,
                   const struct sl_event_entry *entry) {
  struct sl_error e;
  if (entry->replace_path) {
    replace_file(log, entry);
  } else if (entry->flags & SL_EVENT_FINAL) {
    write_last_word(log, entry);
  } else if (has_failed(log)) {
    pthread_mutex_lock(&log->lock);
    log->lost_lines++;
    pthread_mutex_unlock(&log->lock);
  } else if (write_line(log, entry, &e)) {
    fail(log, &e);
    pthread_mutex_lock(&log->lock);
    log->lost_lines++;
    pthread_mutex_unlock(&log->lock);
  } else {
    return entry->flags & SL_EVENT_DURABLE;
  }
  return false;
}

static void sync_files(struct sl_event_log *log) {
  struct sl_error e;
  if (has_failed(log)) return;
  enter(log, "fdatasync");
  if (sl_event_files_sync(&log->files, &e)) fail(log, &e);
}

/* Waits for lines, the end, or (when dirty) the time to sync.  Returns what
 * is queued; *stop when there will be no more. */
static struct sl_event_entry *take(struct sl_event_log *log, int64_t sync_at_ns,
                                   bool *stop) {
  pthread_mutex_lock(&log->lock);
  log->what = NULL;
  while (!log->first && !log->stop) {
    if (!sync_at_ns) {
      pthread_cond_wait(&log->wake, &log->lock);
      continue;
    }
    struct timespec until = {(time_t)(sync_at_ns / 1000000000),
                             (long)(sync_at_ns % 1000000000)};
    if (pthread_cond_timedwait(&log->wake, &log->lock, &until) == ETIMEDOUT)
      break;
  }
  struct sl_event_entry *entries = log->first;
  log->first = NULL;
  log->last = &log->first;
  *stop = log->stop && !entries;
  pthread_mutex_unlock(&log->lock);
  return entries;
}

static void tell(struct sl_event_log *log, uint64_t ticket, size_t bytes) {
  pthread_mutex_lock(&log->lock);
  if (ticket) log->done_ticket = ticket;
  log->queued_bytes -= bytes;
  if (!log->is_abandoned) uv_async_send(&log->async);
  pthread_mutex_unlock(&log->lock);
}

/* Returns true when something was left unsynced. */
static bool write_batch(struct sl_event_log *log,
                        struct sl_event_entry *entries, bool was_dirty) {
  bool sync = false, dirty = was_dirty;
  uint64_t ticket = 0;
  size_t bytes = 0;
  while (entries) {
    struct sl_event_entry *entry = entries;
    sync |= handle(log, entry);
    dirty |= !entry->replace_path;
    ticket = entry->ticket;
    bytes += entry->length;
    entries = entry->next;
    free(entry);
  }
  if (sync) {
    sync_files(log);
    dirty = false;
  }
  tell(log, ticket, bytes);
  return dirty;
}

void *sl_event_writer_main(void *arg) {
  struct sl_event_log *log = arg;
  int64_t sync_at_ns = 0; /* 0: clean */
  bool stop;
  for (;;) {
    struct sl_event_entry *entries = take(log, sync_at_ns, &stop);
    if (stop) break;
    bool dirty = sync_at_ns != 0;
    if (entries) dirty = write_batch(log, entries, dirty);
    int64_t now_ns = sl_monotonic_ns();
    if (dirty && sync_at_ns && now_ns >= sync_at_ns) {
      sync_files(log);
      dirty = false;
    }
    if (!dirty)
      sync_at_ns = 0;
    else if (!sync_at_ns)
      sync_at_ns = now_ns + SYNC_AFTER_NS;
  }
  if (sync_at_ns) sync_files(log);
  enter(log, "close");
  sl_event_files_release_reserve(&log->files);
  sl_event_files_close(&log->files);
  pthread_mutex_lock(&log->lock);
  log->what = NULL;
  log->is_ended = true;
  bool was_abandoned = log->is_abandoned;
  if (!was_abandoned) uv_async_send(&log->async);
  pthread_mutex_unlock(&log->lock);
  if (was_abandoned) sl_job_count_abandoned(-1);
  sl_event_log_let_go(log);
  return NULL;
}
