/* SPDX-License-Identifier: MIT */
/* Asking the card and its host. */
#include <errno.h>
#include <fcntl.h>
#include <linux/mmc/ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/device/mmc.h"

enum {
  SEND_EXT_CSD = 8,
  RESPONSE_R1 = 1 << 0 | 1 << 2 | 1 << 4, /* present, CRC, opcode */
  RESPONSE_SPI_R1 = 1 << 7,
  TYPE_ADTC = 1 << 5,
  WAKE_BYTES = 4096
};

int sl_ext_csd_read(const char *node, uint8_t *data, struct sl_error *e) {
  struct mmc_ioc_cmd command = {
      .opcode = SEND_EXT_CSD,
      .flags = RESPONSE_R1 | RESPONSE_SPI_R1 | TYPE_ADTC,
      .blksz = SL_EXT_CSD_BYTES,
      .blocks = 1};
  mmc_ioc_cmd_set_data(command, data);
  int fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return sl_error_set(e, -errno, "open", node, -1);
  int code = ioctl(fd, MMC_IOC_CMD, &command) == 0 ? 0 : -errno;
  close(fd);
  if (code == 0) return 0;
  sl_error_set(e, code, "MMC_IOC_CMD", node, -1);
  if (code == -EPERM) sl_error_hint(e, "asking the card needs root");
  if (code == -ENOTTY) sl_error_hint(e, "it is no eMMC");
  return code;
}

/* "mmc0" and "mmc0:0001" are parts of the path in sysfs. */
static bool find_host(const char *directory, char *host, char *card,
                      size_t size) {
  unsigned number, address;

  for (const char *p = directory; (p = strstr(p, "/mmc")); p++) {
    int end = 0;
    if (sscanf(p, "/mmc%u:%x%n", &number, &address, &end) == 2 &&
        (p[end] == '/' || p[end] == '\0')) {
      snprintf(host, size, "mmc%u", number);
      snprintf(card, size, "%.*s", end - 1, p + 1);
      return true;
    }
  }
  return false;
}

int sl_mmc_debug_read(const struct sl_system *system,
                      struct sl_device_number device, const char *file,
                      char *text, size_t size, struct sl_error *e) {
  char *directory = malloc(SL_SYSFS_PATH_BYTES);
  char host[24], card[24], below[120], path[SL_SYSFS_PATH_BYTES];
  bool found = directory &&
               sl_sysfs_directory(system, device, directory) == 0 &&
               find_host(directory, host, card, sizeof host);
  free(directory);
  if (!found) {
    sl_error_set(e, -ENODEV, "read", file, -1);
    sl_error_hint(e, "it is on no mmc host");
    return -ENODEV;
  }
  bool of_card = strcmp(file, "ext_csd") == 0;
  snprintf(below, sizeof below, "kernel/debug/%s/%s%s%s", host,
           of_card ? card : "", of_card ? "/" : "", file);
  int code = sl_system_sysfs(system, below, path);
  if (code != 0) return sl_error_set(e, code, "read", file, -1);
  ssize_t length = sl_file_read(path, text, size, e);
  if (length >= 0) return 0;
  if (length == -ENOENT) {
    sl_error_hint(e,
                  "debugfs is not mounted (mount -t debugfs none "
                  "/sys/kernel/debug), or this kernel has no %s",
                  file);
  } else if (length == -EACCES) {
    sl_error_hint(e, "debugfs is for root");
  }
  return (int)length;
}

int sl_mmc_wake(const char *node, struct sl_error *e) {
  void *buffer;

  int code = -posix_memalign(&buffer, WAKE_BYTES, WAKE_BYTES);
  if (code != 0) return sl_error_set(e, code, "pread", node, -1);
  int fd = open(node, O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (fd < 0) {
    code = sl_error_set(e, -errno, "open", node, -1);
  } else if (pread(fd, buffer, WAKE_BYTES, 0) < 0) {
    code = sl_error_set(e, -errno, "pread", node, 0);
  }
  if (fd >= 0) close(fd);
  free(buffer);
  return code;
}
