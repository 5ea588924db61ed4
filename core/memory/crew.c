/* SPDX-License-Identifier: MIT */
#include "core/memory/crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "core/base/clock.h"

enum { SPINS = 2000, LOOK_NS = 10000000 };

struct sl_crew {
  unsigned count;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned task_number; /* counts up with each task */
  unsigned busy;        /* members that have not ended the task */
  bool leaving;
  void (*task)(struct sl_member *member, void *data);
  void *data;
  atomic_uint ready; /* at the start line */
  atomic_bool stop;
  struct thread {
    struct sl_member member;
    struct sl_crew *crew;
    pthread_t thread;
  } threads[];
};

unsigned sl_crew_cpus(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  const unsigned count = (unsigned)CPU_COUNT(&allowed);
  return count < SL_CREW_MAX ? count : SL_CREW_MAX;
}

static bool is_among(int cpu, const int *cpus, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (cpus[i] == cpu) return true;
  }
  return false;
}

static int refuse_cpu(int cpu, const char *why, struct sl_error *e) {
  sl_error_set(e, -EINVAL, "cpus", NULL, -1);
  sl_error_hint(e, "CPU %d %s", cpu, why);
  return -EINVAL;
}

int sl_crew_choose(unsigned count, const int *asked, unsigned asked_count,
                   int *cpus, struct sl_error *e) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return sl_error_set(e, -errno, "sched_getaffinity", NULL, -1);
  unsigned found = 0;
  for (unsigned cpu = 0; !asked && cpu < CPU_SETSIZE && found < count; cpu++) {
    if (CPU_ISSET(cpu, &allowed)) cpus[found++] = (int)cpu;
  }
  for (unsigned i = 0; asked && i < asked_count && found < count; i++) {
    if (asked[i] < 0 || asked[i] >= CPU_SETSIZE ||
        !CPU_ISSET((unsigned)asked[i], &allowed))
      return refuse_cpu(asked[i],
                        "is not there, or this process may not use it", e);
    if (is_among(asked[i], cpus, found))
      return refuse_cpu(asked[i], "is named twice", e);
    cpus[found++] = asked[i];
  }
  if (found == count) return 0;
  sl_error_set(e, -EINVAL, "threads", NULL, -1);
  sl_error_hint(e, "%u threads were asked for and there are %u CPUs for them",
                count, found);
  return -EINVAL;
}

/* All members leave together: the last one to arrive lets the others go. */
static void start_line(struct sl_crew *crew) {
  atomic_fetch_add(&crew->ready, 1);
  for (unsigned spins = 0; atomic_load(&crew->ready) < crew->count; spins++) {
    if (spins > SPINS) sched_yield();
  }
}

static void look_at_faults(struct sl_member *m, int64_t sign) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  m->faults += sign * (int64_t)(usage.ru_minflt + usage.ru_majflt);
  m->switches += sign * (int64_t)usage.ru_nivcsw;
}

static int64_t cpu_time_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void do_task(struct thread *t) {
  struct sl_crew *crew = t->crew;
  struct sl_member *m = &t->member;
  m->faults = m->switches = 0;
  start_line(crew);
  look_at_faults(m, -1);
  m->off_cpu_ns = cpu_time_ns();
  m->begin_ns = sl_monotonic_ns();
  crew->task(m, crew->data);
  m->end_ns = sl_monotonic_ns();
  m->off_cpu_ns += m->end_ns - m->begin_ns - cpu_time_ns();
  look_at_faults(m, 1);
}

static void pin(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((unsigned)cpu, &set);
  /* sl_crew_choose has asked; a CPU that went offline since is no error. */
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *run_member(void *data) {
  struct thread *t = data;
  struct sl_crew *crew = t->crew;
  pin(t->member.cpu);
  unsigned seen = 0;
  pthread_mutex_lock(&crew->lock);
  for (;;) {
    while (crew->task_number == seen && !crew->leaving)
      pthread_cond_wait(&crew->changed, &crew->lock);
    if (crew->leaving) break;
    seen = crew->task_number;
    pthread_mutex_unlock(&crew->lock);
    do_task(t);
    pthread_mutex_lock(&crew->lock);
    if (--crew->busy == 0) pthread_cond_broadcast(&crew->changed);
  }
  pthread_mutex_unlock(&crew->lock);
  return NULL;
}

static void init_condition(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

int sl_crew_start(unsigned count, const int *cpus, struct sl_crew **out,
                  struct sl_error *e) {
  struct sl_crew *crew =
      calloc(1, sizeof *crew + count * sizeof crew->threads[0]);
  if (!crew) return sl_error_set(e, -ENOMEM, "threads", NULL, -1);
  pthread_mutex_init(&crew->lock, NULL);
  init_condition(&crew->changed);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int code = 0;
  while (crew->count < count && code == 0) {
    struct thread *t = &crew->threads[crew->count];
    t->crew = crew;
    t->member.index = crew->count;
    t->member.cpu = cpus[crew->count];
    t->member.stop = &crew->stop;
    code = -pthread_create(&t->thread, NULL, run_member, t);
    if (code == 0) crew->count++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (code != 0) {
    sl_crew_end(crew);
    return sl_error_set(e, code, "pthread_create", NULL, -1);
  }
  *out = crew;
  return 0;
}

static bool wait_for_all(struct sl_crew *crew) {
  struct timespec until;
  int64_t at = sl_monotonic_ns() + LOOK_NS;
  until.tv_sec = (time_t)(at / 1000000000);
  until.tv_nsec = (long)(at % 1000000000);
  pthread_cond_timedwait(&crew->changed, &crew->lock, &until);
  return crew->busy == 0;
}

int sl_crew_run(struct sl_crew *crew, struct sl_job *job, int64_t deadline_ns,
                void (*task)(struct sl_member *member, void *data),
                void *data) {
  int code = 0;
  pthread_mutex_lock(&crew->lock);
  crew->task = task;
  crew->data = data;
  crew->busy = crew->count;
  atomic_store(&crew->ready, 0);
  crew->task_number++;
  pthread_cond_broadcast(&crew->changed);
  do {
    if (code == 0 && job && sl_job_cancelled(job)) code = -ECANCELED;
    if (code == 0 && deadline_ns && sl_monotonic_ns() >= deadline_ns)
      code = -ETIMEDOUT;
    if (code != 0) atomic_store(&crew->stop, true);
  } while (!wait_for_all(crew));
  pthread_mutex_unlock(&crew->lock);
  return code;
}

unsigned sl_crew_count(const struct sl_crew *crew) { return crew->count; }

const struct sl_member *sl_crew_member(const struct sl_crew *crew,
                                       unsigned index) {
  return &crew->threads[index].member;
}

int64_t sl_crew_elapsed_ns(const struct sl_crew *crew) {
  int64_t begin = INT64_MAX, end = 0;
  for (unsigned i = 0; i < crew->count; i++) {
    const struct sl_member *m = &crew->threads[i].member;
    if (m->begin_ns < begin) begin = m->begin_ns;
    if (m->end_ns > end) end = m->end_ns;
  }
  return end - begin;
}

void sl_crew_end(struct sl_crew *crew) {
  if (!crew) return;
  pthread_mutex_lock(&crew->lock);
  crew->leaving = true;
  pthread_cond_broadcast(&crew->changed);
  pthread_mutex_unlock(&crew->lock);
  for (unsigned i = 0; i < crew->count; i++)
    pthread_join(crew->threads[i].thread, NULL);
  pthread_cond_destroy(&crew->changed);
  pthread_mutex_destroy(&crew->lock);
  free(crew);
}
