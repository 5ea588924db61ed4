/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_SENSORS_H
#define STORLUA_CORE_DEVICE_SENSORS_H

/* Reads a round of sensors: small files of sysfs and debugfs.  The sensor of a
 * drive is a command to it, so a dead drive does not answer: for job threads
 * only.  One that cannot be read leaves the others. */

#include <stddef.h>

#include "core/run/job.h"

struct sl_sensor {
  char *path;
  char *text; /* from malloc, terminated; NULL when it could not be read */
  size_t length;
  int code; /* then why: a negative errno */
};

struct sl_sensors {
  char *wake_node; /* NULL: nobody is woken */
  size_t count;
  struct sl_sensor *list;
};

/* `count` sensors without paths yet; NULL without memory. */
struct sl_sensors *sl_sensors_new(size_t count);
void sl_sensors_free(struct sl_sensors *sensors);

/* Wakes up the card of `wake_node`, then reads all (the offset of the job is
 * the index of the sensor it is at); stops when the job is
 * cancelled and gives the rest -ECANCELED. */
void sl_sensors_read(struct sl_sensors *sensors, struct sl_job *job);

#endif
