/* SPDX-License-Identifier: MIT */
/* The safety gate on trees that look like sysfs: what loop devices cannot
 * show. */
#include "core/device/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

#include "core/fake_sysfs.h"

static struct sl_gate_answer *answer;

#define SDA "pci0/host0/target0:0:0/0:0:0:0/block/sda"
#define MMC "platform/mmc_host/mmc1/mmc1:0001/block/mmcblk1"
#define STICK "pci0/usb1/1-1/1-1:1.0/host%d/target/0/block/sd%c"

static void build(void) {
  fake_device(SDA, "8:0", "1000000");
  fake_attribute(SDA, "wwid", "naa.5000c500");
  for (int i = 1; i <= 2; i++) {
    char part[80], number[16];
    snprintf(part, sizeof part, SDA "/sda%d", i);
    snprintf(number, sizeof number, "8:%d", i);
    fake_device(part, number, "400000");
    fake_attribute(part, "partition", i == 1 ? "1" : "2");
  }
  fake_device("virtual/block/dm-0", "252:0", "300000");
  fake_device("virtual/block/dm-1", "252:1", "100000");
  fake_stack(SDA "/sda2", "virtual/block/dm-0");
  fake_stack(SDA "/sda2", "virtual/block/dm-1");
  fake_device(MMC, "179:0", "15269888");
  fake_attribute(MMC, "device/cid", "150100424A544434");
  fake_device(MMC "/mmcblk1boot0", "179:8", "8192");
  fake_device(MMC "/mmcblk1gp0", "179:24", "8192");
  for (int i = 0; i < 3; i++) { /* two namespaces of one, one of another */
    char disk[80], number[16], id[16];
    snprintf(disk, sizeof disk, "pci0/nvme/nvme%d/nvme%dn%d", i / 2, i / 2,
             i % 2 + 1);
    snprintf(number, sizeof number, "259:%d", i);
    snprintf(id, sizeof id, "%d\n", i % 2 + 1);
    fake_device(disk, number, "1000000");
    fake_attribute(disk, "nsid", id);
    fake_attribute(disk, "wwid", i == 1 ? "eui.0002\n" : "eui.0001\n");
    fake_attribute(disk, "device/serial", i == 2 ? "S2\n" : "S1\n");
  }
  fake_device("virtual/block/zram0", "253:0", "131072");
  for (int i = 0; i < 3; i++) {
    char stick[100], number[16];
    snprintf(stick, sizeof stick, STICK, i, 'x' + i);
    snprintf(number, sizeof number, "65:%d", i * 16);
    fake_device(stick, number, i == 2 ? "0" : "60000");
    fake_attribute(stick, "device/vendor", "Generic \n");
    fake_attribute(stick, "device/model", "Flash Disk\n");
  }
  fake_put("devices/pci0/usb1/1-1/idVendor", "0bda\n");
  fake_put("devices/pci0/usb1/1-1/serial", "123456\n");
  fake_put("mountinfo",
           "1 0 252:0 / / rw - ext4 /dev/mapper/vg-root rw\n"
           "2 1 0:31 / /tmp rw - tmpfs tmpfs rw\n");
  fake_put("swaps",
           "Filename Type Size Used Priority\n"
           "/dev/zram0\\040(deleted) partition 65532 128 100\n");
}

/* Asks for the device with this number, by a node of our own. */
static int ask(unsigned major, unsigned minor, const char *consent) {
  const char *consents[] = {consent};
  char node[64];
  snprintf(node, sizeof node, "%s/node", fake_root);
  unlink(node);
  if (mknod(node, S_IFBLK | 0600, makedev(major, minor)) != 0) {
    return -errno;
  }
  struct sl_gate_request request = {.path = node,
                                    .consents = consents,
                                    .consent_count = consent != NULL,
                                    .system = &fake_system};
  struct sl_grant *grant;
  struct sl_error e;
  int code = sl_gate_open(&request, answer, &grant, &e);
  CHECK(code != 0 && !grant); /* none of them can be opened */
  return code;
}

static const char *reason(const char *code) {
  for (unsigned i = 0; i < answer->reason_count; i++) {
    if (strcmp(answer->reasons[i].code, code) == 0) {
      return answer->reasons[i].text;
    }
  }
  return "none";
}

static bool has_text(const char *text) {
  for (unsigned i = 0; i < answer->reason_count; i++) {
    if (strcmp(answer->reasons[i].text, text) == 0) return true;
  }
  return false;
}

#define WWID "wwid:naa.5000c500"

static void holders_are_followed(void) {
  const char *held = "sda2 is held by dm-0, which is mounted on / (ext4)";
  CHECK_EQ(ask(8, 0, WWID), SL_REFUSED);
  CHECK(has_text(held) && has_text("sda2 is held by dm-1"));
  CHECK_STR(reason("consent"), "none");
  CHECK_EQ(ask(8, 2, WWID), SL_REFUSED);
  CHECK(has_text(held) && has_text("sda2 is held by dm-1"));
  CHECK_EQ(ask(252, 0, NULL), SL_REFUSED);
  CHECK_STR(reason("mounted"), "dm-0 is mounted on / (ext4)");
  /* The other volume of the same disk is free, but has no name of its own. */
  CHECK_EQ(ask(252, 1, WWID), SL_REFUSED);
  CHECK_STR(reason("mounted"), "none");
  CHECK(strstr(reason("consent"), "no id of its own") != NULL);
  CHECK_EQ(ask(8, 1, WWID), SL_REFUSED);
  CHECK_STR(reason("holder"), "none");
  CHECK_STR(reason("mounted"), "none");
}

static void boot_areas_are_never_written(void) {
  CHECK_EQ(ask(179, 8, "mmc:150100424a544434"), SL_REFUSED);
  CHECK(strstr(reason("boot_area"), "mmcblk1boot0 is a special area"));
  CHECK_STR(reason("consent"), "none");
  CHECK_EQ(ask(179, 24, "mmc:150100424a544434"), SL_REFUSED);
  CHECK(strstr(reason("boot_area"), "mmcblk1gp0"));
  CHECK_EQ(ask(179, 0, "mmc:150100424a544435"), SL_REFUSED);
  CHECK(strstr(reason("consent"), "it is the unit mmc:150100424A544434"));
  CHECK_STR(reason("boot_area"), "none");
}

static void swap_without_its_node(void) {
  CHECK_EQ(ask(253, 0, NULL), SL_REFUSED);
  CHECK_STR(reason("swap"), "zram0 is swap in use (128 of 65532 KiB)");
}

static void a_shared_serial_names_nobody(void) {
  const char *unit = "serial:Generic:Flash_Disk:123456";
  CHECK_EQ(ask(65, 0, NULL), SL_REFUSED);
  CHECK_STR(answer->identity.unit, unit);
  CHECK_EQ(ask(65, 0, unit), SL_REFUSED);
  CHECK(strstr(reason("consent"), "more than one device answers"));
  CHECK_EQ(ask(65, 32, unit), SL_REFUSED);
  CHECK_STR(reason("no_medium"), "there is no medium in it: 0 bytes");
}

/* Consent to one namespace is none to its neighbour. */
static void a_namespace_is_a_unit(void) {
  ask(259, 1, "nvme:S1:2");
  CHECK_STR(answer->identity.unit, "nvme:S1:2");
  CHECK_STR(reason("consent"), "none");
  ask(259, 1, "nvme:S1:1");
  CHECK(strstr(reason("consent"), "it is the unit nvme:S1:2"));
  ask(259, 1, "nvme:S1");
  CHECK_STR(reason("consent"), "more than one device answers to nvme:S1");
  ask(259, 2, "nvme:S2"); /* its only one */
  CHECK_STR(reason("consent"), "none");
  ask(259, 1, "wwid:eui.0002");
  CHECK_STR(reason("consent"), "none");
  ask(259, 0, "wwid:eui.0002");
  CHECK(strstr(reason("consent"), "it is the unit nvme:S1:1"));
  ask(259, 0, "wwid:eui.0001");
  CHECK(strstr(reason("consent"), "more than one device answers"));
}

static void what_cannot_be_found_out_refuses(void) {
  CHECK_EQ(ask(9, 9, WWID), SL_REFUSED);
  CHECK_STR(reason("unknown"), "the kernel has no block device 9:9");
  fake_put("mountinfo", "1 0 252:0 / / rw - ext4 /dev/map");
  CHECK_EQ(ask(8, 1, WWID), SL_REFUSED);
  CHECK(strstr(reason("unknown"), "line 1 is torn"));
  fake_put("mountinfo", "");
  fake_attribute(SDA "/sda1", "ro", "");
  CHECK_EQ(ask(8, 1, WWID), SL_REFUSED);
  CHECK(strstr(reason("read_only"), "not known"));
}

static void other_files_are_not_its_business(void) {
  struct sl_error e;
  int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  CHECK_EQ(sl_gate_check(fd, "/dev/null", &e), 0);
  close(fd);
  CHECK_EQ(sl_gate_check(-1, "closed", &e), -EBADF);
  CHECK(!sl_gate_is_granted((struct sl_device_number){8, 0}));
  sl_gate_close(NULL);
}

int main(void) {
  answer = calloc(1, sizeof *answer);
  if (!answer) return EXIT_FAILURE;
  fake_open();
  build();
  RUN(other_files_are_not_its_business);
  if (ask(8, 0, NULL) == -EPERM) {
    printf("SKIPPED: nodes need root\n");
    test_skips++;
  } else {
    RUN(holders_are_followed);
    RUN(boot_areas_are_never_written);
    RUN(swap_without_its_node);
    RUN(a_shared_serial_names_nobody);
    RUN(a_namespace_is_a_unit);
    RUN(what_cannot_be_found_out_refuses);
  }
  fake_close();
  free(answer);
  return TEST_DONE();
}
