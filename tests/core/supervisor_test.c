/* SPDX-License-Identifier: MIT */
/* Each test forks a program that starts a supervisor, and watches both from
 * outside.  The host's process id comes over a pipe. */
#include "core/run/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/run/job.h"
#include "core/run/signals.h"
#include "test.h"

struct program {
  pid_t supervisor, host, group;
  int err_fd; /* what both print to stderr */
};

static int tell_fd; /* in the program: to the test */

static void tell(pid_t pid) {
  if (write(tell_fd, &pid, sizeof pid) != (ssize_t)sizeof pid) _exit(99);
}

/* A child in a group of its own that would outlive everybody. */
static pid_t start_group(void) {
  pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    for (;;)
      pause();
  }
  setpgid(pid, pid);
  sl_supervisor_add_group(pid);
  return pid;
}

static struct program start(void (*host_main)(void)) {
  int told[2], err[2];
  CHECK_EQ(pipe2(told, O_CLOEXEC), 0);
  CHECK_EQ(pipe2(err, O_CLOEXEC), 0);
  fflush(stdout);
  struct program p = {.err_fd = err[0]};
  p.supervisor = fork();
  if (p.supervisor == 0) {
    dup2(err[1], STDERR_FILENO);
    tell_fd = told[1];
    if (sl_supervisor_start(NULL)) _exit(98);
    tell(getpid());
    host_main();
    _exit(97);
  }
  close(told[1]);
  close(err[1]);
  CHECK_EQ(read(told[0], &p.host, sizeof p.host), sizeof p.host);
  CHECK_EQ(read(told[0], &p.group, sizeof p.group), sizeof p.group);
  close(told[0]);
  return p;
}

/* The exit code as a shell sees it, and stderr. */
static int finish(struct program *p, char *text, size_t size) {
  int status = 0;
  while (waitpid(p->supervisor, &status, 0) < 0 && errno == EINTR)
    continue;
  /* A group that was left behind would keep the pipe open. */
  fcntl(p->err_fd, F_SETFL, O_NONBLOCK);
  ssize_t n = read(p->err_fd, text, size - 1);
  text[n > 0 ? n : 0] = '\0';
  close(p->err_fd);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Orphans come to this test, which is a subreaper. */
static bool ends_within(pid_t pid, int ms) {
  for (int i = 0; i < ms / 10; i++) {
    if (waitpid(pid, NULL, WNOHANG) == pid) return true;
    if (kill(pid, 0) && errno == ESRCH) return true;
    poll(NULL, 0, 10);
  }
  return false;
}

static void host_finishes(void) {
  tell(start_group());
  sl_supervisor_finish(42, false);
  _exit(42);
}

static void code_passes_and_groups_end(void) {
  char text[256];
  struct program p = start(host_finishes);
  CHECK_EQ(finish(&p, text, sizeof text), 42);
  CHECK_STR(text, "");
  CHECK(ends_within(p.group, 2000));
}

static void host_waits(void) {
  tell(start_group());
  for (;;)
    pause();
}

static void killed_host_is_reported(void) {
  char text[256];
  struct program p = start(host_waits);
  kill(p.host, SIGKILL);
  CHECK_EQ(finish(&p, text, sizeof text), 128 + SIGKILL);
  CHECK_STR(text,
            "storlua: the host died (SIGKILL); 1 process group "
            "ended\n");
  CHECK(ends_within(p.group, 2000));
}

static void host_exits_silently(void) {
  tell(0);
  _exit(0);
}

static void end_without_status_is_no_success(void) {
  char text[256];
  struct program p = start(host_exits_silently);
  CHECK_EQ(finish(&p, text, sizeof text), 3);
  CHECK_STR(text, "storlua: the host ended without a status (exit code 0)\n");
}

static void killed_supervisor_ends_host(void) {
  char text[256];
  struct program p = start(host_waits);
  /* The host of this test does not handle SIGTERM, but it does get it. */
  kill(p.supervisor, SIGKILL);
  CHECK_EQ(finish(&p, text, sizeof text), 128 + SIGKILL);
  CHECK(!ends_within(p.host, 50)); /* blocked until sl_signals_start */
  kill(p.host, SIGKILL);
  CHECK(ends_within(p.host, 2000));
  kill(p.group, SIGKILL);
  CHECK(ends_within(p.group, 2000));
}

static void give_up_from_host(void) {
  tell(start_group());
  sl_supervisor_give_up(SIGTERM);
}

static void giving_up_kills_groups(void) {
  char text[256];
  struct program p = start(give_up_from_host);
  CHECK_EQ(finish(&p, text, sizeof text), 128 + SIGTERM);
  CHECK(strstr(text, "second SIGTERM"));
  CHECK(ends_within(p.group, 2000));
}

/* The host's main thread does not come to handle anything: as in a call to a
 * dead device. */
static void second_request_ends_a_deaf_host(void) {
  char text[256];
  struct program p = start(host_waits);
  kill(p.supervisor, SIGINT);
  poll(NULL, 0, 150);
  kill(p.supervisor, SIGINT);
  int64_t begin_ns = sl_monotonic_ns();
  CHECK_EQ(finish(&p, text, sizeof text), 128 + SIGINT);
  CHECK(sl_monotonic_ns() - begin_ns < 2000000000);
  CHECK(ends_within(p.host, 2000));
  CHECK(ends_within(p.group, 2000));
}

static void hang(struct sl_job *job, void *data) {
  (void)job;
  (void)data;
  for (;;)
    pause(); /* does not look at its cancel flag */
}

static void ignore(struct sl_job *job, void *user) {
  (void)job;
  (void)user;
}

static void stop_nothing(int signal, void *user) {
  (void)signal;
  (void)user;
}

static void host_abandons(void) {
  static const struct sl_job_class class = {"hang", hang, NULL};
  static struct sl_loop loop;
  struct sl_signals_listener listener = {stop_nothing, NULL, NULL};
  struct sl_job *job;
  sl_loop_init(&loop, 0, NULL);
  sl_signals_start(&loop, &listener, NULL);
  sl_job_start(&loop, &class, NULL, ignore, NULL, &job, NULL);
  tell(0);
  sl_job_cancel(job);
  sl_job_abandon(job);
  if (sl_job_abandoned_running() != 1) _exit(96);
  sl_supervisor_finish(7, true);
  sl_supervisor_leave();
  for (;;)
    pause(); /* a process that cannot end */
}

static void status_leaves_before_a_stuck_host(void) {
  char text[256];
  struct program p = start(host_abandons);
  int64_t begin_ns = sl_monotonic_ns();
  CHECK_EQ(finish(&p, text, sizeof text), 7);
  CHECK(sl_monotonic_ns() - begin_ns < 1000000000);
  CHECK(!ends_within(p.host, 20));
  kill(p.host, SIGKILL);
  CHECK(ends_within(p.host, 2000));
}

int main(void) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  RUN(code_passes_and_groups_end);
  RUN(killed_host_is_reported);
  RUN(end_without_status_is_no_success);
  RUN(killed_supervisor_ends_host);
  RUN(giving_up_kills_groups);
  RUN(second_request_ends_a_deaf_host);
  RUN(status_leaves_before_a_stuck_host);
  return TEST_DONE();
}
