/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/file.h"

/* Read twice per operation of a workload: without the stack check, which
 * would add a quarter to it and guards no array here. */
#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define NO_STACK_CHECK __attribute__((no_stack_protector))
#endif
#endif
#ifndef NO_STACK_CHECK
#define NO_STACK_CHECK
#endif

NO_STACK_CHECK static inline int64_t read_ns(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((hot)) NO_STACK_CHECK int64_t sl_monotonic_ns(void) {
  return read_ns(CLOCK_MONOTONIC);
}

NO_STACK_CHECK int64_t sl_boottime_ns(void) { return read_ns(CLOCK_BOOTTIME); }

int64_t sl_deadline_ns(int64_t now_ns, int64_t after_ns) {
  if (after_ns <= 0) return now_ns;
  return after_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + after_ns;
}

char *sl_wall_text(char *text, size_t size) {
  struct timespec t;
  struct tm utc;
  clock_gettime(CLOCK_REALTIME, &t);
  if (!gmtime_r(&t.tv_sec, &utc)) memset(&utc, 0, sizeof utc);
  size_t length = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &utc);
  snprintf(text + length, size - length, ".%03uZ",
           (unsigned)(t.tv_nsec / 1000000) % 1000u);
  return text;
}

void sl_clock_init_real(struct sl_clock *clock) {
  clock->is_virtual = false;
  atomic_init(&clock->virtual_ns, 0);
}

void sl_clock_init_virtual(struct sl_clock *clock) {
  clock->is_virtual = true;
  atomic_init(&clock->virtual_ns, 0);
}

int64_t sl_clock_now_ns(const struct sl_clock *clock) {
  if (!clock->is_virtual) return sl_boottime_ns();
  return atomic_load_explicit(&clock->virtual_ns, memory_order_acquire);
}

void sl_clock_advance_to(struct sl_clock *clock, int64_t now_ns) {
  int64_t before =
      atomic_load_explicit(&clock->virtual_ns, memory_order_relaxed);
  if (now_ns > before)
    atomic_store_explicit(&clock->virtual_ns, now_ns, memory_order_release);
}

char *sl_boot_id(char *text, size_t size) {
  if (sl_file_read("/proc/sys/kernel/random/boot_id", text, size, NULL) <= 0)
    snprintf(text, size, "unknown");
  text[strcspn(text, "\n")] = '\0';
  return text;
}
