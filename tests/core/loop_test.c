/* SPDX-License-Identifier: MIT */
/* The loop, its timers and the stall watch. */
#include "core/run/loop.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "core/run/signals.h"
#include "core/run/stall.h"
#include "core/run/timer.h"
#include "test.h"

static const int64_t MS = 1000000;

static void note_time(struct sl_timer *timer, void *user) {
  (void)timer;
  *(int64_t *)user = sl_monotonic_ns();
}

static void busy_ms(int64_t ms) {
  int64_t end_ns = sl_monotonic_ns() + ms * MS;
  while (sl_monotonic_ns() < end_ns)
    continue;
}

/* libuv counts from its cached start of turn; ours from the arming call. */
static void timer_after_a_busy_stretch_is_not_early(void) {
  struct sl_loop loop;
  int64_t fired_ns = 0;
  CHECK_EQ(sl_loop_init(&loop, 0, NULL), 0);
  sl_loop_turn(&loop, 0);
  busy_ms(60);
  int64_t armed_ns = sl_monotonic_ns();
  sl_timer_start(&loop, 40 * MS, note_time, &fired_ns);
  while (!fired_ns)
    sl_loop_turn(&loop, 1);
  CHECK(fired_ns - armed_ns >= 40 * MS);
  CHECK_EQ(sl_loop_close(&loop), 0);
  CHECK_EQ(loop.handles, 0);
}

static void cancelled_timers_are_freed(void) {
  struct sl_loop loop;
  int64_t fired_ns = 0;
  sl_loop_init(&loop, 0, NULL);
  for (int i = 0; i < 100000; i++) {
    sl_timer_cancel(sl_timer_start(&loop, MS, note_time, &fired_ns));
    if (i % 100 == 0) sl_loop_turn(&loop, 0);
  }
  CHECK_EQ(loop.handles, 0);
  CHECK_EQ(fired_ns, 0);
  CHECK_EQ(sl_loop_turn(&loop, 0), 0);
  CHECK_EQ(sl_loop_close(&loop), 0);
}

static void close_counts_what_was_left(void) {
  struct sl_loop loop;
  int64_t fired_ns = 0;
  sl_loop_init(&loop, 0, NULL);
  sl_timer_start(&loop, 1000 * MS, note_time, &fired_ns);
  CHECK_EQ(sl_loop_turn(&loop, 0), 1);
  CHECK_EQ(sl_loop_close(&loop), 1);
}

static void virtual_timers_fire_in_order(void) {
  struct sl_loop loop;
  int64_t first_ns = 0, second_ns = 0;
  sl_loop_init(&loop, 1, NULL);
  sl_timer_start(&loop, 172800000 * MS, note_time, &second_ns);
  sl_timer_start(&loop, 1000 * MS, note_time, &first_ns);
  CHECK_EQ(sl_loop_turn(&loop, 1), 1);
  CHECK(first_ns && !second_ns);
  CHECK_EQ(sl_clock_now_ns(&loop.clock), 1000 * MS);
  CHECK_EQ(sl_loop_turn(&loop, 1), 0);
  CHECK(second_ns);
  CHECK_EQ(sl_clock_now_ns(&loop.clock), 172800000 * MS);
  sl_loop_close(&loop);
}

struct stalls {
  struct sl_loop *loop;
  _Atomic int asked, interrupts;
  _Atomic int is_over;
  int64_t busy_ns;
  int reports, stops;
};

/* As the supervisor does. */
static void *watch(void *user) {
  struct stalls *s = user;
  struct sl_stall_watch own = {0};
  while (!atomic_load(&s->is_over)) {
    if (sl_stall_look(&own)) sl_signals_interrupt(getpid());
    poll(NULL, 0, SL_STALL_LOOK_MS);
  }
  return NULL;
}

static void on_stalled(int64_t busy_ns, void *user) {
  struct stalls *s = user;
  s->busy_ns = busy_ns;
  s->reports++;
}

static void on_stop(int signal, void *user) {
  struct stalls *s = user;
  if (signal == SIGTERM) s->stops++;
}

static void on_interrupt(void *user) {
  struct stalls *s = user;
  atomic_fetch_or(&s->asked, sl_stall_asked(s->loop));
  atomic_fetch_add(&s->interrupts, 1);
}

static void stall_and_stop_are_noticed(void) {
  struct sl_loop loop;
  struct stalls s = {.loop = &loop};
  struct sl_stall_listener stall = {on_stalled, &s};
  struct sl_signals_listener signals = {on_stop, on_interrupt, &s};
  pthread_t watcher;
  sl_loop_init(&loop, 0, NULL);
  CHECK_EQ(sl_signals_start(&loop, &signals, NULL), 0);
  CHECK_EQ(sl_stall_start(&loop, 200 * MS, &stall, NULL), 0);
  CHECK_EQ(pthread_create(&watcher, NULL, watch, &s), 0);
  sl_loop_turn(&loop, 0);
  busy_ms(50);
  sl_loop_turn(&loop, 0);
  CHECK_EQ(s.reports, 0);
  busy_ms(700);
  sl_loop_turn(&loop, 0);
  sl_loop_turn(&loop, 0);
  CHECK_EQ(s.reports, 1);
  CHECK(s.busy_ns >= 700 * MS);
  CHECK_EQ(atomic_load(&s.asked), SL_STALL_WHERE);
  CHECK_EQ(atomic_load(&s.interrupts), 1);
  /* A stop that the loop does not come to see is asked for again. */
  kill(getpid(), SIGTERM);
  busy_ms(700);
  CHECK(atomic_load(&s.asked) & SL_STALL_STOP);
  CHECK_EQ(s.stops, 0);
  sl_loop_turn(&loop, 0);
  CHECK_EQ(s.stops, 1);
  CHECK_EQ(sl_signals_stopped_by(), SIGTERM);
  atomic_store(&s.is_over, 1);
  pthread_join(watcher, NULL);
  sl_stall_end(&loop);
  sl_signals_end();
  CHECK_EQ(sl_loop_close(&loop), 0);
}

int main(void) {
  RUN(timer_after_a_busy_stretch_is_not_early);
  RUN(cancelled_timers_are_freed);
  RUN(close_counts_what_was_left);
  RUN(virtual_timers_fire_in_order);
  RUN(stall_and_stop_are_noticed);
  return TEST_DONE();
}
