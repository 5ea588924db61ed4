/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "core/device/nvme.h"

struct look {
  char node[128];
  int code;
  struct sl_error error;
  struct sl_nvme_smart smart;
};

static void run_look(struct sl_job *job, void *data) {
  struct look *look = data;
  uint8_t log[SL_NVME_SMART_BYTES];

  sl_job_enter(job, "ask NVMe drive", -1);
  look->code = sl_nvme_smart_read(look->node, log, &look->error);
  if (look->code == 0) sl_nvme_smart_decode(log, &look->smart);
  sl_job_enter(job, NULL, -1);
}

static int push_look(lua_State *L, void *data) {
  const struct look *look = data;
  const struct sl_nvme_smart *s = &look->smart;

  if (look->code != 0) return l_push_error(L, &look->error);
  lua_createtable(L, 0, 12);
  l_set_count(L, "critical_warning", s->critical_warning);
  lua_pushinteger(L, (lua_Integer)s->temperature_millicelsius);
  lua_setfield(L, -2, "temperature_millicelsius");
  l_set_count(L, "spare_percent", s->spare_percent);
  l_set_count(L, "spare_threshold_percent", s->spare_threshold_percent);
  l_set_count(L, "used_percent", s->used_percent);
  l_set_count(L, "read_bytes", s->read_bytes);
  l_set_count(L, "written_bytes", s->written_bytes);
  l_set_count(L, "power_cycles", s->power_cycles);
  l_set_count(L, "power_on_hours", s->power_on_hours);
  l_set_count(L, "unsafe_shutdowns", s->unsafe_shutdowns);
  l_set_count(L, "media_errors", s->media_errors);
  l_set_count(L, "error_log_entries", s->error_log_entries);
  return 1;
}

/* smart(node) -> job -> the health log */
static int l_smart(lua_State *L) {
  static const struct l_job_kind kind = {
      {"ask NVMe drive", run_look, free}, push_look, NULL};
  const char *node = l_check_path(L, 1);
  struct look *look = calloc(1, sizeof *look);
  if (!look) return luaL_error(L, "not enough memory");
  snprintf(look->node, sizeof look->node, "%s", node);
  return l_job_start(L, &kind, look);
}

/* temperature(number) -> millicelsius of the disk's own sensor */
static int l_temperature(lua_State *L) {
  struct sl_device_number number;
  int64_t millicelsius;
  struct sl_error e;
  char end;
  const char *text = luaL_checkstring(L, 1);

  luaL_argcheck(
      L, sscanf(text, "%u:%u%c", &number.major, &number.minor, &end) == 2, 1,
      "a device number is like 179:0");
  int code = sl_disk_temperature(NULL, number, &millicelsius);
  if (code != 0) {
    sl_error_set(&e, code, "read temperature", text, -1);
    sl_error_hint(&e, "the disk has no sensor the kernel knows");
    return l_push_error(L, &e);
  }
  lua_pushinteger(L, (lua_Integer)millicelsius);
  return 1;
}

int luaopen_storlua_core_nvme(lua_State *L);
int luaopen_storlua_core_nvme(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"smart", l_smart}, {"temperature", l_temperature}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
