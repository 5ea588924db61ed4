/* SPDX-License-Identifier: MIT */
#include "core/run/loop.h"

#include "core/run/pulse.h"
#include "core/run/stall.h"
#include "core/run/timer_private.h"

/* From here the loop is busy, until it waits again. */
static void begin_turn(void) {
  atomic_store_explicit(&sl_pulse()->turn_ns, sl_monotonic_ns(),
                        memory_order_relaxed);
}

static void end_turn(struct sl_loop *loop) {
  int64_t since_ns =
      atomic_exchange_explicit(&sl_pulse()->turn_ns, 0, memory_order_relaxed);
  if (loop->stall && since_ns)
    sl_stall_turn_ended(loop->stall, sl_monotonic_ns() - since_ns);
}

static void on_before_wait(uv_prepare_t *handle) { end_turn(handle->data); }

static void on_after_wait(uv_check_t *handle) {
  (void)handle;
  begin_turn();
}

int sl_loop_init(struct sl_loop *loop, int virtual_time, struct sl_error *e) {
  *loop = (struct sl_loop){0};
  int status = uv_loop_init(&loop->uv);
  if (status < 0) return sl_error_set(e, status, "uv_loop_init", NULL, -1);
  if (virtual_time)
    sl_clock_init_virtual(&loop->clock);
  else
    sl_clock_init_real(&loop->clock);
  uv_prepare_init(&loop->uv, &loop->before_wait);
  uv_check_init(&loop->uv, &loop->after_wait);
  loop->before_wait.data = loop->after_wait.data = loop;
  uv_prepare_start(&loop->before_wait, on_before_wait);
  uv_check_start(&loop->after_wait, on_after_wait);
  uv_unref((uv_handle_t *)&loop->before_wait);
  uv_unref((uv_handle_t *)&loop->after_wait);
  begin_turn();
  return 0;
}

static void run_uv(struct sl_loop *loop, uv_run_mode mode) {
  end_turn(loop);
  begin_turn();
  /* libuv skips a loop without active handles; a turn that does not wait
   * must still take in what has arrived: a signal, a job's report. */
  if (mode == UV_RUN_NOWAIT) uv_ref((uv_handle_t *)&loop->before_wait);
  uv_run(&loop->uv, mode);
  uv_unref((uv_handle_t *)&loop->before_wait);
}

int sl_loop_turn(struct sl_loop *loop, int wait) {
  if (!loop->clock.is_virtual) {
    run_uv(loop, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT);
  } else {
    /* Virtual time stands still while anything real is under way, and until
     * the owner has acted on what this turn brought. */
    uint64_t before = loop->deliveries;
    run_uv(loop, wait && loop->in_flight ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    if (wait && !loop->in_flight && loop->deliveries == before)
      sl_timer_fire_virtual(loop);
  }
  return uv_loop_alive(&loop->uv) || loop->timers;
}

static void close_leftover(uv_handle_t *handle, void *arg) {
  unsigned *left = arg;
  if (uv_is_closing(handle)) return;
  (*left)++;
  if (!sl_timer_close_leftover(handle)) uv_close(handle, NULL);
}

unsigned sl_loop_close(struct sl_loop *loop) {
  unsigned left = 0;
  while (loop->timers) {
    sl_timer_cancel(loop->timers);
    left++;
  }
  uv_close((uv_handle_t *)&loop->before_wait, NULL);
  uv_close((uv_handle_t *)&loop->after_wait, NULL);
  uv_run(&loop->uv, UV_RUN_NOWAIT); /* close callbacks that are due */
  uv_walk(&loop->uv, close_leftover, &left);
  while (uv_run(&loop->uv, UV_RUN_NOWAIT))
    continue;
  uv_loop_close(&loop->uv);
  return left;
}
