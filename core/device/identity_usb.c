/* SPDX-License-Identifier: MIT */
/* The serial number of a USB stick stands at the USB device, some levels above
 * the disk. */
#include <stdio.h>
#include <string.h>

#include "core/device/identity_private.h"

static bool is_usb_device(const char *directory) {
  char text[16];
  return sl_sysfs_label(directory, "idVendor", text, sizeof text) > 0;
}

void sl_identity_read_usb(const char *disk, struct sl_identity *id) {
  char directory[SL_SYSFS_PATH_BYTES];
  char *slash;

  if (id->serial[0] || !strstr(disk, "/usb")) return;
  snprintf(directory, sizeof directory, "%s", disk);
  while ((slash = strrchr(directory, '/')) && slash != directory) {
    *slash = '\0';
    if (!is_usb_device(directory)) continue;
    sl_sysfs_label(directory, "serial", id->serial, sizeof id->serial);
    if (!id->vendor[0]) {
      sl_sysfs_label(directory, "manufacturer", id->vendor, sizeof id->vendor);
    }
    if (!id->model[0]) {
      sl_sysfs_label(directory, "product", id->model, sizeof id->model);
    }
    return;
  }
}
