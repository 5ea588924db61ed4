/* SPDX-License-Identifier: MIT */
#include "core/run/event_log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/run/event_log_private.h"
#include "core/run/job.h"

enum { WATCH_MS = 1000 };
static const int64_t STUCK_NS = 10 * INT64_C(1000000000);

void sl_event_log_let_go(struct sl_event_log *log) {
  if (atomic_fetch_sub(&log->holders, 1) != 1) return;
  while (log->first) {
    struct sl_event_entry *entry = log->first;
    log->first = entry->next;
    free(entry);
  }
  pthread_cond_destroy(&log->wake);
  pthread_mutex_destroy(&log->lock);
  free(log);
}

static void on_closed(uv_handle_t *handle) {
  sl_event_log_let_go(handle->data);
}

static void close_handles(struct sl_event_log *log) {
  log->loop->handles--;
  uv_close((uv_handle_t *)&log->async, on_closed);
  uv_close((uv_handle_t *)&log->watch, on_closed);
}

static void set_pending(struct sl_event_log *log, bool pending);

/* While somebody waits: is the thread still moving? */
static void on_watch(uv_timer_t *timer) {
  struct sl_event_log *log = timer->data;
  struct sl_event_log_state state;
  sl_event_log_state(log, &state);
  bool stuck = state.stuck_what && state.stuck_ns >= log->stuck_limit_ns;
  bool tell = stuck != log->is_stuck;
  log->is_stuck = stuck;
  if (tell) log->changed(log, log->user);
}

static void set_pending(struct sl_event_log *log, bool pending) {
  if (pending == log->is_pending) return;
  log->is_pending = pending;
  if (pending) {
    log->loop->in_flight++;
    uv_ref((uv_handle_t *)&log->async);
    uv_timer_start(&log->watch, on_watch, WATCH_MS, WATCH_MS);
  } else {
    log->loop->in_flight--;
    uv_unref((uv_handle_t *)&log->async);
    uv_timer_stop(&log->watch);
    log->is_stuck = false;
  }
}

static void on_async(uv_async_t *handle) {
  struct sl_event_log *log = handle->data;
  struct sl_event_log_state state;
  sl_event_log_state(log, &state);
  if (log->is_joined) return;
  if (state.is_closed) {
    pthread_join(log->thread, NULL); /* its last act was this report */
    log->is_joined = true;
    set_pending(log, false);
    close_handles(log);
  } else if (!log->is_finishing) {
    set_pending(log, state.done_ticket < log->awaited_ticket);
  }
  log->changed(log, log->user);
}

static int init_sync(struct sl_event_log *log) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&log->lock, NULL);
  int status = pthread_cond_init(&log->wake, &attributes);
  pthread_condattr_destroy(&attributes);
  return -status;
}

static int start_thread(struct sl_event_log *log) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int status = pthread_create(&log->thread, NULL, sl_event_writer_main, log);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return -status;
}

int sl_event_log_start(struct sl_loop *loop,
                       const struct sl_event_log_options *options,
                       struct sl_event_files *files, struct sl_event_log **out,
                       struct sl_error *e) {
  struct sl_event_log *log = calloc(1, sizeof *log);
  if (!log) {
    sl_event_files_free(files);
    return sl_error_set(e, -ENOMEM, "malloc", options->directory, -1);
  }
  log->files = *files;
  free(files);
  log->loop = loop;
  log->changed = options->changed;
  log->user = options->user;
  log->queue_bytes =
      options->queue_bytes ? options->queue_bytes : SL_EVENT_QUEUE_BYTES;
  log->stuck_limit_ns = options->stuck_ns ? options->stuck_ns : STUCK_NS;
  log->last = &log->first;
  log->live_bytes = log->files.bytes;
  init_sync(log);
  uv_timer_init(&loop->uv, &log->watch);
  int code = uv_async_init(&loop->uv, &log->async, on_async);
  if (code) goto no_async;
  log->async.data = log->watch.data = log;
  uv_unref((uv_handle_t *)&log->async);
  loop->handles++;
  atomic_store(&log->holders, 4);
  code = start_thread(log);
  if (code) goto no_thread;
  *out = log;
  return 0;

no_thread:
  sl_event_files_release_reserve(&log->files);
  sl_event_files_close(&log->files);
  close_handles(log);
  sl_event_log_let_go(log); /* the thread's hold */
  sl_event_log_let_go(log); /* the owner's */
  return sl_error_set(e, code, "start event writer", options->directory, -1);
no_async:
  sl_event_files_release_reserve(&log->files);
  sl_event_files_close(&log->files);
  log->watch.data = log;
  atomic_store(&log->holders, 1);
  uv_close((uv_handle_t *)&log->watch, on_closed);
  return sl_error_set(e, code, "uv_async_init", options->directory, -1);
}

int sl_event_log_open(struct sl_loop *loop,
                      const struct sl_event_log_options *options,
                      struct sl_event_log **out, struct sl_error *e) {
  struct sl_event_files *files;
  int code = sl_event_files_prepare(options, &files, e);
  return code ? code : sl_event_log_start(loop, options, files, out, e);
}

/* Hands an entry to the thread. */
static uint64_t enqueue(struct sl_event_log *log, struct sl_event_entry *entry,
                        bool awaited) {
  entry->next = NULL;
  entry->ticket = ++log->last_ticket;
  uint64_t ticket = entry->ticket;
  pthread_mutex_lock(&log->lock);
  *log->last = entry;
  log->last = &entry->next;
  log->queued_bytes += entry->length;
  awaited |= log->queued_bytes >= log->queue_bytes;
  pthread_cond_signal(&log->wake);
  pthread_mutex_unlock(&log->lock);
  if (awaited) {
    log->awaited_ticket = ticket;
    set_pending(log, true);
  }
  return ticket;
}

int sl_event_log_append(struct sl_event_log *log, const char *line,
                        size_t length, unsigned flags, uint64_t *ticket) {
  if (log->is_finishing) return -EPIPE;
  if (memchr(line, '\n', length)) return -EINVAL;
  pthread_mutex_lock(&log->lock);
  bool full = log->queued_bytes >= log->queue_bytes;
  pthread_mutex_unlock(&log->lock);
  if (full && !(flags & SL_EVENT_FINAL)) return -EAGAIN;
  struct sl_event_entry *entry = malloc(sizeof *entry + length + 1);
  if (!entry) return -ENOMEM;
  *entry = (struct sl_event_entry){.flags = flags, .length = length};
  memcpy(entry->text, line, length);
  entry->text[length] = '\n';
  if (flags & SL_EVENT_ROTATE) log->live_bytes = 0;
  log->live_bytes += length + 1;
  *ticket = enqueue(log, entry, flags & (SL_EVENT_DURABLE | SL_EVENT_FINAL));
  return 0;
}

int sl_event_log_replace(struct sl_event_log *log, const char *path,
                         const void *content, size_t length, uint64_t *ticket) {
  if (log->is_finishing) return -EPIPE;
  size_t path_size = strlen(path) + 1;
  struct sl_event_entry *entry = malloc(sizeof *entry + length + path_size);
  if (!entry) return -ENOMEM;
  *entry = (struct sl_event_entry){.length = length,
                                   .replace_path = entry->text + length};
  memcpy(entry->text, content, length);
  memcpy(entry->text + length, path, path_size);
  *ticket = enqueue(log, entry, true);
  return 0;
}

bool sl_event_log_wants_rotation(const struct sl_event_log *log,
                                 size_t length) {
  return log->live_bytes > 0 &&
         log->live_bytes + length + 1 >
             (log->files.limit_bytes - SL_EVENT_RESERVE_BYTES) / 2;
}

void sl_event_log_state(struct sl_event_log *log,
                        struct sl_event_log_state *state) {
  pthread_mutex_lock(&log->lock);
  *state = (struct sl_event_log_state){
      .done_ticket = log->done_ticket,
      .queued_bytes = log->queued_bytes,
      .has_room = log->queued_bytes < log->queue_bytes,
      .is_closed = log->is_ended,
      .lost_lines = log->lost_lines,
      .failure = log->failure,
      .replaced = log->replaced,
      .last_word = log->last_word,
      .stuck_what = log->what,
      .stuck_ns = log->what ? sl_monotonic_ns() - log->since_ns : 0,
  };
  pthread_mutex_unlock(&log->lock);
}

uint64_t sl_event_log_torn_bytes(const struct sl_event_log *log) {
  return log->files.torn_bytes;
}

uint64_t sl_event_log_limit_bytes(const struct sl_event_log *log) {
  return log->files.limit_bytes;
}

static void stop_thread(struct sl_event_log *log, bool abandon) {
  pthread_mutex_lock(&log->lock);
  log->stop = true;
  log->is_abandoned |= abandon;
  if (abandon && !log->is_ended) sl_job_count_abandoned(+1);
  pthread_cond_signal(&log->wake);
  pthread_mutex_unlock(&log->lock);
}

void sl_event_log_finish(struct sl_event_log *log) {
  if (log->is_finishing) return;
  log->is_finishing = true;
  set_pending(log, true);
  stop_thread(log, false);
}

void sl_event_log_release(struct sl_event_log *log) {
  if (!log->is_joined) {
    stop_thread(log, true);
    pthread_detach(log->thread);
    set_pending(log, false);
    close_handles(log);
  }
  sl_event_log_let_go(log);
}
