/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_CONDITIONS_H
#define STORLUA_CORE_DEVICE_CONDITIONS_H

/* What a measurement depends on besides its device: kernel, processors,
 * memory, clock policy, heat.  Unknown is "" or -1.  Any thread. */

#include <stdbool.h>
#include <stdint.h>

#include "core/device/sysfs.h"

enum { SL_THERMAL_ZONES_MAX = 16, SL_CONDITION_BYTES = 128 };

struct sl_thermal_zone {
  char type[SL_CONDITION_BYTES]; /* "cpu-thermal" */
  bool is_known;                 /* a sleeping sensor answers with an error */
  int64_t millicelsius;
};

struct sl_conditions {
  char kernel[SL_CONDITION_BYTES];   /* release */
  char machine[SL_CONDITION_BYTES];  /* "aarch64" */
  char model[SL_CONDITION_BYTES];    /* of the board, from the device tree or
                                        the firmware */
  char governor[SL_CONDITION_BYTES]; /* of the first processor */
  int64_t cpus;                      /* online */
  int64_t memory_bytes;
  unsigned zone_count;
  struct sl_thermal_zone zones[SL_THERMAL_ZONES_MAX];
};

void sl_conditions_read(const struct sl_system *system,
                        struct sl_conditions *conditions);

#endif
