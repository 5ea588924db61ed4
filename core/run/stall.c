/* SPDX-License-Identifier: MIT */
#include "core/run/stall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/run/pulse.h"

static const int64_t STOP_NS = 300000000;    /* busy for so long after a stop */
static const int64_t SHOUT_NS = 30000000000; /* the loop cannot report itself */

struct sl_stall {
  struct sl_stall_listener listener;
  int64_t limit_ns;
  int64_t asked_turn_ns; /* the turn that was asked where */
};

static void shout(int64_t busy_ns) {
  char text[96];
  int length = snprintf(text, sizeof text,
                        "storlua: the loop has been busy for %lld s\n",
                        (long long)(busy_ns / 1000000000));
  if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0) errno = 0;
}

static int64_t busy_since(int64_t turn_ns) {
  return turn_ns ? sl_monotonic_ns() - turn_ns : 0;
}

bool sl_stall_look(struct sl_stall_watch *watch) {
  int64_t limit_ns = atomic_load(&sl_pulse()->limit_ns);
  int64_t turn_ns = atomic_load(&sl_pulse()->turn_ns);
  int64_t busy_ns = busy_since(turn_ns);
  if (!limit_ns) return false;
  bool ask = atomic_load(&sl_pulse()->stopped_by) && busy_ns > STOP_NS;
  if (busy_ns <= limit_ns) return ask;
  if (watch->asked_turn_ns != turn_ns) {
    watch->asked_turn_ns = turn_ns;
    watch->shout_at_ns = SHOUT_NS;
    return true;
  }
  if (busy_ns > watch->shout_at_ns) {
    watch->shout_at_ns = 2 * busy_ns;
    shout(busy_ns);
  }
  return ask;
}

int sl_stall_asked(struct sl_loop *loop) {
  struct sl_stall *s = loop->stall;
  int64_t turn_ns = atomic_load(&sl_pulse()->turn_ns);
  int64_t busy_ns = busy_since(turn_ns);
  int what = 0;
  if (!s) return 0;
  if (busy_ns > s->limit_ns && s->asked_turn_ns != turn_ns) {
    s->asked_turn_ns = turn_ns;
    what |= SL_STALL_WHERE;
  }
  if (atomic_load(&sl_pulse()->stopped_by) && busy_ns > STOP_NS)
    what |= SL_STALL_STOP;
  return what;
}

int sl_stall_start(struct sl_loop *loop, int64_t limit_ns,
                   const struct sl_stall_listener *listener,
                   struct sl_error *e) {
  struct sl_stall *s = calloc(1, sizeof *s);
  if (!s) return sl_error_set(e, -ENOMEM, "start stall watch", NULL, -1);
  s->limit_ns = limit_ns;
  s->listener = *listener;
  loop->stall = s;
  atomic_store(&sl_pulse()->limit_ns, limit_ns);
  return 0;
}

void sl_stall_end(struct sl_loop *loop) {
  struct sl_stall *s = loop->stall;
  atomic_store(&sl_pulse()->limit_ns, 0);
  loop->stall = NULL;
  free(s);
}

void sl_stall_turn_ended(struct sl_stall *s, int64_t busy_ns) {
  if (busy_ns > s->limit_ns) s->listener.stalled(busy_ns, s->listener.user);
}
