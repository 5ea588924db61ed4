/* SPDX-License-Identifier: MIT */
#include "core/run/job.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Three parties hold a job: its owner, its thread, and the libuv handle
 * through which the thread reports.  It is freed when all have let go.  What
 * an abandoned job works on stays valid until its thread comes back. */
struct sl_job {
  uv_async_t async;
  struct sl_loop *loop;
  const struct sl_job_class *class;
  void *data;
  void (*done)(struct sl_job *job, void *user);
  void *user;
  pthread_t thread;
  atomic_uint holders;
  bool is_done;      /* loop thread */
  bool is_abandoned; /* loop thread writes under `lock` */
  bool has_returned; /* job's thread writes under `lock` */

  pthread_mutex_t lock; /* between abandoning and the thread's last report */
  atomic_bool cancelled;
  atomic_int thread_id;
  _Atomic(const char *) what;
  _Atomic int64_t offset;
  _Atomic int64_t since_ns;
};

/* Delivered to a job's thread to end a blocking call; default-ignored, so a
 * stray one does no harm. */
enum { WAKE_SIGNAL = SIGURG };

/* Of the process, as it is the process that cannot end. */
static atomic_uint abandoned_running;

static void on_wake(int number) { (void)number; }

static void install_wake_signal(void) {
  struct sigaction action = {.sa_handler = on_wake}; /* no SA_RESTART */
  sigaction(WAKE_SIGNAL, &action, NULL);
}

static void let_go(struct sl_job *job) {
  if (atomic_fetch_sub(&job->holders, 1) > 1) return;
  pthread_mutex_destroy(&job->lock);
  if (job->class->release) job->class->release(job->data);
  free(job);
}

static void on_closed(uv_handle_t *handle) { let_go(handle->data); }

static void close_handle(struct sl_job *job) {
  job->loop->handles--;
  job->loop->in_flight--;
  uv_close((uv_handle_t *)&job->async, on_closed);
}

static void on_async(uv_async_t *handle) {
  struct sl_job *job = handle->data;
  if (job->is_done || job->is_abandoned) return;
  /* The thread's last act was the report, so this returns at once. */
  pthread_join(job->thread, NULL);
  job->is_done = true;
  close_handle(job);
  job->loop->deliveries++;
  job->done(job, job->user);
  let_go(job); /* the thread's hold */
}

static void *thread_main(void *arg) {
  struct sl_job *job = arg;
  atomic_store(&job->thread_id, (int)syscall(SYS_gettid));
  job->class->run(job, job->data);
  sl_job_enter(job, NULL, -1);
  pthread_mutex_lock(&job->lock);
  job->has_returned = true;
  bool is_abandoned = job->is_abandoned;
  if (!is_abandoned) uv_async_send(&job->async);
  pthread_mutex_unlock(&job->lock);
  if (is_abandoned) {
    let_go(job);
    atomic_fetch_sub(&abandoned_running, 1);
  }
  return NULL;
}

static int start_thread(struct sl_job *job) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, WAKE_SIGNAL);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int status = pthread_create(&job->thread, NULL, thread_main, job);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return -status;
}

int sl_job_start(struct sl_loop *loop, const struct sl_job_class *class,
                 void *data, void (*done)(struct sl_job *job, void *user),
                 void *user, struct sl_job **out, struct sl_error *e) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install_wake_signal);
  struct sl_job *job = calloc(1, sizeof *job);
  if (!job) return sl_error_set(e, -ENOMEM, "start job", class->name, -1);
  job->loop = loop;
  job->class = class;
  job->data = data;
  job->done = done;
  job->user = user;
  pthread_mutex_init(&job->lock, NULL);
  int status = uv_async_init(&loop->uv, &job->async, on_async);
  if (status < 0) {
    pthread_mutex_destroy(&job->lock);
    free(job);
    return sl_error_set(e, status, "start job", class->name, -1);
  }
  job->async.data = job;
  loop->handles++;
  loop->in_flight++;
  atomic_store(&job->holders, 3);
  *out = job; /* the thread may look at its owner's copy at once */
  status = start_thread(job);
  if (status < 0) {
    static const struct sl_job_class nothing = {"nothing", NULL, NULL};
    *out = NULL;
    job->class = &nothing; /* the data stays the caller's */
    atomic_store(&job->holders, 1);
    close_handle(job);
    return sl_error_set(e, status, "start job thread", class->name, -1);
  }
  return 0;
}

void *sl_job_data(struct sl_job *job) { return job->data; }

const char *sl_job_name(const struct sl_job *job) { return job->class->name; }

bool sl_job_is_done(const struct sl_job *job) { return job->is_done; }

__attribute__((hot)) bool sl_job_cancelled(const struct sl_job *job) {
  return atomic_load_explicit(&job->cancelled, memory_order_relaxed);
}

void sl_job_cancel(struct sl_job *job) {
  if (job->is_done || job->is_abandoned) return;
  atomic_store(&job->cancelled, true);
  pthread_kill(job->thread, WAKE_SIGNAL);
}

void sl_job_abandon(struct sl_job *job) {
  if (job->is_done || job->is_abandoned) return;
  atomic_store(&job->cancelled, true);
  pthread_mutex_lock(&job->lock);
  job->is_abandoned = true;
  bool has_returned = job->has_returned;
  if (!has_returned) atomic_fetch_add(&abandoned_running, 1);
  pthread_mutex_unlock(&job->lock);
  pthread_detach(job->thread);
  close_handle(job);
  if (has_returned) let_go(job); /* the thread's hold */
}

void sl_job_count_abandoned(int change) {
  atomic_fetch_add(&abandoned_running, (unsigned)change);
}

unsigned sl_job_abandoned_running(void) {
  return atomic_load(&abandoned_running);
}

void sl_job_unref(struct sl_job *job) { let_go(job); }

__attribute__((hot)) bool sl_job_enter_at(struct sl_job *job, const char *what,
                                          int64_t offset, int64_t now_ns) {
  atomic_store_explicit(&job->offset, offset, memory_order_relaxed);
  atomic_store_explicit(&job->since_ns, now_ns, memory_order_relaxed);
  atomic_store_explicit(&job->what, what, memory_order_release);
  return sl_job_cancelled(job);
}

void sl_job_enter(struct sl_job *job, const char *what, int64_t offset) {
  if (job) sl_job_enter_at(job, what, offset, sl_monotonic_ns());
}

/* /proc/self/task/<tid>/<file>, without the trailing newline. */
static bool read_task_file(int thread_id, const char *file, char *text,
                           size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread_id, file);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, text, size - 1);
  close(fd);
  if (n <= 0) return false;
  while (n > 0 && text[n - 1] == '\n')
    n--;
  text[n] = '\0';
  return n > 0 && strcmp(text, "0") != 0;
}

void sl_job_stuck(struct sl_job *job, struct sl_job_stuck *stuck) {
  *stuck = (struct sl_job_stuck){
      .what = atomic_load_explicit(&job->what, memory_order_acquire),
      .offset = atomic_load_explicit(&job->offset, memory_order_relaxed),
      .since_ns = atomic_load_explicit(&job->since_ns, memory_order_relaxed),
      .thread_id = atomic_load(&job->thread_id),
  };
  char *text = stuck->kernel_stack;
  if (!read_task_file(stuck->thread_id, "stack", text,
                      sizeof stuck->kernel_stack) &&
      !read_task_file(stuck->thread_id, "wchan", text,
                      sizeof stuck->kernel_stack))
    text[0] = '\0';
}
