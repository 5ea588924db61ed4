/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/error.h"
#include "bindings/fields.h"
#include "bindings/job.h"
#include "core/device/mmc.h"

/* Every source by itself: one that is missing leaves the others. */
struct look {
  struct sl_device_number number; /* of the whole disk */
  char node[128], cid[40], csd[40];
  bool is_sd;
  struct sl_mmc_registers registers;
  struct sl_mmc_ios ios;
  struct sl_ext_csd ext_csd;
  struct sl_mmc_errors errors;
  struct sl_error registers_error, ios_error, ext_csd_error, errors_error;
};

static void look_at_card(struct look *look) {
  char directory[SL_SYSFS_PATH_BYTES], type[16];
  struct sl_error *e = &look->registers_error;

  if (sl_sysfs_directory(NULL, look->number, directory) != 0 ||
      sl_sysfs_label(directory, "device/cid", look->cid, sizeof look->cid) <=
          0) {
    sl_error_set(e, -ENODEV, "read", "cid", -1);
    return;
  }
  sl_sysfs_label(directory, "device/csd", look->csd, sizeof look->csd);
  sl_sysfs_label(directory, "device/type", type, sizeof type);
  look->is_sd = strcmp(type, "SD") == 0;
  int code = sl_mmc_registers_decode(look->cid, look->csd, look->is_sd,
                                     &look->registers);
  if (code != 0) sl_error_set(e, code, "decode", "cid", -1);
}

static void look_at_ext_csd(struct look *look) {
  uint8_t data[SL_EXT_CSD_BYTES];
  char text[2 * SL_EXT_CSD_BYTES + 16];
  struct sl_error *e = &look->ext_csd_error, second;

  if (look->is_sd) {
    sl_error_set(e, -ENOTSUP, "read", "ext_csd", -1);
    sl_error_hint(e, "an SD card has no EXT_CSD");
    return;
  }
  if (sl_ext_csd_read(look->node, data, e) != 0) {
    if (sl_mmc_debug_read(NULL, look->number, "ext_csd", text, sizeof text,
                          &second) != 0 ||
        sl_ext_csd_parse(text, data) != 0) {
      return; /* the first reason says more */
    }
    e->code = 0;
  }
  sl_ext_csd_decode(data, &look->ext_csd);
  sl_mmc_correct_year(&look->registers, look->ext_csd.revision);
}

static void run_look(struct sl_job *job, void *data) {
  struct look *look = data;
  char text[4096];
  int code;

  sl_job_enter(job, "ask mmc card", -1);
  look_at_card(look);
  look_at_ext_csd(look);
  /* A sleeping card tells the mode of its sleep. */
  sl_mmc_wake(look->node, NULL);
  code = sl_mmc_debug_read(NULL, look->number, "ios", text, sizeof text,
                           &look->ios_error);
  if (code == 0 && (code = sl_mmc_ios_parse(text, &look->ios)) != 0) {
    sl_error_set(&look->ios_error, code, "parse", "ios", -1);
  }
  code = sl_mmc_debug_read(NULL, look->number, "err_stats", text, sizeof text,
                           &look->errors_error);
  if (code == 0 && (code = sl_mmc_errors_parse(text, &look->errors)) != 0) {
    sl_error_set(&look->errors_error, code, "parse", "err_stats", -1);
  }
  sl_job_enter(job, NULL, -1);
}

/* A table for one source, with its reason and false where it failed. */
static bool begin(lua_State *L, const struct sl_error *e) {
  char text[SL_ERROR_TEXT_BYTES];
  lua_createtable(L, 0, 12);
  if (e->code == 0) return true;
  l_set_text(L, "reason", sl_error_text(e, text, sizeof text));
  return false;
}

static void push_registers(lua_State *L, const struct look *look) {
  const struct sl_mmc_registers *r = &look->registers;
  if (begin(L, &look->registers_error)) {
    l_set_text(L, "cid", look->cid);
    l_set_text(L, "csd", look->csd);
    l_set_count(L, "manufacturer", r->manufacturer);
    l_set_count(L, "oem", r->oem);
    l_set_text(L, "product", r->product);
    l_set_count(L, "product_revision", r->product_revision);
    l_set_count(L, "serial", r->serial);
    l_set_count(L, "month", r->month);
    l_set_count(L, "year", r->year);
    l_set_count(L, "transfer_rate_bits_s", r->transfer_rate_bits_s);
    l_set_count(L, "command_classes", r->command_classes);
  }
  lua_setfield(L, -2, "registers");
}

static void set_ios(lua_State *L, const struct sl_mmc_ios *ios) {
  l_set_flag(L, "suspended", ios->is_suspended);
  l_set_count(L, "clock_hz", ios->clock_hz);
  l_set_count(L, "actual_clock_hz", ios->actual_clock_hz);
  l_set_count(L, "width_bits", ios->width_bits);
  l_set_text(L, "timing", ios->timing);
  l_set_text(L, "voltage", ios->voltage);
  l_set_text(L, "supply", ios->supply);
  l_set_text(L, "driver_type", ios->driver_type);
  l_set_count(L, "ceiling_bytes_s", ios->ceiling_bytes_s);
}

static void set_errors(lua_State *L, const struct sl_mmc_errors *errors) {
  for (unsigned i = 0; i < errors->count; i++) {
    lua_pushinteger(L, (lua_Integer)errors->list[i].occurred);
    lua_setfield(L, -2, errors->list[i].name);
  }
}

static void push_ext_csd(lua_State *L, const struct look *look) {
  const struct sl_ext_csd *csd = &look->ext_csd;
  if (begin(L, &look->ext_csd_error)) {
    l_set_count(L, "revision", csd->revision);
    l_set_count(L, "life_time_a", csd->life_time_a);
    l_set_count(L, "life_time_b", csd->life_time_b);
    l_set_count(L, "pre_eol", csd->pre_eol);
    l_set_count(L, "cache_bytes", csd->cache_bytes);
    l_set_flag(L, "cache_on", csd->cache_on);
    l_set_count(L, "command_queue_depth", csd->command_queue_depth);
    l_set_flag(L, "command_queue_on", csd->command_queue_on);
    l_set_count(L, "background_enabled", csd->background_enabled);
    l_set_count(L, "background_status", csd->background_status);
    l_set_count(L, "write_reliability", csd->write_reliability);
    l_set_count(L, "hs_timing", csd->hs_timing);
    l_set_text(L, "firmware", csd->firmware);
  }
  lua_setfield(L, -2, "ext_csd");
}

static int push_look(lua_State *L, void *data) {
  const struct look *look = data;

  lua_createtable(L, 0, 4);
  push_registers(L, look);
  if (begin(L, &look->ios_error)) set_ios(L, &look->ios);
  lua_setfield(L, -2, "ios");
  push_ext_csd(L, look);
  if (begin(L, &look->errors_error)) set_errors(L, &look->errors);
  lua_setfield(L, -2, "errors");
  return 1;
}

/* read(number, node) -> job -> {registers, ios, ext_csd, errors}; each has a
 * reason instead where it cannot be had */
static int l_read(lua_State *L) {
  static const struct l_job_kind kind = {
      {"ask mmc card", run_look, free}, push_look, NULL};
  struct sl_device_number number;
  char end;
  const char *text = luaL_checkstring(L, 1), *node = l_check_path(L, 2);
  luaL_argcheck(
      L, sscanf(text, "%u:%u%c", &number.major, &number.minor, &end) == 2, 1,
      "a device number is like 179:0");
  struct look *look = calloc(1, sizeof *look);
  if (!look) return luaL_error(L, "not enough memory");
  look->number = number;
  snprintf(look->node, sizeof look->node, "%s", node);
  return l_job_start(L, &kind, look);
}

/* parse_ios(text) -> what the file ios says, or nil */
static int l_parse_ios(lua_State *L) {
  struct sl_mmc_ios ios;
  if (sl_mmc_ios_parse(luaL_checkstring(L, 1), &ios) != 0) return 0;
  lua_createtable(L, 0, 9);
  set_ios(L, &ios);
  return 1;
}

/* parse_errors(text) -> {name → count} of the file err_stats, or nil */
static int l_parse_errors(lua_State *L) {
  struct sl_mmc_errors errors;
  if (sl_mmc_errors_parse(luaL_checkstring(L, 1), &errors) != 0) return 0;
  lua_createtable(L, 0, (int)errors.count);
  set_errors(L, &errors);
  return 1;
}

int luaopen_storlua_core_mmc(lua_State *L);
int luaopen_storlua_core_mmc(lua_State *L) {
  static const luaL_Reg functions[] = {{"read", l_read},
                                       {"parse_ios", l_parse_ios},
                                       {"parse_errors", l_parse_errors},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
