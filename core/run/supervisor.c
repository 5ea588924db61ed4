/* SPDX-License-Identifier: MIT */
#include "core/run/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/run/pulse.h"
#include "core/run/supervisor_private.h"

enum { MAX_GROUPS = 1024 };

static _Atomic pid_t groups[MAX_GROUPS];
static pid_t supervisor_pid;
static int report_fd = -1;

void sl_groups_add(pid_t group) {
  for (unsigned i = 0; i < MAX_GROUPS; i++) {
    pid_t none = 0;
    if (atomic_compare_exchange_strong(&groups[i], &none, group)) return;
  }
}

void sl_groups_remove(pid_t group) {
  for (unsigned i = 0; i < MAX_GROUPS; i++) {
    pid_t wanted = group;
    if (atomic_compare_exchange_strong(&groups[i], &wanted, 0)) return;
  }
}

unsigned sl_groups_kill(int signal) {
  unsigned alive = 0;
  for (unsigned i = 0; i < MAX_GROUPS; i++) {
    pid_t group = atomic_load(&groups[i]);
    if (group > 0 && kill(-group, signal) == 0) alive++;
  }
  return alive;
}

/* Eight bytes into a pipe are written whole or not at all. */
static void report(enum sl_message_kind kind, int value) {
  struct sl_message message = {(int32_t)kind, value};
  if (report_fd < 0) return;
  while (write(report_fd, &message, sizeof message) < 0 && errno == EINTR)
    continue;
}

/* What the supervisor passes on, or acts upon. */
static void fill_watched(sigset_t *set) {
  static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                  SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};
  sigemptyset(set);
  for (unsigned i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
    struct sigaction now;
    sigaction(passed_on[i], NULL, &now);
    /* Under nohup a hang-up concerns neither process. */
    bool may_ignore = passed_on[i] != SIGINT && passed_on[i] != SIGTERM;
    if (may_ignore && now.sa_handler == SIG_IGN) continue;
    sigaddset(set, passed_on[i]);
  }
  sigaddset(set, SIGCHLD);
}

/* In the child: back to normal, but for the signals that end a run. */
static void become_host(const sigset_t *before) {
  sigset_t mask = *before;
  sigaddset(&mask, SIGINT);
  sigaddset(&mask, SIGTERM);
  sigaddset(&mask, SIGHUP);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  if (getppid() != supervisor_pid) _exit(128 + SIGTERM);
}

int sl_supervisor_start(struct sl_error *e) {
  int fds[2];
  sigset_t watched, before;
  int status = sl_pulse_share();
  if (status) return sl_error_set(e, status, "start the host", NULL, -1);
  if (pipe2(fds, O_CLOEXEC))
    return sl_error_set(e, -errno, "start the host", NULL, -1);
  signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would eat exit codes */
  fill_watched(&watched);
  sigprocmask(SIG_BLOCK, &watched, &before);
  supervisor_pid = getpid();
  pid_t host = fork();
  if (host < 0) {
    int code = -errno;
    close(fds[0]);
    close(fds[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    supervisor_pid = 0;
    return sl_error_set(e, code, "fork", NULL, -1);
  }
  if (host > 0) {
    close(fds[1]);
    sl_supervise(host, fds[0], &watched);
  }
  close(fds[0]);
  report_fd = fds[1];
  become_host(&before);
  return 0;
}

pid_t sl_supervisor_pid(void) { return supervisor_pid; }

void sl_supervisor_add_group(pid_t group) {
  sl_groups_add(group);
  report(SL_MESSAGE_ADD_GROUP, group);
}

void sl_supervisor_remove_group(pid_t group) {
  sl_groups_remove(group);
  report(SL_MESSAGE_REMOVE_GROUP, group);
}

void sl_supervisor_finish(int code, bool abandoned) {
  report(abandoned ? SL_MESSAGE_ABANDONED : SL_MESSAGE_FINISH, code & 0xff);
}

void sl_supervisor_heard(void) { report(SL_MESSAGE_HEARD, 0); }

void sl_supervisor_leave(void) {
  if (report_fd >= 0) close(report_fd);
  report_fd = -1;
}

void sl_supervisor_give_up(int signal) {
  sl_groups_kill(SIGKILL);
  /* A thread in a dead device keeps this process; nobody who reads from its
   * pipes shall wait for that.  Before the report, upon which the supervisor
   * kills us. */
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fd != report_fd) close(fd);
  report(SL_MESSAGE_GIVE_UP, signal);
  _exit(128 + signal);
}
