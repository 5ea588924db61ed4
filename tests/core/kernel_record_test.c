/* SPDX-License-Identifier: MIT */
#include "core/device/kernel_record.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/device/kernel_verdict.h"
#include "core/device/kmsg.h"
#include "core/test.h"

static struct sl_kernel_record record;
static struct sl_kmsg log_;

static int parse(const char *text) {
  return sl_kernel_record_parse(text, strlen(text), &record);
}

static void header_text_and_tags(void) {
  CHECK_EQ(parse("3,892,7382617,-;nvme nvme1: a; b\n SUBSYSTEM=nvme\n"
                 " DEVICE=c241:1\n"),
           0);
  CHECK_EQ(record.level, 3);
  CHECK_EQ(record.facility, 0);
  CHECK_EQ(record.sequence, 892);
  CHECK_EQ(record.time_ns, INT64_C(7382617000));
  CHECK_STR(record.text, "nvme nvme1: a; b");
  CHECK_STR(record.subsystem, "nvme");
  CHECK_STR(record.device, "c241:1");
  CHECK_EQ(parse("12,1,0,c;x\\x0ay\\x5c\\xzz\\x4\n"), 0);
  CHECK_EQ(record.facility, 1);
  CHECK_STR(record.text, "x\ny\\\\xzz\\x4");
  CHECK_STR(record.device, "");
  CHECK_EQ(parse("6,1001,2026000,-,caller=T1;"), 0);
  CHECK_STR(record.text, "");
  CHECK_EQ(parse("6,1001,2026000,-;\n"), 0);
  CHECK_STR(record.text, "");
  CHECK_EQ(parse("6,1001,2026000,-;a\\x00b"), 0);
  CHECK_EQ(record.text_length, 3);
}

static void what_is_no_record(void) {
  static const char *const bad[] = {"",        "hello", ";",
                                    "a,b,c;x", "3,5;x", "3,5,x;y"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    CHECK_EQ(parse(bad[i]), -EBADMSG);
  }
  char longest[400];
  memset(longest, '1', sizeof longest);
  longest[399] = ';';
  CHECK_EQ(sl_kernel_record_parse(longest, sizeof longest, &record), -EBADMSG);
}

static enum sl_kernel_class classify(const char *head, const char *text) {
  static struct sl_chain chain;
  char line[1024];

  memset(&chain, 0, sizeof chain);
  sl_chain_add_name(&chain, "1-1"); /* a hub */
  sl_chain_add_name(&chain, "1-1.2");
  sl_chain_add_name(&chain, "mmcblk0p2");
  sl_chain_add_name(&chain, "mmcblk0");
  sl_chain_add_name(&chain, "mmc0");
  sl_chain_add_name(&chain, "sda");
  chain.links[0].is_block = true;
  chain.links[0].number = (struct sl_device_number){179, 2};
  snprintf(line, sizeof line, "%s,1,1,-;%s\n", head, text);
  CHECK_EQ(parse(line), 0);
  return sl_kernel_classify(&record, &chain);
}

static void errors_of_our_device(void) {
  static const char *const lines[] = {
      "I/O error, dev mmcblk0, sector 14336 op 0x0:(READ) flags 0x0",
      "end_request: I/O error, dev mmcblk0, sector 15564680",
      "Buffer I/O error on device mmcblk0p2, logical block 1814001",
      "critical target error, dev sda, sector 6626560 op 0x1:(WRITE)",
      "mmc0: Timeout waiting for hardware interrupt - cmd12.",
      "mmcblk0: error -110 sending stop command, original cmd response 0x900",
      "mmcblk0: error -84 transferring data, sector 15783, nr 2",
      "mmcblk0: recovery failed!",
      "mmc0: running CQE recovery",
      "EXT4-fs error (device mmcblk0p2): __ext4_get_inode_loc:4801: inode #8",
      "EXT4-fs (mmcblk0p2): Remounting filesystem read-only",
      "Aborting journal on device mmcblk0p2-8.",
      "JBD2: Error -5 detected when updating journal superblock for sda-8.",
      "mmc0: card 0001 removed",
      "INFO: task kworker/0:1:22 blocked for more than 120 seconds."};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    enum sl_kernel_class c = classify("3", lines[i]);
    if (c != SL_KERNEL_ERROR) printf("  %s\n", lines[i]);
    CHECK_STR(sl_kernel_class_name(c), "error");
  }
  CHECK_EQ(classify("3", "I/O error\n DEVICE=b179:2"), SL_KERNEL_ERROR);
  CHECK_EQ(classify("6", "usb 1-1: USB disconnect, device 3"), SL_KERNEL_ERROR);
  CHECK_EQ(classify("6", "usb 1-1.2: USB disconnect, device 4"),
           SL_KERNEL_ERROR);
  CHECK_EQ(classify("3", "cache flush error\n DEVICE=+mmc:mmc0:0001"),
           SL_KERNEL_ERROR);
}

static void not_failures(void) {
  static const char *const lines[] = {
      "usb 1-1.4: USB disconnect, device 5\n DEVICE=+usb:1-1.4",
      "usb 1-1.2.1: USB disconnect, device 6",
      "end_request: I/O error, dev mmcblk0rpmb, sector 0",
      "I/O error, dev mmcblk1, sector 0 op 0x0:(READ)",
      "I/O error, dev sda2, sector 0 op 0x0:(READ)",
      "EXT4-fs (sdb1): Remounting filesystem read-only",
      "EXT4-fs (mmcblk0p2): mounted filesystem with ordered data mode",
      ("EXT4-fs (mmcblk0p2): mounted filesystem with ordered data mode. "
       "Opts: errors=remount-ro. Quota mode: none."),
      "EXT4-fs (mmcblk0p2): re-mounted. Opts: errors=remount-ro",
      "EXT4-fs (mmcblk0p2): error count since last fsck: 4",
      "EXT4-fs (mmcblk0p2): initial error at time 1441536566",
      "mmc0: host does not support reading read-only switch.",
      "mmcblk0boot1: mmc0:0001 BJTD4R partition 2 4.00 MiB"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    enum sl_kernel_class c = classify("4", lines[i]);
    if (c != SL_KERNEL_OTHER) printf("  %s\n", lines[i]);
    CHECK_STR(sl_kernel_class_name(c), "other");
  }
  /* User space wrote this one. */
  CHECK_EQ(classify("11", "I/O error, dev mmcblk0, sector 1"), SL_KERNEL_OTHER);
  CHECK_EQ(classify("4", "mmc0: new DDR MMC card at address 0001"),
           SL_KERNEL_WARNING);
  CHECK_EQ(classify("4", "mmcblk0: retrying using single block read"),
           SL_KERNEL_WARNING);
  CHECK_EQ(classify("3", "mmc0: something unheard of"), SL_KERNEL_WARNING);
  CHECK_EQ(classify("3", "buffer_io_error: 9 callbacks suppressed"),
           SL_KERNEL_WARNING);
}

/* Packets keep their bounds, as records of the log do. */
static void gaps_are_counted(void) {
  int ends[2];
  CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
  sl_kmsg_attach(&log_, ends[0]);
  CHECK_EQ(sl_kmsg_next(&log_, &record, NULL), 0);
  static const char *const sent[] = {"3,10,1,-;a", "3,11,1,-;b", "garbage",
                                     "3,15,1,-;c"};
  for (size_t i = 0; i < 4; i++) {
    CHECK(write(ends[1], sent[i], strlen(sent[i])) > 0);
  }
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(sl_kmsg_next(&log_, &record, NULL), 1);
  }
  CHECK_STR(record.text, "c");
  CHECK_EQ(log_.lost, 3);
  CHECK_EQ(sl_kmsg_next(&log_, &record, NULL), 0);
  close(ends[1]);
  sl_kmsg_close(&log_);
}

/* The real log: what user space writes comes back with its own facility. */
static void follows_the_kernel(void) {
  struct sl_error e;
  int code = sl_kmsg_open(&log_, NULL, &e);
  if (code != 0) SKIP("no access to /dev/kmsg");
  FILE *out = fopen("/dev/kmsg", "w");
  if (!out) SKIP("/dev/kmsg is not writable");
  fprintf(out, "<3>storlua test %ld; I/O error, dev sda, sector 1\n",
          (long)getpid());
  fclose(out);
  char wanted[64];
  snprintf(wanted, sizeof wanted, "storlua test %ld", (long)getpid());
  bool seen = false;
  while (sl_kmsg_next(&log_, &record, &e) == 1) {
    if (!strstr(record.text, wanted)) continue;
    seen = true;
    struct sl_chain chain = {0};
    sl_chain_add_name(&chain, "sda");
    CHECK_EQ(record.facility, 1);
    CHECK_EQ(record.level, 3);
    CHECK(strstr(record.text, "; I/O error, dev sda") != NULL);
    CHECK_EQ(sl_kernel_classify(&record, &chain), SL_KERNEL_OTHER);
  }
  CHECK(seen);
  CHECK_EQ(log_.lost, 0);
  sl_kmsg_close(&log_);
  CHECK_EQ(sl_kmsg_open(&log_, "/no/such/log", &e), -ENOENT);
  CHECK_EQ(log_.fd, -1);
}

int main(void) {
  RUN(header_text_and_tags);
  RUN(what_is_no_record);
  RUN(errors_of_our_device);
  RUN(not_failures);
  RUN(gaps_are_counted);
  RUN(follows_the_kernel);
  return TEST_DONE();
}
