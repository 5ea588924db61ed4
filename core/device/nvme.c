/* SPDX-License-Identifier: MIT */
#include "core/device/nvme.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { GET_LOG_PAGE = 0x02, SMART_LOG = 0x02, TIMEOUT_MS = 10000 };

/* 16 bytes, little-endian. */
static int64_t wide(const uint8_t *bytes) {
  uint64_t low = 0;
  for (int i = 7; i >= 0; i--)
    low = low << 8 | bytes[i];
  for (int i = 8; i < 16; i++) {
    if (bytes[i]) return INT64_MAX;
  }
  return low > INT64_MAX ? INT64_MAX : (int64_t)low;
}

static int64_t data_units(const uint8_t *bytes) {
  int64_t units = wide(bytes);
  return units > INT64_MAX / 512000 ? INT64_MAX : units * 512000;
}

void sl_nvme_smart_decode(const uint8_t *d, struct sl_nvme_smart *s) {
  int64_t kelvin = d[1] | d[2] << 8;
  s->critical_warning = d[0];
  s->temperature_millicelsius = kelvin ? kelvin * 1000 - 273150 : -1;
  s->spare_percent = d[3];
  s->spare_threshold_percent = d[4];
  s->used_percent = d[5];
  s->read_bytes = data_units(d + 32);
  s->written_bytes = data_units(d + 48);
  s->power_cycles = wide(d + 112);
  s->power_on_hours = wide(d + 128);
  s->unsafe_shutdowns = wide(d + 144);
  s->media_errors = wide(d + 160);
  s->error_log_entries = wide(d + 176);
}

int sl_nvme_smart_read(const char *node, uint8_t *data, struct sl_error *e) {
  struct nvme_admin_cmd command = {
      .opcode = GET_LOG_PAGE,
      .nsid = 0xffffffff,
      .addr = (uint64_t)(uintptr_t)data,
      .data_len = SL_NVME_SMART_BYTES,
      .cdw10 = (SL_NVME_SMART_BYTES / 4 - 1) << 16 | SMART_LOG,
      .timeout_ms = TIMEOUT_MS};

  int fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return sl_error_set(e, -errno, "open", node, -1);
  int status = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
  int code = status < 0 ? -errno : status > 0 ? -EIO : 0;
  close(fd);
  if (code == 0) return 0;
  sl_error_set(e, code, "NVME_IOCTL_ADMIN_CMD", node, -1);
  if (code == -EACCES) sl_error_hint(e, "asking the drive needs root");
  if (code == -ENOTTY) sl_error_hint(e, "it is no NVMe drive");
  if (status > 0) sl_error_hint(e, "the drive answers with 0x%x", status);
  return code;
}

/* temp1_input of a hwmon device below `directory`. */
static int read_hwmon(const char *directory, int64_t *millicelsius) {
  char attribute[300], text[32], *end;
  struct dirent *entry;
  int code = -ENOENT;

  DIR *list = opendir(directory);
  if (!list) return -ENOENT;
  while (code == -ENOENT && (entry = readdir(list))) {
    if (strncmp(entry->d_name, "hwmon", 5) != 0) continue;
    snprintf(attribute, sizeof attribute, "%s/temp1_input", entry->d_name);
    if (sl_sysfs_text(directory, attribute, text, sizeof text) <= 0) continue;
    *millicelsius = strtoll(text, &end, 10);
    if (*end == '\0') code = 0;
  }
  closedir(list);
  return code;
}

int sl_disk_temperature(const struct sl_system *system,
                        struct sl_device_number device, int64_t *millicelsius) {
  static const char *const places[] = {"/device", "/device/hwmon",
                                       "/device/device/hwmon"};
  char directory[SL_SYSFS_PATH_BYTES + 24];

  int code = sl_sysfs_directory(system, device, directory);
  if (code != 0) return code;
  size_t length = strlen(directory);
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    strcpy(directory + length, places[i]);
    if (read_hwmon(directory, millicelsius) == 0) return 0;
  }
  return -ENOENT;
}
