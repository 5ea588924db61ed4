/* SPDX-License-Identifier: MIT */
#include "core/run/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/run/child_private.h"

enum { TICK_MS = 20, AFTER_KILL_MS = 200, MAX_GRACE_MS = 3600 * 1000 };

/* Held by its owner, by libuv's process handle until the child has ended, and
 * by the ticker, which looks after the group while it is being ended. */
struct sl_child {
  uv_process_t process;
  uv_timer_t ticker;
  struct sl_loop *loop;
  void (*on_change)(struct sl_child *child, void *user); /* NULL: let go */
  void *user;
  unsigned holders;
  int pgid;
  bool has_ended; /* the leader */
  bool is_gone;   /* the group */
  bool is_ending; /* terminate was called and the group is not gone */
  bool is_killed;
  int64_t kill_at_ns;
  int64_t code;
  int signal_number;
};

static void let_go(struct sl_child *child) {
  if (--child->holders == 0) free(child);
}

static void on_closed(uv_handle_t *handle) { let_go(handle->data); }

static void close_ticker(struct sl_child *child) {
  if (uv_is_closing((uv_handle_t *)&child->ticker)) return;
  uv_close((uv_handle_t *)&child->ticker, on_closed);
}

static void tell_group(struct sl_child *child, bool alive) {
  struct sl_loop *loop = child->loop;
  if (loop->on_group) loop->on_group(loop->on_group_user, child->pgid, alive);
}

static void hold_loop(struct sl_child *child, bool hold) {
  child->loop->handles += hold ? 1u : -1u;
  child->loop->in_flight += hold ? 1u : -1u;
}

static void report(struct sl_child *child) {
  if (child->on_change) child->on_change(child, child->user);
}

static void set_gone(struct sl_child *child) {
  child->is_gone = true;
  tell_group(child, false);
  if (child->is_ending) hold_loop(child, false);
  child->is_ending = false;
  close_ticker(child);
  report(child);
}

/* The id of an empty group may be given to strangers, so it is not signalled
 * any more. */
static void check_group(struct sl_child *child) {
  if (child->is_gone || !child->has_ended) return;
  if (kill(-child->pgid, 0) < 0 && errno == ESRCH) set_gone(child);
}

static void on_uv_exit(uv_process_t *process, int64_t code, int number) {
  struct sl_child *child = process->data;
  child->has_ended = true;
  child->code = code;
  child->signal_number = number;
  hold_loop(child, false);
  check_group(child);
  if (!child->on_change && !child->is_ending) close_ticker(child);
  if (!child->is_gone) report(child);
  uv_close((uv_handle_t *)process, on_closed);
}

static void on_tick(uv_timer_t *timer) {
  struct sl_child *child = timer->data;
  check_group(child);
  int64_t late_ns = sl_monotonic_ns() - child->kill_at_ns;
  if (!child->is_gone && late_ns >= 0 && !child->is_killed) {
    sl_child_kill(child, SIGKILL);
    child->is_killed = true;
    uv_timer_start(timer, on_tick, AFTER_KILL_MS, AFTER_KILL_MS);
    return;
  }
  /* Zombies that their new parent does not collect keep a group alive. */
  if (!child->is_gone && child->is_killed && child->has_ended) set_gone(child);
}

/* execvp's ENOENT does not say whether the program or the folder is missing. */
static int check_cwd(const char *cwd, struct sl_error *e) {
  struct stat st;
  if (!cwd) return 0;
  if (stat(cwd, &st) < 0)
    return sl_error_set(e, -errno, "change directory", cwd, -1);
  if (!S_ISDIR(st.st_mode))
    return sl_error_set(e, -ENOTDIR, "change directory", cwd, -1);
  return 0;
}

static int spawn(struct sl_child *child, const struct sl_child_spec *spec,
                 const struct sl_child_ends *ends, struct sl_error *e) {
  uv_stdio_container_t stdio[3];
  for (int i = 0; i < 3; i++) {
    stdio[i].flags = ends->child[i] < 0 ? UV_IGNORE : UV_INHERIT_FD;
    stdio[i].data.fd = ends->child[i];
  }
  char **env = sl_child_environment(spec->env);
  if (!env) return sl_error_set(e, -ENOMEM, "start", spec->argv[0], -1);
  const uv_process_options_t options = {
      .exit_cb = on_uv_exit,
      .file = spec->argv[0],
      .args = spec->argv,
      .env = env,
      .cwd = spec->cwd,
      .flags = UV_PROCESS_DETACHED,
      .stdio_count = 3,
      .stdio = stdio,
  };
  int status = uv_spawn(&child->loop->uv, &child->process, &options);
  free(env);
  if (status >= 0) return 0;
  sl_error_set(e, status, "start", spec->argv[0], -1);
  if (status == -ENOENT) sl_error_hint(e, "no such program in PATH");
  return status;
}

static int open_pipes(struct sl_loop *loop, struct sl_child_ends *ends,
                      struct sl_stream *pipes[3], struct sl_error *e) {
  for (int i = 0; i < 3; i++) {
    if (ends->parent[i] < 0) continue;
    int status = sl_stream_open(loop, ends->parent[i], &pipes[i], e);
    if (status < 0) return status;
    ends->parent[i] = -1;
    sl_stream_holds_time(pipes[i]);
  }
  return 0;
}

static void close_pipes(struct sl_stream *pipes[3]) {
  for (int i = 0; i < 3; i++) {
    if (pipes[i]) sl_stream_close(pipes[i]);
    pipes[i] = NULL;
  }
}

int sl_child_start(struct sl_loop *loop, const struct sl_child_spec *spec,
                   void (*on_change)(struct sl_child *child, void *user),
                   void *user, struct sl_child **out,
                   struct sl_stream *pipes[3], struct sl_error *e) {
  struct sl_child_ends ends;
  pipes[0] = pipes[1] = pipes[2] = NULL;
  if (check_cwd(spec->cwd, e)) return e->code;
  struct sl_child *child = calloc(1, sizeof *child);
  if (!child) return sl_error_set(e, -ENOMEM, "start", spec->argv[0], -1);
  child->loop = loop;
  int status = sl_child_open_ends(spec, &ends, e);
  if (status < 0) goto no_ends;
  status = open_pipes(loop, &ends, pipes, e);
  if (status < 0) goto no_child;
  child->process.data = child->ticker.data = child;
  uv_timer_init(&loop->uv, &child->ticker);
  status = spawn(child, spec, &ends, e);
  if (status < 0) {
    child->holders = 2;
    close_ticker(child);
    uv_close((uv_handle_t *)&child->process, on_closed);
    child = NULL;
    goto no_child;
  }
  sl_child_close_ends(&ends);
  child->pgid = child->process.pid;
  child->holders = 3;
  child->on_change = on_change;
  child->user = user;
  hold_loop(child, true);
  tell_group(child, true);
  *out = child;
  return 0;

no_child:
  close_pipes(pipes);
  sl_child_close_ends(&ends);
no_ends:
  free(child);
  return status;
}

int sl_child_pid(const struct sl_child *child) { return child->pgid; }

bool sl_child_result(const struct sl_child *child, int64_t *code,
                     int *signal_number) {
  *code = child->code;
  *signal_number = child->signal_number;
  return child->has_ended;
}

bool sl_child_is_gone(const struct sl_child *child) { return child->is_gone; }

int sl_child_kill(struct sl_child *child, int signal_number) {
  check_group(child);
  if (child->is_gone) return -ESRCH;
  return kill(-child->pgid, signal_number) < 0 ? -errno : 0;
}

void sl_child_terminate(struct sl_child *child, uint64_t grace_ms) {
  check_group(child);
  if (child->is_gone) return;
  if (grace_ms > MAX_GRACE_MS) grace_ms = MAX_GRACE_MS;
  int64_t kill_at_ns = sl_monotonic_ns() + (int64_t)grace_ms * 1000000;
  if (child->is_ending && child->kill_at_ns <= kill_at_ns) return;
  child->kill_at_ns = kill_at_ns;
  if (!child->is_ending) {
    child->is_ending = true;
    hold_loop(child, true);
    if (grace_ms > 0) {
      sl_child_kill(child, SIGTERM);
      sl_child_kill(child, SIGCONT); /* a stopped one cannot act on TERM */
    }
    uv_timer_start(&child->ticker, on_tick, TICK_MS, TICK_MS);
  }
  if (grace_ms == 0) on_tick(&child->ticker);
}

void sl_child_unref(struct sl_child *child) {
  child->on_change = NULL;
  if (child->has_ended && !child->is_ending) close_ticker(child);
  let_go(child);
}
