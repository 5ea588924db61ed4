/* SPDX-License-Identifier: MIT */
#include "core/run/stall.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/run/signals.h"

static const int64_t LOOK_NS = 100000000;
static const int64_t STOP_NS = 300000000;    /* busy for so long after a stop */
static const int64_t SHOUT_NS = 30000000000; /* the loop cannot report itself */

struct sl_stall {
  struct sl_loop *loop;
  struct sl_stall_listener listener;
  int64_t limit_ns;
  pthread_t thread;
  pthread_mutex_t lock; /* guards is_over */
  pthread_cond_t wake;
  bool is_over;
  int64_t asked_turn_ns; /* watch thread: the turn that was asked where */
  int64_t shout_at_ns;   /* watch thread: busy time of the next complaint */
};

static void shout(int64_t busy_ns) {
  char text[96];
  int length = snprintf(text, sizeof text,
                        "storlua: the loop has been busy for %lld s\n",
                        (long long)(busy_ns / 1000000000));
  if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0) errno = 0;
}

static void look(struct sl_stall *s) {
  int64_t turn_ns =
      atomic_load_explicit(&s->loop->turn_ns, memory_order_relaxed);
  int64_t busy_ns = turn_ns ? sl_monotonic_ns() - turn_ns : 0;
  if (sl_signals_stopped_by() && busy_ns > STOP_NS)
    s->listener.ask(SL_STALL_STOP, s->listener.user);
  if (busy_ns <= s->limit_ns) return;
  if (s->asked_turn_ns != turn_ns) {
    s->asked_turn_ns = turn_ns;
    s->shout_at_ns = SHOUT_NS;
    s->listener.ask(SL_STALL_WHERE, s->listener.user);
  } else if (busy_ns > s->shout_at_ns) {
    s->shout_at_ns = 2 * busy_ns;
    shout(busy_ns);
  }
}

static void *thread_main(void *arg) {
  struct sl_stall *s = arg;
  pthread_mutex_lock(&s->lock);
  while (!s->is_over) {
    int64_t until_ns = sl_monotonic_ns() + LOOK_NS;
    struct timespec until = {(time_t)(until_ns / 1000000000),
                             (long)(until_ns % 1000000000)};
    pthread_cond_timedwait(&s->wake, &s->lock, &until);
    if (!s->is_over) look(s);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

static int start_thread(struct sl_stall *s) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int status = pthread_create(&s->thread, NULL, thread_main, s);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return -status;
}

static void free_stall(struct sl_stall *s) {
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->wake);
  free(s);
}

int sl_stall_start(struct sl_loop *loop, int64_t limit_ns,
                   const struct sl_stall_listener *listener,
                   struct sl_error *e) {
  struct sl_stall *s = calloc(1, sizeof *s);
  if (!s) return sl_error_set(e, -ENOMEM, "start stall watch", NULL, -1);
  s->loop = loop;
  s->limit_ns = limit_ns;
  s->listener = *listener;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->wake, &monotonic);
  pthread_condattr_destroy(&monotonic);
  int status = start_thread(s);
  if (status < 0) {
    free_stall(s);
    return sl_error_set(e, status, "start stall watch", NULL, -1);
  }
  loop->stall = s;
  return 0;
}

void sl_stall_end(struct sl_loop *loop) {
  struct sl_stall *s = loop->stall;
  if (!s) return;
  loop->stall = NULL;
  pthread_mutex_lock(&s->lock);
  s->is_over = true;
  pthread_cond_signal(&s->wake);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  free_stall(s);
}

void sl_stall_turn_ended(struct sl_stall *s, int64_t busy_ns) {
  if (busy_ns > s->limit_ns) s->listener.stalled(busy_ns, s->listener.user);
}
