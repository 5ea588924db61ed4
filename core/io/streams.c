/* SPDX-License-Identifier: MIT */
#include "core/io/streams.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "core/io/workload.h"

/* How long a cancel may take to be seen at the start. */
#define LOOK_NS 20000000L

struct stream {
  const struct sl_workload_progress *progress;
  int64_t start_ns, end_ns;
  uint64_t bytes_before, operations_before; /* when the window opened */
  uint64_t bytes, operations;               /* when it closed */
};

struct sl_streams {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned holders, count, arrived, begun, ended;
  bool is_broken; /* one left */
  bool has_stonewall;
  atomic_bool stopped;
  struct stream streams[];
};

struct sl_streams *sl_streams_new(unsigned count, bool stonewall) {
  struct sl_streams *s = calloc(1, sizeof(*s) + count * sizeof(s->streams[0]));
  if (!s) return NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&s->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&s->lock, NULL);
  s->holders = 1;
  s->count = count;
  s->has_stonewall = stonewall;
  return s;
}

struct sl_streams *sl_streams_hold(struct sl_streams *s) {
  pthread_mutex_lock(&s->lock);
  s->holders++;
  pthread_mutex_unlock(&s->lock);
  return s;
}

void sl_streams_drop(struct sl_streams *s) {
  if (!s) return;
  pthread_mutex_lock(&s->lock);
  bool last = --s->holders == 0;
  pthread_mutex_unlock(&s->lock);
  if (!last) return;
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->changed);
  free(s);
}

unsigned sl_streams_count(const struct sl_streams *s) { return s->count; }

static void wait_a_little(struct sl_streams *s) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += LOOK_NS;
  if (until.tv_nsec >= 1000000000L) {
    until.tv_nsec -= 1000000000L;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&s->changed, &s->lock, &until);
}

int sl_streams_wait(struct sl_streams *s, unsigned index,
                    const struct sl_workload_progress *progress,
                    const struct sl_job *job) {
  pthread_mutex_lock(&s->lock);
  s->streams[index].progress = progress;
  if (++s->arrived == s->count) pthread_cond_broadcast(&s->changed);
  while (s->arrived < s->count && !s->is_broken) {
    if (job && sl_job_cancelled(job)) s->is_broken = true;
    if (!s->is_broken) wait_a_little(s);
  }
  bool together = s->arrived == s->count && !s->is_broken;
  if (!together) pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return together ? 0 : -ECANCELED;
}

void sl_streams_leave(struct sl_streams *s) {
  pthread_mutex_lock(&s->lock);
  s->is_broken = true;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

static uint64_t load(const _Atomic uint64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

void sl_streams_begin(struct sl_streams *s, unsigned index, int64_t now_ns) {
  pthread_mutex_lock(&s->lock);
  s->streams[index].start_ns = now_ns;
  if (++s->begun == s->count) {
    for (unsigned i = 0; i < s->count; i++) {
      struct stream *stream = &s->streams[i];
      if (stream->end_ns) continue; /* its progress may be gone */
      stream->bytes_before = load(&stream->progress->bytes);
      stream->operations_before = load(&stream->progress->operations);
    }
  }
  pthread_mutex_unlock(&s->lock);
}

void sl_streams_end(struct sl_streams *s, unsigned index, int64_t now_ns) {
  pthread_mutex_lock(&s->lock);
  s->streams[index].end_ns = now_ns;
  if (s->ended++ == 0) {
    for (unsigned i = 0; i < s->count; i++) {
      struct stream *stream = &s->streams[i];
      stream->bytes = load(&stream->progress->bytes);
      stream->operations = load(&stream->progress->operations);
    }
    if (s->has_stonewall) {
      atomic_store_explicit(&s->stopped, true, memory_order_relaxed);
    }
  }
  pthread_mutex_unlock(&s->lock);
}

bool sl_streams_stopped(const struct sl_streams *s) {
  return atomic_load_explicit(&s->stopped, memory_order_relaxed);
}

bool sl_streams_have_stonewall(const struct sl_streams *s) {
  return s->has_stonewall;
}

bool sl_streams_window(struct sl_streams *s, struct sl_window *window,
                       struct sl_window_share *shares) {
  pthread_mutex_lock(&s->lock);
  bool whole = s->begun == s->count && s->ended == s->count;
  *window = (struct sl_window){.end_ns = INT64_MAX};
  for (unsigned i = 0; i < s->count; i++) {
    const struct stream *stream = &s->streams[i];
    if (stream->start_ns > window->start_ns) {
      window->start_ns = stream->start_ns;
    }
    if (stream->end_ns < window->end_ns) window->end_ns = stream->end_ns;
  }
  bool overlap = whole && window->end_ns > window->start_ns;
  for (unsigned i = 0; i < s->count; i++) {
    const struct stream *stream = &s->streams[i];
    shares[i] = (struct sl_window_share){.start_ns = stream->start_ns,
                                         .end_ns = stream->end_ns};
    if (!overlap) continue;
    shares[i].bytes = stream->bytes - stream->bytes_before;
    shares[i].operations = stream->operations - stream->operations_before;
  }
  pthread_mutex_unlock(&s->lock);
  return whole;
}
