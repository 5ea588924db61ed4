/* SPDX-License-Identifier: MIT */
#include "core/device/conditions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void read_model(const char *sysfs, char *model) {
  char path[SL_SYSFS_PATH_BYTES];

  /* The tree's strings end in a NUL, which the text then ends at. */
  snprintf(path, sizeof path, "%s/firmware/devicetree/base", sysfs);
  if (sl_sysfs_text(path, "model", model, SL_CONDITION_BYTES) > 0) return;
  snprintf(path, sizeof path, "%s/class/dmi/id", sysfs);
  sl_sysfs_label(path, "product_name", model, SL_CONDITION_BYTES);
}

static void read_zones(const char *sysfs, struct sl_conditions *c) {
  char path[SL_SYSFS_PATH_BYTES], text[32], *end;

  /* Numbers have gaps where a driver was unloaded. */
  for (int i = 0; i < 64 && c->zone_count < SL_THERMAL_ZONES_MAX; i++) {
    struct sl_thermal_zone *zone = &c->zones[c->zone_count];
    snprintf(path, sizeof path, "%s/class/thermal/thermal_zone%d", sysfs, i);
    if (sl_sysfs_label(path, "type", zone->type, sizeof zone->type) <= 0) {
      continue;
    }
    c->zone_count++;
    if (sl_sysfs_label(path, "temp", text, sizeof text) <= 0) continue;
    zone->millicelsius = strtoll(text, &end, 10);
    zone->is_known = *end == '\0';
  }
}

void sl_conditions_read(const struct sl_system *system,
                        struct sl_conditions *c) {
  const char *sysfs = system && system->sysfs ? system->sysfs : "/sys";
  char path[SL_SYSFS_PATH_BYTES];
  struct utsname name;

  memset(c, 0, sizeof *c);
  if (uname(&name) == 0) {
    snprintf(c->kernel, sizeof c->kernel, "%s", name.release);
    snprintf(c->machine, sizeof c->machine, "%s", name.machine);
  }
  read_model(sysfs, c->model);
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/cpufreq", sysfs);
  sl_sysfs_label(path, "scaling_governor", c->governor, sizeof c->governor);
  c->cpus = sysconf(_SC_NPROCESSORS_ONLN);
  int64_t pages = sysconf(_SC_PHYS_PAGES);
  c->memory_bytes = pages > 0 ? pages * sysconf(_SC_PAGESIZE) : -1;
  read_zones(sysfs, c);
}
