/* SPDX-License-Identifier: MIT */
#include "core/run/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/run/timer.h"
#include "test.h"

struct work {
  int fd;       /* read from this pipe, or -1 */
  bool is_deaf; /* goes on reading after a cancel */
  ssize_t result;
  int error;
  atomic_bool has_begun;
};

static atomic_int released;

static void run(struct sl_job *job, void *data) {
  struct work *w = data;
  char byte;
  atomic_store(&w->has_begun, true);
  do {
    sl_job_enter(job, "read", 4096);
    w->result = read(w->fd, &byte, 1);
    w->error = errno;
  } while (w->result < 0 && w->error == EINTR &&
           (w->is_deaf || !sl_job_cancelled(job)));
}

static void release(void *data) {
  free(data);
  atomic_fetch_add(&released, 1);
}

static const struct sl_job_class reader = {"reader", run, release};

static void count(struct sl_job *job, void *user) {
  (void)job;
  ++*(int *)user;
}

static struct work *new_work(int fd) {
  struct work *w = calloc(1, sizeof *w);
  w->fd = fd;
  return w;
}

static void turn_until(struct sl_loop *loop, const int *calls) {
  for (int i = 0; i < 1000 && !*calls; i++)
    sl_loop_turn(loop, 1);
}

static void wait_stuck(struct sl_job *job, struct sl_job_stuck *stuck) {
  do {
    poll(NULL, 0, 5);
    sl_job_stuck(job, stuck);
  } while (!stuck->what);
}

static void done_comes_once_on_the_loop(void) {
  int fds[2], calls = 0;
  struct sl_loop loop;
  struct sl_job *job;
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  CHECK_EQ(sl_loop_init(&loop, 0, NULL), 0);
  struct work *w = new_work(fds[0]);
  CHECK_EQ(sl_job_start(&loop, &reader, w, count, &calls, &job, NULL), 0);
  CHECK_EQ(loop.in_flight, 1);
  CHECK_EQ(write(fds[1], "x", 1), 1);
  turn_until(&loop, &calls);
  CHECK_EQ(calls, 1);
  CHECK(sl_job_is_done(job));
  CHECK_EQ(w->result, 1);
  int before = atomic_load(&released);
  sl_job_unref(job);
  CHECK_EQ(sl_loop_close(&loop), 0);
  CHECK_EQ(atomic_load(&released), before + 1);
  CHECK_EQ(loop.handles, 0);
  close(fds[0]);
  close(fds[1]);
}

static void cancel_wakes_a_blocking_read(void) {
  int fds[2], calls = 0;
  struct sl_loop loop;
  struct sl_job *job;
  struct sl_job_stuck stuck;
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  sl_loop_init(&loop, 0, NULL);
  struct work *w = new_work(fds[0]);
  sl_job_start(&loop, &reader, w, count, &calls, &job, NULL);
  wait_stuck(job, &stuck);
  CHECK_STR(stuck.what, "read");
  CHECK_EQ(stuck.offset, 4096);
  CHECK(stuck.thread_id > 0);
  poll(NULL, 0, 20); /* past the last instructions before the call */
  sl_job_cancel(job);
  turn_until(&loop, &calls);
  CHECK_EQ(calls, 1);
  CHECK_EQ(w->result, -1);
  CHECK_EQ(w->error, EINTR);
  sl_job_unref(job);
  sl_loop_close(&loop);
  close(fds[0]);
  close(fds[1]);
}

static void abandoned_job_is_left_behind(void) {
  int fds[2], calls = 0;
  struct sl_loop loop;
  struct sl_job *job;
  struct sl_job_stuck stuck;
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  sl_loop_init(&loop, 0, NULL);
  struct work *w = new_work(fds[0]);
  w->is_deaf = true;
  sl_job_start(&loop, &reader, w, count, &calls, &job, NULL);
  wait_stuck(job, &stuck);
  sl_job_cancel(job);
  sl_job_abandon(job);
  CHECK_EQ(sl_job_abandoned_running(), 1);
  CHECK_EQ(loop.in_flight, 0);
  sl_job_unref(job);
  CHECK_EQ(sl_loop_close(&loop), 0); /* without waiting for the thread */
  CHECK_EQ(calls, 0);
  CHECK_EQ(write(fds[1], "x", 1), 1); /* the device answers after all */
  for (int i = 0; i < 400 && sl_job_abandoned_running(); i++)
    poll(NULL, 0, 5);
  CHECK_EQ(sl_job_abandoned_running(), 0);
  close(fds[0]);
  close(fds[1]);
}

/* An end that nobody has taken in yet is not an abandoned job. */
static void abandon_after_the_end(void) {
  int fds[2], calls = 0;
  struct sl_loop loop;
  struct sl_job *job;
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  sl_loop_init(&loop, 0, NULL);
  CHECK_EQ(write(fds[1], "x", 1), 1);
  sl_job_start(&loop, &reader, new_work(fds[0]), count, &calls, &job, NULL);
  poll(NULL, 0, 100);
  sl_job_abandon(job);
  CHECK_EQ(sl_job_abandoned_running(), 0);
  sl_job_unref(job);
  sl_loop_close(&loop);
  CHECK_EQ(calls, 0);
  close(fds[0]);
  close(fds[1]);
}

static void note_time(struct sl_timer *timer, void *user) {
  (void)timer;
  *(int64_t *)user = sl_monotonic_ns();
}

static void timer_is_on_time_beside_a_blocked_job(void) {
  int fds[2], calls = 0;
  int64_t fired_ns = 0, begin_ns = sl_monotonic_ns();
  struct sl_loop loop;
  struct sl_job *job;
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  sl_loop_init(&loop, 0, NULL);
  sl_job_start(&loop, &reader, new_work(fds[0]), count, &calls, &job, NULL);
  sl_timer_start(&loop, 50000000, note_time, &fired_ns);
  while (!fired_ns)
    sl_loop_turn(&loop, 1);
  CHECK(fired_ns - begin_ns >= 50000000);
  CHECK(fired_ns - begin_ns < 1050000000);
  CHECK_EQ(calls, 0);
  sl_job_cancel(job);
  turn_until(&loop, &calls);
  sl_job_unref(job);
  sl_loop_close(&loop);
  close(fds[0]);
  close(fds[1]);
}

/* Virtual time stands still while a job runs. */
static void virtual_time_waits_for_jobs(void) {
  int fds[2], calls = 0;
  int64_t fired_ns = 0;
  struct sl_loop loop;
  struct sl_job *job;
  CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
  sl_loop_init(&loop, 1, NULL);
  sl_job_start(&loop, &reader, new_work(fds[0]), count, &calls, &job, NULL);
  sl_timer_start(&loop, INT64_C(172800000000000), note_time, &fired_ns);
  CHECK_EQ(write(fds[1], "x", 1), 1);
  turn_until(&loop, &calls);
  CHECK_EQ(sl_clock_now_ns(&loop.clock), 0);
  CHECK_EQ(fired_ns, 0);
  while (!fired_ns)
    sl_loop_turn(&loop, 1);
  CHECK_EQ(sl_clock_now_ns(&loop.clock), INT64_C(172800000000000));
  sl_job_unref(job);
  sl_loop_close(&loop);
  close(fds[0]);
  close(fds[1]);
}

int main(void) {
  RUN(done_comes_once_on_the_loop);
  RUN(cancel_wakes_a_blocking_read);
  RUN(abandoned_job_is_left_behind);
  RUN(abandon_after_the_end);
  RUN(timer_is_on_time_beside_a_blocked_job);
  RUN(virtual_time_waits_for_jobs);
  return TEST_DONE();
}
