/* SPDX-License-Identifier: MIT */
/* The supervisor's side of core/run/supervisor.h: one poll loop over the
 * host's pipe and a signalfd.  Plain system calls only. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/run/signals.h"
#include "core/run/stall.h"
#include "core/run/stop_count.h"
#include "core/run/supervisor_private.h"

static const int64_t MS = 1000000;
enum {
  END_MS = 5000,   /* from the exit code to the end of the host */
  LEAVE_MS = 1000, /* the same for a host with an abandoned job */
  DIE_MS = 1000,   /* from the end of the pipe to the death of the host */
  FORCE_MS = 500,  /* from the second Ctrl-C to the end of everything */
  /* From a first request that the host does not hear to a word about it, and
   * to the same end. */
  DEAF_SAY_MS = 3000,
  DEAF_END_MS = 60000
};

struct watch {
  pid_t host;
  int pipe_fd, signal_fd;
  bool is_finished, is_abandoned, is_closed, is_reaped;
  int code;      /* once finished */
  int status;    /* of waitpid, once reaped */
  int gave_up;   /* signal, or 0 */
  int forced;    /* signal of a request that the host must obey */
  int asked;     /* signal of the first request */
  bool is_heard; /* perhaps before the signal came to us */
  bool is_deaf, is_deaf_said;
  int64_t deadline_ns;
  struct sl_stop_count stop;
  struct sl_stall_watch stall;
};

static void limit(struct watch *w, int ms) {
  int64_t end_ns = sl_monotonic_ns() + ms * MS;
  if (!w->deadline_ns || end_ns < w->deadline_ns) w->deadline_ns = end_ns;
}

static void take_message(struct watch *w, const struct sl_message *message) {
  switch ((enum sl_message_kind)message->kind) {
    case SL_MESSAGE_ADD_GROUP:
      sl_groups_add(message->value);
      break;
    case SL_MESSAGE_REMOVE_GROUP:
      sl_groups_remove(message->value);
      break;
    case SL_MESSAGE_GIVE_UP:
      w->gave_up = message->value;
      break;
    case SL_MESSAGE_HEARD:
      w->is_heard = true;
      break;
    case SL_MESSAGE_FINISH:
    case SL_MESSAGE_ABANDONED:
      w->is_finished = true;
      w->is_abandoned = message->kind == SL_MESSAGE_ABANDONED;
      w->code = message->value;
      w->deadline_ns = 0;
      limit(w, w->is_abandoned ? LEAVE_MS : END_MS);
      break;
  }
}

static void read_pipe(struct watch *w) {
  struct sl_message messages[64];
  ssize_t n = read(w->pipe_fd, messages, sizeof messages);
  if (n < 0) return;
  if (n == 0) {
    w->is_closed = true;
    if (!w->is_finished) limit(w, DIE_MS);
    return;
  }
  for (size_t i = 0; i < (size_t)n / sizeof *messages; i++)
    take_message(w, &messages[i]);
}

/* Orphans of the host come to us (we are their subreaper) and end here too. */
static void reap(struct watch *w) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid != w->host) continue;
    w->is_reaped = true;
    w->status = status;
  }
}

static void stop_like_the_host(void) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, NULL); /* stops here until SIGCONT */
  sigprocmask(SIG_BLOCK, &stop, NULL);
}

static void take_signal(struct watch *w) {
  struct signalfd_siginfo info;
  if (read(w->signal_fd, &info, sizeof info) != (ssize_t)sizeof info) return;
  int number = (int)info.ssi_signo;
  if (number == SIGCHLD) {
    reap(w);
    return;
  }
  /* The terminal's signals have reached the host too; a kill may not have. */
  bool from_process = info.ssi_code <= 0;
  if (from_process && !w->is_reaped) kill(w->host, number);
  if (number == SIGTSTP) stop_like_the_host();
  if (number != SIGINT && number != SIGTERM && number != SIGHUP) return;
  /* A host that sits in the kernel cannot obey the second request. */
  if (!sl_stop_count_add(&w->stop, number, SL_STOP_DIRECT, sl_monotonic_ns()) ||
      w->is_finished)
    return;
  if (w->stop.count == 1) w->asked = number;
  if (w->stop.count == 2) {
    w->forced = number;
    limit(w, FORCE_MS);
  }
}

/* Milliseconds until something is due with a host that does not hear; -1 when
 * nothing is. */
static int mind_deafness(struct watch *w) {
  if (!w->asked || w->is_heard || w->forced || w->is_finished) return -1;
  int64_t since_ms = (sl_monotonic_ns() - w->stop.at_ns) / MS;
  if (since_ms >= DEAF_SAY_MS && !w->is_deaf_said) {
    w->is_deaf_said = true;
    fprintf(stderr,
            "storlua: no reaction to %s yet: the script sits in a system call "
            "or in C; a second signal ends it at once, and so do %d s\n",
            sl_signal_name(w->asked), DEAF_END_MS / 1000);
  }
  if (since_ms >= DEAF_END_MS) {
    w->is_deaf = true;
    w->forced = w->asked;
    limit(w, 0);
    return 0;
  }
  return (int)((w->is_deaf_said ? DEAF_END_MS : DEAF_SAY_MS) - since_ms);
}

/* Ends the groups that are left: gently, then not. */
static unsigned end_groups(void) {
  unsigned count = sl_groups_kill(SIGTERM);
  if (count) sl_groups_kill(SIGCONT); /* a stopped process does not hear TERM */
  for (int i = 0; i < 50 && sl_groups_kill(0); i++) {
    poll(NULL, 0, 10);
    while (waitpid(-1, NULL, WNOHANG) > 0)
      continue;
  }
  sl_groups_kill(SIGKILL);
  return count;
}

static int report_death(const struct watch *w) {
  unsigned count = end_groups();
  int code = 3;
  if (w->is_reaped && WIFSIGNALED(w->status)) {
    int number = WTERMSIG(w->status);
    code = 128 + number;
    fprintf(stderr, "storlua: the host died (%s)", sl_signal_name(number));
  } else if (w->is_reaped) {
    fprintf(stderr, "storlua: the host ended without a status (exit code %d)",
            WEXITSTATUS(w->status));
  } else {
    fputs("storlua: the host ended without a status", stderr);
  }
  if (count)
    fprintf(stderr, "; %u process group%s ended", count, count == 1 ? "" : "s");
  fputs("\n", stderr);
  return code;
}

static int conclude(struct watch *w) {
  if (!w->is_finished && !w->gave_up && w->forced) w->gave_up = w->forced;
  if (w->gave_up) {
    sl_groups_kill(SIGKILL);
    if (!w->is_reaped) kill(w->host, SIGKILL);
    fprintf(stderr,
            w->is_deaf ? "storlua: ended: %s was not heard; clean-ups are "
                         "missing\n"
                       : "storlua: ended at once by a second %s; clean-ups may "
                         "be missing\n",
            sl_signal_name(w->gave_up));
    return 128 + w->gave_up;
  }
  if (!w->is_finished) return report_death(w);
  end_groups();
  if (w->is_reaped &&
      !(WIFEXITED(w->status) && WEXITSTATUS(w->status) == w->code))
    return report_death(w);
  return w->code;
}

static bool is_over(const struct watch *w) {
  if (w->is_reaped || w->gave_up) return true;
  if (w->is_abandoned && w->is_closed) return true;
  return w->deadline_ns && sl_monotonic_ns() >= w->deadline_ns;
}

static void wait_for_news(struct watch *w) {
  struct pollfd fds[2] = {{w->signal_fd, POLLIN, 0},
                          {w->is_closed ? -1 : w->pipe_fd, POLLIN, 0}};
  int timeout = mind_deafness(w);
  if (w->deadline_ns) {
    int64_t left_ms = (w->deadline_ns - sl_monotonic_ns()) / MS + 1;
    if (left_ms < 0) left_ms = 0;
    if (timeout < 0 || left_ms < timeout) timeout = (int)left_ms;
  }
  if (!w->is_finished && !w->is_closed) {
    if (sl_stall_look(&w->stall)) sl_signals_interrupt(w->host);
    if (timeout < 0 || timeout > SL_STALL_LOOK_MS) timeout = SL_STALL_LOOK_MS;
  }
  if (poll(fds, 2, timeout) < 0) return;
  if (fds[1].revents) read_pipe(w);
  if (fds[0].revents) take_signal(w);
}

void sl_supervise(pid_t host, int pipe_fd, const sigset_t *watched) {
  struct watch w = {.host = host, .pipe_fd = pipe_fd};
  w.signal_fd = signalfd(-1, watched, SFD_CLOEXEC);
  if (w.signal_fd < 0) {
    kill(host, SIGKILL);
    perror("storlua: signalfd");
    _exit(3);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (chdir("/")) errno = 0; /* or we keep a test's mount busy */
  while (!is_over(&w))
    wait_for_news(&w);
  /* What the host said before it ended may still be in the pipe. */
  struct pollfd rest = {pipe_fd, POLLIN, 0};
  while (!w.is_closed && poll(&rest, 1, 0) > 0)
    read_pipe(&w);
  _exit(conclude(&w));
}
