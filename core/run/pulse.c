/* SPDX-License-Identifier: MIT */
#include "core/run/pulse.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

static struct sl_pulse own;
static struct sl_pulse *pulse = &own;

struct sl_pulse *sl_pulse(void) {
  return pulse;
}

int sl_pulse_share(void) {
  void *shared = mmap(NULL, sizeof *pulse, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return -errno;
  pulse = shared;
  return 0;
}
