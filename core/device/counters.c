/* SPDX-License-Identifier: MIT */
#include "core/device/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { SECTOR_BYTES = 512, NS_PER_MS = 1000000 };

static struct sl_direction_counters direction(const uint64_t *field) {
  return (struct sl_direction_counters){.operations = field[0],
                                        .merges = field[1],
                                        .bytes = field[2] * SECTOR_BYTES,
                                        .wait_ns = field[3] * NS_PER_MS};
}

int sl_counters_read(const struct sl_system *system,
                     struct sl_device_number device,
                     struct sl_counters *counters, struct sl_error *e) {
  char directory[SL_SYSFS_PATH_BYTES], text[512], name[32];
  uint64_t field[17] = {0};
  int count = 0, used;

  snprintf(name, sizeof name, "%u:%u", device.major, device.minor);
  int code = sl_sysfs_directory(system, device, directory);
  if (code != 0) return sl_error_set(e, code, "find block device", name, -1);
  ssize_t length = sl_sysfs_text(directory, "stat", text, sizeof text);
  if (length < 0) {
    return sl_error_set(e, (int)length, "read stat", directory, -1);
  }
  for (const char *p = text; count < 17; p += used, count++) {
    if (sscanf(p, " %" SCNu64 "%n", &field[count], &used) != 1) break;
  }
  if (count < 11) return sl_error_set(e, -EBADMSG, "read stat", directory, -1);
  *counters = (struct sl_counters){.read = direction(field),
                                   .write = direction(field + 4),
                                   .in_flight = field[8],
                                   .busy_ns = field[9] * NS_PER_MS,
                                   .discard = direction(field + 11),
                                   .has_discard = count >= 15,
                                   .flushes = field[15],
                                   .flush_wait_ns = field[16] * NS_PER_MS,
                                   .has_flush = count >= 17};
  return 0;
}

/* `unit`: what one step of the kernel's counter is worth.  A counter of 32
 * bits that is now lower went past its end once; the upper half of its range
 * before and the lower after tell that from a device that was exchanged. */
static int since(uint64_t before, uint64_t after, uint64_t unit,
                 uint64_t *difference) {
  const uint64_t range = (UINT64_C(1) << 32) * unit;

  if (after >= before) {
    *difference = after - before;
    return 0;
  }
  if (before >= range || before < range / 2 || after >= range / 2) {
    return -ERANGE;
  }
  *difference = after + range - before;
  return 0;
}

static int direction_since(const struct sl_direction_counters *before,
                           const struct sl_direction_counters *after,
                           struct sl_direction_counters *d) {
  int code = since(before->operations, after->operations, 1, &d->operations);
  if (code == 0) code = since(before->merges, after->merges, 1, &d->merges);
  if (code == 0) {
    code = since(before->bytes, after->bytes, SECTOR_BYTES, &d->bytes);
  }
  if (code == 0) {
    code = since(before->wait_ns, after->wait_ns, NS_PER_MS, &d->wait_ns);
  }
  return code;
}

int sl_counters_since(const struct sl_counters *before,
                      const struct sl_counters *after, struct sl_counters *d) {
  *d = (struct sl_counters){.in_flight = after->in_flight,
                            .has_discard = after->has_discard,
                            .has_flush = after->has_flush};
  int code = direction_since(&before->read, &after->read, &d->read);
  if (code == 0) {
    code = direction_since(&before->write, &after->write, &d->write);
  }
  if (code == 0) {
    code = direction_since(&before->discard, &after->discard, &d->discard);
  }
  if (code == 0) code = since(before->flushes, after->flushes, 1, &d->flushes);
  if (code == 0) {
    code = since(before->flush_wait_ns, after->flush_wait_ns, NS_PER_MS,
                 &d->flush_wait_ns);
  }
  if (code == 0) {
    code = since(before->busy_ns, after->busy_ns, NS_PER_MS, &d->busy_ns);
  }
  return code;
}
