/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_CLOCK_H
#define STORLUA_CORE_BASE_CLOCK_H

/* The three times of the project.
 *
 * - sl_monotonic_ns: CLOCK_MONOTONIC, the only clock that times operations.
 * - struct sl_clock: how long a run has lasted.  CLOCK_BOOTTIME, so a
 *   suspended board does not get its sleep for free; or virtual time, which
 *   stands still until somebody advances it (tests of `--hours 48`).
 * - sl_wall_text: the wall clock, a label only.  Boards start in 1970. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC.  Any thread. */
int64_t sl_monotonic_ns(void);

/* Nanoseconds of CLOCK_BOOTTIME.  Any thread. */
int64_t sl_boottime_ns(void);

/* The time `after_ns` after `now_ns` on any of these clocks: at once for a
 * negative one, INT64_MAX where it lies beyond what can be told. */
int64_t sl_deadline_ns(int64_t now_ns, int64_t after_ns);

/* UTC in ISO 8601 with milliseconds, "2026-11-30T19:47:43.120Z".  `size` must
 * be at least SL_WALL_BYTES.  Returns `text`. */
enum { SL_WALL_BYTES = 32 };
char *sl_wall_text(char *text, size_t size);

/* One per loop, shared by reference with its jobs.  Readable by any thread;
 * only the loop's thread advances it. */
struct sl_clock {
  bool is_virtual;
  _Atomic int64_t virtual_ns;
};

void sl_clock_init_real(struct sl_clock *clock);
void sl_clock_init_virtual(struct sl_clock *clock);

/* Now, in nanoseconds of this clock.  Never goes back.  Any thread. */
int64_t sl_clock_now_ns(const struct sl_clock *clock);

/* Moves virtual time forward to `now_ns`; earlier times are ignored. */
void sl_clock_advance_to(struct sl_clock *clock, int64_t now_ns);

/* Contents of /proc/sys/kernel/random/boot_id without the newline, or
 * "unknown".  `size` at least SL_BOOT_ID_BYTES. */
enum { SL_BOOT_ID_BYTES = 40 };
char *sl_boot_id(char *text, size_t size);

#endif
