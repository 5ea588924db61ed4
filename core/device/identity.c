/* SPDX-License-Identifier: MIT */
#include "core/device/identity.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/device/identity_private.h"

const char *sl_device_kind_name(enum sl_device_kind kind) {
  static const char *const names[] = {[SL_DEVICE_DISK] = "disk",
                                      [SL_DEVICE_PARTITION] = "partition",
                                      [SL_DEVICE_LOOP] = "loop",
                                      [SL_DEVICE_EMMC_BOOT] = "emmc-boot",
                                      [SL_DEVICE_EMMC_RPMB] = "emmc-rpmb",
                                      [SL_DEVICE_ZRAM] = "zram",
                                      [SL_DEVICE_RAM] = "ram",
                                      [SL_DEVICE_MTD] = "mtd",
                                      [SL_DEVICE_MAPPED] = "mapped"};
  return names[kind];
}

/* Whether `name` is `prefix` and then a number: "loop12". */
static bool is_numbered(const char *name, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(name, prefix, length) == 0 &&
         isdigit((unsigned char)name[length]);
}

static enum sl_device_kind kind_of(const char *name, bool is_partition) {
  static const struct {
    const char *prefix;
    enum sl_device_kind kind;
  } kinds[] = {{"loop", SL_DEVICE_LOOP},    {"zram", SL_DEVICE_ZRAM},
               {"ram", SL_DEVICE_RAM},      {"mtdblock", SL_DEVICE_MTD},
               {"dm-", SL_DEVICE_MAPPED},   {"md", SL_DEVICE_MAPPED},
               {"bcache", SL_DEVICE_MAPPED}};

  if (is_partition) return SL_DEVICE_PARTITION;
  if (is_numbered(name, "mmcblk")) {
    size_t digits = strspn(name + 6, "0123456789");
    if (strncmp(name + 6 + digits, "boot", 4) == 0) return SL_DEVICE_EMMC_BOOT;
    if (strcmp(name + 6 + digits, "rpmb") == 0) return SL_DEVICE_EMMC_RPMB;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (is_numbered(name, kinds[i].prefix)) return kinds[i].kind;
  }
  return SL_DEVICE_DISK;
}

/* sysfs writes `!` where the device's name has `/`. */
static void name_of(const char *directory, char *name) {
  snprintf(name, SL_KERNEL_NAME_BYTES, "%s", sl_sysfs_name(directory));
  for (char *p = name; (p = strchr(p, '!'));)
    *p = '/';
}

/* The node the name stands for, if it is there and is this device. */
static void find_node(struct sl_identity *id) {
  struct stat st;

  if (id->kind == SL_DEVICE_EMMC_RPMB) return;
  snprintf(id->node, sizeof id->node, "/dev/%s", id->name);
  if (stat(id->node, &st) == 0 && S_ISBLK(st.st_mode) &&
      major(st.st_rdev) == id->number.major &&
      minor(st.st_rdev) == id->number.minor) {
    return;
  }
  id->node[0] = '\0';
}

/* "[mq-deadline] none" or plain "none". */
static void read_scheduler(const char *disk, char *scheduler, size_t size) {
  char text[256];

  if (sl_sysfs_label(disk, "queue/scheduler", text, sizeof text) <= 0) return;
  char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;
  if (to) *to = '\0';
  snprintf(scheduler, size, "%.30s", to ? from + 1 : text);
}

static void read_queue(const char *disk, struct sl_identity *id) {
  id->logical_block_bytes = sl_sysfs_number(disk, "queue/logical_block_size");
  id->physical_block_bytes = sl_sysfs_number(disk, "queue/physical_block_size");
  id->rotational = sl_sysfs_number(disk, "queue/rotational");
  id->fua = sl_sysfs_number(disk, "queue/fua");
  int64_t ahead_kib = sl_sysfs_number(disk, "queue/read_ahead_kb");
  id->read_ahead_bytes = ahead_kib < 0 ? -1 : ahead_kib * 1024;
  sl_sysfs_label(disk, "queue/write_cache", id->write_cache,
                 sizeof id->write_cache);
  read_scheduler(disk, id->scheduler, sizeof id->scheduler);
}

/* The page 0x80 of a SCSI device: four bytes of header, then the serial. */
static void read_scsi_serial(const char *disk, struct sl_identity *id) {
  char page[SL_LABEL_BYTES + 4];

  ssize_t length = sl_sysfs_text(disk, "device/vpd_pg80", page, sizeof page);
  if (length <= 4) return;
  const char *from = page + 4, *end = page + length;
  while (from < end && (*from == ' ' || *from == '\0'))
    from++;
  while (end > from && (end[-1] == ' ' || end[-1] == '\0'))
    end--;
  snprintf(id->serial, sizeof id->serial, "%.*s", (int)(end - from), from);
}

/* Fills what `first` or else `second` tells. */
static void read_label(const char *disk, const char *first, const char *second,
                       char *text, size_t size) {
  if (sl_sysfs_label(disk, first, text, size) <= 0 && second) {
    sl_sysfs_label(disk, second, text, size);
  }
}

static void read_mmc(const char *disk, struct sl_identity *id) {
  sl_sysfs_label(disk, "device/type", id->mmc_type, sizeof id->mmc_type);
  sl_sysfs_label(disk, "device/cid", id->mmc_cid, sizeof id->mmc_cid);
  sl_sysfs_label(disk, "device/name", id->mmc_name, sizeof id->mmc_name);
  sl_sysfs_label(disk, "device/manfid", id->mmc_manfid, sizeof id->mmc_manfid);
  sl_sysfs_label(disk, "device/oemid", id->mmc_oemid, sizeof id->mmc_oemid);
  sl_sysfs_label(disk, "device/date", id->mmc_date, sizeof id->mmc_date);
  read_label(disk, "device/serial", NULL, id->serial, sizeof id->serial);
  read_label(disk, "device/fwrev", NULL, id->firmware, sizeof id->firmware);
}

/* Devices that the kernel makes have no serial number: what it is known by for
 * as long as it is set up.  dm and md are told their UUID. */
static bool read_made_unit(const char *disk, struct sl_identity *id) {
  static const struct {
    const char *prefix, *scheme, *attribute; /* NULL: the number */
  } made[] = {{"zram", "zram", NULL},
              {"ram", "ram", NULL},
              {"dm-", "dm", "dm/uuid"},
              {"md", "md", "md/uuid"}};
  const char *name = sl_sysfs_name(disk);

  for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
    if (!is_numbered(name, made[i].prefix)) continue;
    char uuid[SL_LABEL_BYTES + 16] = "";
    const char *text = name + strlen(made[i].prefix);
    if (made[i].attribute) {
      sl_sysfs_label(disk, made[i].attribute, uuid, sizeof uuid);
      text = uuid;
    }
    if (text[0])
      snprintf(id->unit, SL_UNIT_BYTES, "%s:%s", made[i].scheme, text);
    return true;
  }
  return false;
}

/* The namespaces of one controller share its serial number. */
static void name_nvme_unit(const char *disk, struct sl_identity *id) {
  int64_t namespace_id = sl_sysfs_number(disk, "nsid");
  int at = snprintf(id->unit, SL_UNIT_BYTES, "nvme:%s", id->serial);
  if (namespace_id >= 0) {
    snprintf(id->unit + at, SL_UNIT_BYTES - (size_t)at, ":%lld",
             (long long)namespace_id);
  }
}

static void read_unit(const char *disk, const char *disk_node,
                      struct sl_identity *id) {
  const char *name = sl_sysfs_name(disk);

  if (is_numbered(name, "mmcblk")) {
    read_mmc(disk, id);
    if (id->mmc_cid[0]) {
      snprintf(id->unit, SL_UNIT_BYTES, "mmc:%s", id->mmc_cid);
    }
    return;
  }
  if (is_numbered(name, "loop")) {
    id->is_loop_attached =
        sl_loop_backing_read(disk, disk_node, &id->loop) == 0;
    if (id->is_loop_attached) {
      snprintf(id->unit, SL_UNIT_BYTES, "loop:%s", id->loop.path);
    }
    return;
  }
  if (read_made_unit(disk, id)) return;
  read_label(disk, "device/vendor", NULL, id->vendor, sizeof id->vendor);
  read_label(disk, "device/model", NULL, id->model, sizeof id->model);
  read_label(disk, "device/serial", "serial", id->serial, sizeof id->serial);
  read_label(disk, "wwid", "device/wwid", id->wwid, sizeof id->wwid);
  read_label(disk, "device/firmware_rev", "device/rev", id->firmware,
             sizeof id->firmware);
  if (!id->serial[0]) read_scsi_serial(disk, id);
  sl_identity_read_usb(disk, id);
  if (is_numbered(name, "nvme") && id->serial[0]) {
    name_nvme_unit(disk, id);
  } else if (id->wwid[0]) {
    snprintf(id->unit, SL_UNIT_BYTES, "wwid:%s", id->wwid);
  } else if (id->serial[0]) {
    int at = snprintf(id->unit, SL_UNIT_BYTES, "serial:%s:%s:%s", id->vendor,
                      id->model, id->serial);
    for (int i = 0; i < at; i++) {
      if (isspace((unsigned char)id->unit[i])) id->unit[i] = '_';
    }
  }
}

/* Turns `directory` into that of the whole disk, where it is not one. */
static void go_to_disk(char *directory, struct sl_identity *id) {
  char *slash = strrchr(directory, '/');

  /* Boot areas hang below their card's disk, as partitions do. */
  if (id->kind != SL_DEVICE_PARTITION && id->kind != SL_DEVICE_EMMC_BOOT &&
      id->kind != SL_DEVICE_EMMC_RPMB) {
    return;
  }
  if (!slash) return;
  struct sl_device_number number;
  *slash = '\0';
  if (sl_sysfs_device(directory, "dev", &number) != 0) {
    *slash = '/';
    return;
  }
  id->parent_number = number;
  name_of(directory, id->parent);
}

int sl_identity_read(const struct sl_system *system,
                     struct sl_device_number device, struct sl_identity *id,
                     struct sl_error *e) {
  char directory[SL_SYSFS_PATH_BYTES], text[32];

  memset(id, 0, sizeof *id);
  id->number = device;
  int code = sl_sysfs_directory(system, device, directory);
  if (code != 0) {
    snprintf(text, sizeof text, "%u:%u", device.major, device.minor);
    return sl_error_set(e, code, "find block device", text, -1);
  }
  sl_sysfs_enter(directory);
  id->partition = sl_sysfs_number(directory, "partition");
  id->kind = kind_of(sl_sysfs_name(directory), id->partition >= 0);
  name_of(directory, id->name);
  find_node(id);
  int64_t sectors = sl_sysfs_number(directory, "size");
  id->size_bytes = sectors < 0 ? -1 : sectors * 512; /* always of 512 */
  bool is_partition = id->partition >= 0;
  int64_t start = is_partition ? sl_sysfs_number(directory, "start") : -1;
  id->start_bytes = start < 0 ? -1 : start * 512;
  id->read_only = sl_sysfs_number(directory, "ro");
  sl_sysfs_leave();

  go_to_disk(directory, id);
  sl_sysfs_enter(directory);
  id->disk_sequence = sl_sysfs_number(directory, "diskseq");
  id->removable = sl_sysfs_number(directory, "removable");
  read_queue(directory, id);
  char disk_node[SL_KERNEL_NAME_BYTES + 8];
  snprintf(disk_node, sizeof disk_node, "/dev/%s",
           id->parent[0] ? id->parent : id->name);
  read_unit(directory, disk_node, id);
  sl_sysfs_leave();
  return 0;
}
