/* SPDX-License-Identifier: MIT */
/* Identity, counters and chain on a tree that looks like sysfs. */
#include "core/device/identity.h"

#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/device/chain.h"
#include "core/device/counters.h"
#include "core/device/path_device.h"
#include "core/test.h"

static char root[] = "/tmp/identity_test.XXXXXX";
static struct sl_system sys = {.sysfs = root};
static struct sl_identity id;

static void make_directories(char *path) {
  for (char *p = path + 1; (p = strchr(p, '/')); p++) {
    *p = '\0';
    mkdir(path, 0700);
    *p = '/';
  }
}

static void put(const char *path, const char *text) {
  char full[512];
  snprintf(full, sizeof full, "%s/%s", root, path);
  make_directories(full);
  FILE *f = fopen(full, "w");
  if (!f) abort();
  fputs(text, f);
  fclose(f);
}

/* A block device: its directory, its number, the link by number. */
static void put_device(const char *directory, const char *number) {
  char path[512], target[512];
  snprintf(path, sizeof path, "%s/dev", directory);
  put(path, number);
  snprintf(path, sizeof path, "%s/dev/block/%s", root, number);
  make_directories(path);
  snprintf(target, sizeof target, "../../%s", directory);
  if (symlink(target, path) != 0) abort();
}

static void put_link(const char *path, const char *target) {
  char full[512];
  snprintf(full, sizeof full, "%s/%s", root, path);
  make_directories(full);
  if (symlink(target, full) != 0) abort();
}

#define MMC "devices/platform/fe33.mmc/mmc_host/mmc2/mmc2:0001"
#define CID "150100424a544434520ff0c8e5a4a51b"

static void build(void) {
  put(MMC "/cid", CID "\n");
  put(MMC "/type", "MMC\n");
  put(MMC "/name", "BJTD4R\n");
  put(MMC "/manfid", "0x000015\n");
  put_device(MMC "/block/mmcblk2", "179:0");
  put_link(MMC "/block/mmcblk2/device", "../..");
  put(MMC "/block/mmcblk2/size", "15269888\n");
  put(MMC "/block/mmcblk2/ro", "0\n");
  put(MMC "/block/mmcblk2/removable", "0\n");
  put(MMC "/block/mmcblk2/queue/logical_block_size", "512\n");
  put(MMC "/block/mmcblk2/queue/scheduler", "none [mq-deadline] bfq\n");
  put(MMC "/block/mmcblk2/queue/write_cache", "write back\n");
  put(MMC "/block/mmcblk2/queue/fua", "1\n");
  put_device(MMC "/block/mmcblk2/mmcblk2p1", "179:1");
  put(MMC "/block/mmcblk2/mmcblk2p1/partition", "1\n");
  put(MMC "/block/mmcblk2/mmcblk2p1/start", "8192\n");
  put(MMC "/block/mmcblk2/mmcblk2p1/size", "100\n");
  put(MMC "/block/mmcblk2/mmcblk2p1/stat",
      " 10 1 80 5  20 2 160 6  3 7 8  1 0 16 2\n");
  put_device(MMC "/block/mmcblk2/mmcblk2boot0", "179:8");
  put_link(MMC "/block/mmcblk2/mmcblk2boot0/device", "..");
  put(MMC "/block/mmcblk2/mmcblk2boot0/ro", "1\n");

#define NVME "devices/pci0000:00/0000:01:00.0/nvme/nvme0"
  put(NVME "/serial", "S4EW NX0R  \n");
  put(NVME "/model", "Samsung SSD 970      \n");
  put_device(NVME "/nvme0n1", "259:0");
  put_link(NVME "/nvme0n1/device", "..");
  put(NVME "/nvme0n1/wwid", "eui.0025385b01234567\n");
  put(NVME "/nvme0n1/nsid", "1\n");
  put_device(NVME "/nvme0n2", "259:1");
  put_link(NVME "/nvme0n2/device", "..");
  put(NVME "/nvme0n2/nsid", "7\n");
  put_device(NVME "/nvme0n3", "259:2"); /* of a kernel that does not tell */
  put_link(NVME "/nvme0n3/device", "..");

#define SCSI "devices/pci0/usb1/1-1/1-1.2/host2/target2:0:0/2:0:0:0"
  put_device(SCSI "/block/sda", "8:0");
  put_link(SCSI "/block/sda/device", "../..");
  put(SCSI "/vendor", "SanDisk \n");
  put(SCSI "/model", "Ultra           \n");
  put(SCSI "/vpd_pg80", "XXXX  4C53  ");
  put(SCSI "/block/sda/size", "x\n");

  put_device("devices/pci0/cciss0/block/cciss!c0d0", "104:0");
  put_device("devices/virtual/block/dm-0", "252:0");
  put("devices/virtual/block/dm-0/dm/uuid", "CRYPT-LUKS2-0123abcd-key\n");
  put_device("devices/virtual/block/dm-1", "252:1");
  put_device("devices/virtual/block/zram2", "253:2");
  put_device("devices/virtual/block/ram0", "1:0");
  put_link("devices/virtual/block/dm-0/slaves/sda",
           "../../../../../" SCSI "/block/sda");
  put_device("devices/virtual/block/loop9", "7:9");
}

static void read_id(unsigned major, unsigned minor) {
  struct sl_error e;
  int code =
      sl_identity_read(&sys, (struct sl_device_number){major, minor}, &id, &e);
  CHECK_EQ(code, 0);
}

static void mmc_and_its_parts(void) {
  read_id(179, 1);
  CHECK_STR(id.name, "mmcblk2p1");
  CHECK_STR(sl_device_kind_name(id.kind), "partition");
  CHECK_EQ(id.partition, 1);
  CHECK_STR(id.parent, "mmcblk2");
  CHECK_EQ(id.parent_number.major, 179);
  CHECK_EQ(id.size_bytes, 51200);
  CHECK_EQ(id.start_bytes, 8192 * 512);
  CHECK_EQ(id.read_only, -1);
  CHECK_EQ(id.removable, 0);
  CHECK_EQ(id.logical_block_bytes, 512);
  CHECK_EQ(id.physical_block_bytes, -1);
  CHECK_STR(id.unit, "mmc:" CID);
  CHECK_STR(id.mmc_type, "MMC");
  CHECK_STR(id.mmc_name, "BJTD4R");
  CHECK_STR(id.mmc_manfid, "0x000015");
  CHECK_STR(id.mmc_date, "");
  CHECK_STR(id.scheduler, "mq-deadline");
  CHECK_STR(id.write_cache, "write back");
  CHECK_EQ(id.fua, 1);
  CHECK_EQ(id.disk_sequence, -1);
  CHECK_STR(id.node, "");
  read_id(179, 0);
  CHECK_STR(sl_device_kind_name(id.kind), "disk");
  CHECK_STR(id.parent, "");
  CHECK_EQ(id.size_bytes, INT64_C(15269888) * 512);
  read_id(179, 8);
  CHECK_STR(sl_device_kind_name(id.kind), "emmc-boot");
  CHECK_STR(id.parent, "mmcblk2");
  CHECK_STR(id.unit, "mmc:" CID);
  CHECK_EQ(id.read_only, 1);
}

static void other_buses(void) {
  read_id(259, 0);
  CHECK_STR(id.unit, "nvme:S4EW NX0R:1");
  CHECK_STR(id.model, "Samsung SSD 970");
  CHECK_STR(id.wwid, "eui.0025385b01234567");
  read_id(259, 1);
  CHECK_STR(id.unit, "nvme:S4EW NX0R:7");
  read_id(259, 2);
  CHECK_STR(id.unit, "nvme:S4EW NX0R");
  read_id(8, 0);
  CHECK_STR(id.vendor, "SanDisk");
  CHECK_STR(id.serial, "4C53");
  CHECK_STR(id.unit, "serial:SanDisk:Ultra:4C53");
  CHECK_EQ(id.size_bytes, -1);
  read_id(104, 0);
  CHECK_STR(id.name, "cciss/c0d0");
  read_id(252, 0);
  CHECK_STR(sl_device_kind_name(id.kind), "mapped");
  CHECK_STR(id.unit, "dm:CRYPT-LUKS2-0123abcd-key");
  read_id(252, 1);
  CHECK_STR(id.unit, "");
  read_id(253, 2);
  CHECK_STR(id.unit, "zram:2");
  read_id(1, 0);
  CHECK_STR(id.unit, "ram:0");
  read_id(7, 9);
  CHECK_STR(sl_device_kind_name(id.kind), "loop");
  CHECK(!id.is_loop_attached);
  struct sl_error e;
  CHECK_EQ(sl_identity_read(&sys, (struct sl_device_number){1, 2}, &id, &e),
           -ENOENT);
  CHECK_STR(e.path, "1:2");
}

static bool chain_has(const struct sl_chain *c, const char *name) {
  for (unsigned i = 0; i < c->count; i++) {
    if (strcmp(c->links[i].name, name) == 0) return true;
  }
  return false;
}

static void chains_reach_hosts(void) {
  struct sl_chain c = {0};
  sl_chain_add(&c, &sys, (struct sl_device_number){179, 1});
  CHECK_EQ(c.count, 4);
  CHECK(chain_has(&c, "mmcblk2p1") && chain_has(&c, "mmcblk2"));
  CHECK(chain_has(&c, "mmc2") && chain_has(&c, "mmc2:0001"));
  CHECK_STR(sl_chain_find(&c, "jbd2/mmcblk2p1-8 stuck"), "mmcblk2p1");
  CHECK(!sl_chain_find(&c, "mmcblk2p2 mmcblk2rpmb mmc21"));
  c = (struct sl_chain){0};
  sl_chain_add(&c, &sys, (struct sl_device_number){179, 0});
  CHECK(chain_has(&c, "mmcblk2p1"));
  CHECK(!chain_has(&c, "mmcblk2boot0"));
  c = (struct sl_chain){0};
  sl_chain_add(&c, &sys, (struct sl_device_number){252, 0});
  CHECK(chain_has(&c, "dm-0") && chain_has(&c, "sda"));
  CHECK(chain_has(&c, "2:0:0:0") && chain_has(&c, "1-1.2"));
  CHECK(sl_chain_has_number(&c, (struct sl_device_number){8, 0}));
  c = (struct sl_chain){0};
  sl_chain_add(&c, &sys, (struct sl_device_number){259, 0});
  CHECK(chain_has(&c, "nvme0") && chain_has(&c, "nvme0n1"));
}

static void counters_and_wraps(void) {
  struct sl_counters a, b, d;
  CHECK_EQ(sl_counters_read(&sys, (struct sl_device_number){179, 1}, &a, NULL),
           0);
  CHECK_EQ(a.read.operations, 10);
  CHECK_EQ(a.read.bytes, 80 * 512);
  CHECK_EQ(a.write.wait_ns, 6000000);
  CHECK_EQ(a.in_flight, 3);
  CHECK_EQ(a.busy_ns, 7000000);
  CHECK_EQ(a.discard.bytes, 16 * 512);
  CHECK(a.has_discard && !a.has_flush);
  b = a;
  b.write.bytes += 4096;
  CHECK_EQ(sl_counters_since(&a, &b, &d), 0);
  CHECK_EQ(d.write.bytes, 4096);
  CHECK_EQ(d.read.operations, 0);
  CHECK_EQ(sl_counters_since(&b, &a, &d), -ERANGE);
  a.write.operations = UINT32_MAX;
  b.write.operations = 4;
  CHECK_EQ(sl_counters_since(&a, &b, &d), 0);
  CHECK_EQ(d.write.operations, 5);
  CHECK_EQ(sl_counters_read(&sys, (struct sl_device_number){8, 0}, &a, NULL),
           -ENOENT);
}

static void root_by_number(void) {
  char table[128];
  struct sl_path_device found;
  snprintf(table, sizeof table, "%s/mountinfo", root);
  put("mountinfo",
      "1 0 179:1 / / rw - ext4 /dev/root rw\n"
      "2 1 0:31 / /tmp rw - fuse.sshfs host: rw\n");
  struct sl_system other = {.sysfs = root, .mountinfo = table};
  CHECK_EQ(sl_path_device_find("/", &other, &found, NULL), 0);
  CHECK_EQ(found.count, 1);
  CHECK_EQ(found.devices[0].major, 179);
  CHECK_STR(found.mount->source, "/dev/root");
  sl_path_device_release(&found);
  CHECK_EQ(sl_path_device_find("/tmp", &other, &found, NULL), 0);
  CHECK_EQ(found.count, 0);
  CHECK_STR(found.reason,
            "no single block device: fuse.sshfs is served by a user process");
  sl_path_device_release(&found);
  struct sl_error e;
  CHECK_EQ(sl_path_device_find("/no/such/path", NULL, &found, &e), -ENOENT);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw) {
  (void)st, (void)type, (void)ftw;
  return remove(path);
}

int main(void) {
  if (!mkdtemp(root)) return EXIT_FAILURE;
  build();
  RUN(mmc_and_its_parts);
  RUN(other_buses);
  RUN(chains_reach_hosts);
  RUN(counters_and_wraps);
  RUN(root_by_number);
  nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  return TEST_DONE();
}
