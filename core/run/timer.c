/* SPDX-License-Identifier: MIT */
#include "core/run/timer.h"

#include <stdlib.h>

#include "core/run/timer_private.h"

struct sl_timer {
  uv_timer_t uv; /* real time only */
  struct sl_loop *loop;
  int64_t due_ns;
  sl_timer_fn fire;
  void *user;
  struct sl_timer *next; /* virtual time only, soonest first */
};

static void free_timer(uv_handle_t *handle) { free(handle->data); }

static void close_timer(struct sl_timer *timer) {
  timer->loop->handles--;
  uv_close((uv_handle_t *)&timer->uv, free_timer);
}

static void arm(struct sl_timer *timer);

static void on_uv_timer(uv_timer_t *handle) {
  struct sl_timer *timer = handle->data;
  /* libuv rounds to milliseconds, so it can be a little early. */
  if (sl_clock_now_ns(&timer->loop->clock) < timer->due_ns) {
    arm(timer);
    return;
  }
  timer->fire(timer, timer->user);
  close_timer(timer);
}

static void arm(struct sl_timer *timer) {
  int64_t left_ns = timer->due_ns - sl_clock_now_ns(&timer->loop->clock);
  uint64_t ms = left_ns > 0 ? ((uint64_t)left_ns + 999999u) / 1000000u : 0;
  uv_update_time(&timer->loop->uv);
  uv_timer_start(&timer->uv, on_uv_timer, ms, 0);
}

static void insert_virtual(struct sl_loop *loop, struct sl_timer *timer) {
  struct sl_timer **at = &loop->timers;
  while (*at && (*at)->due_ns <= timer->due_ns)
    at = &(*at)->next;
  timer->next = *at;
  *at = timer;
}

struct sl_timer *sl_timer_start(struct sl_loop *loop, int64_t after_ns,
                                sl_timer_fn fire, void *user) {
  struct sl_timer *timer = calloc(1, sizeof *timer);
  if (!timer) return NULL;
  *timer = (struct sl_timer){
      .loop = loop,
      .due_ns = sl_deadline_ns(sl_clock_now_ns(&loop->clock), after_ns),
      .fire = fire,
      .user = user,
  };
  loop->handles++;
  if (loop->clock.is_virtual) {
    insert_virtual(loop, timer);
    return timer;
  }
  uv_timer_init(&loop->uv, &timer->uv);
  timer->uv.data = timer;
  arm(timer);
  return timer;
}

static void unlink_virtual(struct sl_timer *timer) {
  struct sl_timer **at = &timer->loop->timers;
  while (*at && *at != timer)
    at = &(*at)->next;
  if (*at) *at = timer->next;
}

void sl_timer_cancel(struct sl_timer *timer) {
  if (timer->loop->clock.is_virtual) {
    unlink_virtual(timer);
    timer->loop->handles--;
    free(timer);
    return;
  }
  close_timer(timer);
}

void sl_timer_fire_virtual(struct sl_loop *loop) {
  if (!loop->timers) return;
  int64_t due_ns = loop->timers->due_ns;
  sl_clock_advance_to(&loop->clock, due_ns);
  while (loop->timers && loop->timers->due_ns <= due_ns) {
    struct sl_timer *timer = loop->timers;
    loop->timers = timer->next;
    timer->fire(timer, timer->user);
    loop->handles--;
    free(timer);
  }
}

int sl_timer_close_leftover(uv_handle_t *handle) {
  if (handle->type != UV_TIMER) return 0;
  if (((uv_timer_t *)handle)->timer_cb != on_uv_timer) return 0;
  close_timer(handle->data);
  return 1;
}
