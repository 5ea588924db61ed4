/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_NVME_H
#define STORLUA_CORE_DEVICE_NVME_H

/* The health log of an NVMe drive, and the temperature of any disk that has a
 * sensor. */

#include <stdint.h>

#include "core/base/error.h"
#include "core/device/sysfs.h"

enum { SL_NVME_SMART_BYTES = 512 };

/* Counts that do not fit are INT64_MAX. */
struct sl_nvme_smart {
  int64_t critical_warning; /* bits: 0 spare, 1 temperature, 2 reliability,
                               3 read-only, 4 backup of the cache */
  int64_t temperature_millicelsius;
  int64_t spare_percent, spare_threshold_percent;
  int64_t used_percent;              /* of the rated life; may be above 100 */
  int64_t read_bytes, written_bytes; /* in steps of 512,000 */
  int64_t power_cycles, power_on_hours;
  int64_t unsafe_shutdowns, media_errors, error_log_entries;
};
void sl_nvme_smart_decode(const uint8_t *data, struct sl_nvme_smart *smart);

/* Asks the drive, by a node of its namespace or controller; needs root.  For
 * job threads. */
int sl_nvme_smart_read(const char *node, uint8_t *data, struct sl_error *e);

/* From hwmon below the disk's device (nvme, drivetemp): 0 and the first
 * reading; -ENOENT without a sensor. */
int sl_disk_temperature(const struct sl_system *system,
                        struct sl_device_number device, int64_t *millicelsius);

#endif
