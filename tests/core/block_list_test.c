/* SPDX-License-Identifier: MIT */
/* Enumeration of trees that look like sysfs. */
#include "core/device/block_list.h"

#include <errno.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/fake_sysfs.h"

/* A sanitizer looks at each access. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIST_MS_MAX 1000
#else
#define LIST_MS_MAX 50
#endif

static struct sl_block_list blocks;

#define MMC "platform/fe33.mmc/mmc_host/mmc0/mmc0:0001/block/mmcblk0"
#define NVME "pci0/0000:01:00.0/nvme/nvme0/nvme0n1"

static void build(void) {
  fake_device(MMC, "179:0", "15269888");
  fake_attribute(MMC, "queue/logical_block_size", "512\n");
  fake_attribute(MMC, "queue/discard_max_bytes", "2199023255040\n");
  fake_attribute(MMC, "queue/scheduler", "none [bfq]\n");
  for (int i = 1; i <= 10; i++) {
    char part[120], number[16];
    snprintf(part, sizeof part, MMC "/mmcblk0p%d", i);
    snprintf(number, sizeof number, "179:%d", i);
    fake_device(part, number, "8192");
    fake_attribute(part, "partition", number + 4);
    fake_attribute(part, "alignment_offset", "0\n");
  }
  fake_device(MMC "/mmcblk0boot0", "179:32", "8192");
  fake_attribute(MMC "/mmcblk0boot0", "ro", "1\n");
  fake_device(MMC "/mmcblk0rpmb", "179:64", "8192");
  fake_device(NVME, "259:0", "1000");
  /* A path of a multi-path NVMe: hidden, no number. */
  fake_put("devices/pci0/nvme/nvme0c0n1/hidden", "1\n");
  fake_link("class/block/nvme0c0n1", "../../devices/pci0/nvme/nvme0c0n1");
  fake_device("pci0/cciss0/block/cciss!c0d0", "104:0", "x\n");
  fake_device("pci0/cciss0/block/cciss!c0d0/cciss!c0d0p1", "104:1", "10");
  fake_attribute("pci0/cciss0/block/cciss!c0d0/cciss!c0d0p1", "partition",
                 "1\n");
  fake_device("virtual/block/zram77", "253:77", "131072");
  fake_device("virtual/block/mtdblock0", "31:0", "8192");
  fake_device("virtual/block/dm-0", "252:0", "100");
  fake_attribute("virtual/block/dm-0", "dm/name", "vg-root\n");
  fake_stack(MMC "/mmcblk0p2", "virtual/block/dm-0");
  fake_device("virtual/block/loop3", "7:3", "0");
  /* One whose directory is gone: it must not hide the others. */
  fake_link("class/block/gone", "../../devices/gone");
  fake_put("mountinfo",
           "1 0 252:0 / / rw - ext4 /dev/root rw\n"
           "2 1 179:1 / /boot rw - vfat /dev/mmcblk0p1 rw\n"
           "3 1 179:1 /sub /mnt/a\\040b rw - vfat /dev/mmcblk0p1 rw\n"
           "4 2 0:40 / /boot rw - tmpfs tmpfs rw\n");
  fake_put("swaps",
           "Filename Type Size Used Priority\n"
           "/dev/zram77 partition 65532 0 -2\n");
}

static const struct sl_block *find(const char *name) {
  for (size_t i = 0; i < blocks.count; i++) {
    if (strcmp(blocks.list[i].identity.name, name) == 0) {
      return &blocks.list[i];
    }
  }
  return NULL;
}

#define CHECK_DEVICE(which, wanted, above)                         \
  do {                                                             \
    const struct sl_block *block_ = find(which);                   \
    CHECK(block_ != NULL);                                         \
    if (!block_) break;                                            \
    CHECK_STR(sl_device_kind_name(block_->identity.kind), wanted); \
    CHECK_STR(block_->identity.parent, above);                     \
  } while (0)

static void kinds_parents_and_order(void) {
  CHECK_EQ(blocks.count, 20);
  CHECK_DEVICE("mmcblk0", "disk", "");
  CHECK_DEVICE("mmcblk0p1", "partition", "mmcblk0");
  CHECK_DEVICE("mmcblk0boot0", "emmc-boot", "mmcblk0");
  CHECK_DEVICE("mmcblk0rpmb", "emmc-rpmb", "mmcblk0");
  CHECK_DEVICE("cciss/c0d0", "disk", "");
  CHECK_DEVICE("cciss/c0d0p1", "partition", "cciss/c0d0");
  CHECK_DEVICE("zram77", "zram", "");
  CHECK_DEVICE("mtdblock0", "mtd", "");
  CHECK_DEVICE("dm-0", "mapped", "");
  CHECK_DEVICE("loop3", "loop", "");
  CHECK(!find("nvme0c0n1") && !find("gone"));
  const struct sl_block *disk = find("mmcblk0");
  CHECK_STR(disk[1].identity.name, "mmcblk0boot0");
  CHECK_STR(disk[2].identity.name, "mmcblk0p1");
  CHECK_STR(disk[3].identity.name, "mmcblk0p2");
  CHECK_STR(disk[11].identity.name, "mmcblk0p10");
}

static void facts_and_what_is_not_known(void) {
  const struct sl_block *b = find("mmcblk0");
  CHECK_STR(b->transport, "mmc");
  CHECK_EQ(b->identity.logical_block_bytes, 512);
  CHECK_EQ(b->discard_max_bytes, INT64_C(2199023255040));
  CHECK_STR(b->identity.scheduler, "bfq");
  CHECK_EQ(b->write_zeroes_max_bytes, -1);
  CHECK_EQ(b->alignment_bytes, -1);
  CHECK_STR(b->signature.reason, "no node in /dev");
  b = find("mmcblk0p2");
  CHECK_EQ(b->discard_max_bytes, INT64_C(2199023255040));
  CHECK_EQ(b->alignment_bytes, 0);
  CHECK_STR(b->identity.scheduler, "bfq");
  CHECK_STR(find("mmcblk0rpmb")->signature.reason, "never opened");
  CHECK_STR(find("nvme0n1")->transport, "nvme");
  CHECK_STR(find("zram77")->transport, "");
  CHECK_STR(find("dm-0")->mapped_name, "vg-root");
  CHECK_EQ(find("cciss/c0d0")->identity.size_bytes, -1);
}

static const struct sl_use *use(const char *name, unsigned which) {
  const struct sl_block *b = find(name);
  for (size_t i = 0; i < blocks.uses.count; i++) {
    const struct sl_use *u = &blocks.uses.list[i];
    if (sl_same_device(u->device, b->identity.number) && which-- == 0) {
      return u;
    }
  }
  return NULL;
}

static void uses_and_content(void) {
  char text[256];
  const struct sl_use *u = use("mmcblk0p1", 0);
  CHECK_STR(u->mount->point, "/boot");
  CHECK(!sl_mounts_is_reachable(&blocks.uses.mounts, u->mount));
  u = use("mmcblk0p1", 1);
  CHECK_STR(u->mount->point, "/mnt/a b");
  CHECK_STR(u->mount->root, "/sub");
  CHECK(!use("mmcblk0p1", 2));
  CHECK_STR(find("mmcblk0p1")->signature.type, "vfat");
  CHECK(!find("mmcblk0p1")->signature.is_known);
  CHECK_STR(sl_use_text(&blocks.uses, use("mmcblk0p2", 0), text, sizeof text),
            "is held by dm-0, which is mounted on / (ext4)");
  CHECK_STR(sl_use_text(&blocks.uses, use("zram77", 0), text, sizeof text),
            "is swap in use (0 of 65532 KiB)");
  CHECK_EQ(use("zram77", 0)->swap_priority, -2);
  CHECK_STR(find("zram77")->signature.type, "swap");
  CHECK(!use("mmcblk0", 0));
}

static void many_devices(void) {
  for (int i = 0; i < 180; i++) {
    char disk[80], number[16];
    snprintf(disk, sizeof disk, "pci0/host%d/target/block/sd%d", i, i);
    snprintf(number, sizeof number, "65:%d", i);
    fake_device(disk, number, "1000");
    fake_attribute(disk, "queue/scheduler", "[none]\n");
    fake_attribute(disk, "queue/nr_requests", "64\n");
    fake_attribute(disk, "device/vendor", "V\n");
  }
  double best_ms = 1e9;
  for (int i = 0; i < 20 && best_ms >= LIST_MS_MAX; i++) {
    struct sl_block_list many;
    int64_t before = sl_monotonic_ns();
    CHECK_EQ(sl_block_list_read(&fake_system, SL_BLOCKS_PROBE, &many, NULL), 0);
    double ms = (double)(sl_monotonic_ns() - before) / 1e6;
    if (ms < best_ms) best_ms = ms;
    CHECK_EQ(many.count, 200);
    sl_block_list_release(&many);
  }
  printf("       200 devices in %.1f ms\n", best_ms);
  CHECK(best_ms < LIST_MS_MAX);
}

static void a_tree_that_is_not_there(void) {
  struct sl_system nowhere = {.sysfs = "/nonexistent",
                              .mountinfo = fake_mountinfo};
  struct sl_block_list none;
  struct sl_error e;
  CHECK_EQ(sl_block_list_read(&nowhere, 0, &none, &e), -ENOENT);
  CHECK(none.count == 0 && !none.list);
}

static void this_system(void) {
  struct sl_block_list real;
  clock_t cpu = clock();
  int64_t before = sl_monotonic_ns();
  struct sl_error e;
  CHECK_EQ(
      sl_block_list_read(NULL, SL_BLOCKS_PROBE | SL_BLOCKS_SPACE, &real, &e),
      0);
  int64_t took = sl_monotonic_ns() - before;
  printf("       %zu real devices in %.1f ms (processor %.1f ms)\n", real.count,
         (double)took / 1e6, 1e3 * (double)(clock() - cpu) / CLOCKS_PER_SEC);
  sl_block_list_release(&real);
}

int main(void) {
  fake_open();
  build();
  struct sl_error e;
  CHECK_EQ(sl_block_list_read(&fake_system, SL_BLOCKS_PROBE, &blocks, &e), 0);
  RUN(kinds_parents_and_order);
  RUN(facts_and_what_is_not_known);
  RUN(uses_and_content);
  sl_block_list_release(&blocks);
  RUN(many_devices);
  RUN(a_tree_that_is_not_there);
  RUN(this_system);
  fake_close();
  return TEST_DONE();
}
