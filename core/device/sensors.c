/* SPDX-License-Identifier: MIT */
#include "core/device/sensors.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "core/device/mmc.h"

struct sl_sensors *sl_sensors_new(size_t count) {
  struct sl_sensors *sensors = calloc(1, sizeof *sensors);
  if (!sensors) return NULL;
  sensors->count = count;
  sensors->list = calloc(count ? count : 1, sizeof *sensors->list);
  if (sensors->list) return sensors;
  free(sensors);
  return NULL;
}

void sl_sensors_free(struct sl_sensors *sensors) {
  if (!sensors) return;
  for (size_t i = 0; i < sensors->count; i++) {
    free(sensors->list[i].path);
    free(sensors->list[i].text);
  }
  free(sensors->wake_node);
  free(sensors->list);
  free(sensors);
}

void sl_sensors_read(struct sl_sensors *sensors, struct sl_job *job) {
  struct sl_error e;

  sl_job_enter(job, "pread", 0);
  if (sensors->wake_node) sl_mmc_wake(sensors->wake_node, &e);
  for (size_t i = 0; i < sensors->count; i++) {
    struct sl_sensor *s = &sensors->list[i];
    sl_job_enter(job, "read sensor", (int64_t)i);
    s->code = sl_job_cancelled(job)
                  ? -ECANCELED
                  : sl_file_read_all(s->path, &s->text, &s->length, &e);
    if (s->code != 0) s->text = NULL;
  }
  sl_job_enter(job, NULL, -1);
}
