/* SPDX-License-Identifier: MIT */
/* Registers of cards and drives, and the text files of mmc hosts. */
#include "core/device/mmc.h"

#include <errno.h>

#include "core/device/nvme.h"
#include "core/fake_sysfs.h"

static struct sl_mmc_ios ios;

/* The shape of the file; the values are of the line that differs. */
#define IOS(clock, actual, vdd, power, width, timing, voltage)           \
  "clock:\t\t" clock " Hz\n" actual "vdd:\t\t" vdd                       \
  "\n"                                                                   \
  "bus mode:\t2 (push-pull)\nchip select:\t0 (don't care)\n"             \
  "power mode:\t" power "\nbus width:\t" width "\ntiming spec:\t" timing \
  "\nsignal voltage:\t" voltage "\ndriver type:\t0 (driver type B)\n"
#define ACTUAL(clock) "actual clock:\t" clock " Hz\n"

static void check_ios(const char *text, const char *timing, int64_t clock,
                      int64_t width, bool suspended, int64_t ceiling) {
  CHECK_EQ(sl_mmc_ios_parse(text, &ios), 0);
  CHECK_STR(ios.timing, timing);
  CHECK_EQ(ios.actual_clock_hz > 0 ? ios.actual_clock_hz : ios.clock_hz, clock);
  CHECK_EQ(ios.width_bits, width);
  CHECK_EQ(ios.is_suspended, suspended);
  CHECK_EQ(ios.ceiling_bytes_s, ceiling);
}

static void bus_modes(void) {
  check_ios(IOS("50000000", ACTUAL("50000000"), "21 (3.3 ~ 3.4 V)", "2 (on)",
                "2 (4 bits)", "7 (sd uhs DDR50)", "1 (1.80 V)"),
            "sd uhs DDR50", 50000000, 4, false, 50000000);
  CHECK_STR(ios.supply, "3.3 ~ 3.4 V");
  CHECK_STR(ios.voltage, "1.80 V");
  CHECK_STR(ios.driver_type, "driver type B");
  check_ios(IOS("200000000", ACTUAL("196000000"), "18 (3.0 ~ 3.1 V)", "2 (on)",
                "3 (8 bits)", "9 (mmc HS200)", "1 (1.80 V)"),
            "mmc HS200", 196000000, 8, false, 196000000);
  CHECK_EQ(ios.clock_hz, 200000000);
  check_ios(IOS("200000000", "", "21 (3.3 ~ 3.4 V)", "2 (on)", "3 (8 bits)",
                "10 (mmc HS400)", "1 (1.80 V)"),
            "mmc HS400", 200000000, 8, false, 400000000);
  CHECK_EQ(ios.actual_clock_hz, -1);
  check_ios(IOS("52000000", ACTUAL("50000000"), "21 (3.3 ~ 3.4 V)", "2 (on)",
                "3 (8 bits)", "8 (mmc DDR52)", "1 (1.80 V)"),
            "mmc DDR52", 50000000, 8, false, 100000000);
  check_ios(IOS("50000000", "", "21 (3.3 ~ 3.4 V)", "2 (on)", "2 (4 bits)",
                "2 (sd high-speed)", "0 (3.30 V)"),
            "sd high-speed", 50000000, 4, false, 25000000);
  /* A fast mode at a slow clock is slow. */
  check_ios(IOS("50000000", "", "21 (3.3 ~ 3.4 V)", "2 (on)", "2 (4 bits)",
                "6 (sd uhs SDR104)", "1 (1.80 V)"),
            "sd uhs SDR104", 50000000, 4, false, 25000000);
  check_ios(IOS("25000000", "", "21 (3.3 ~ 3.4 V)", "2 (on)", "0 (1 bits)",
                "0 (legacy)", "0 (3.30 V)"),
            "legacy", 25000000, 1, false, 3125000);
}

static void a_sleeping_card_has_no_mode(void) {
  check_ios(IOS("0", "", "0 (invalid)", "0 (off)", "0 (1 bits)", "0 (legacy)",
                "0 (3.30 V)"),
            "legacy", 0, 1, true, -1);
  CHECK_EQ(sl_mmc_ios_parse("", &ios), -EBADMSG);
  CHECK_EQ(sl_mmc_ios_parse("clock:\t\tx Hz\n", &ios), -EBADMSG);
  CHECK_EQ(sl_mmc_ios_parse("clock:\t\t1 Hz\npower mode:\t2 (on", &ios),
           -EBADMSG);
}

static void host_errors(void) {
  struct sl_mmc_errors errors;
  CHECK_EQ(sl_mmc_errors_parse("# Command Timeout Occurred:\t 0\n"
                               "# Data CRC Errors Occurred:\t 3\n"
                               "# CMDQ RED Errors:\t\t 0\n"
                               "# Request Timedout:\t 12\n"
                               "# Controller Timedout errors:\t 1\n",
                               &errors),
           0);
  CHECK_EQ(errors.count, 5);
  CHECK_STR(errors.list[0].name, "Command Timeout");
  CHECK_STR(errors.list[1].name, "Data CRC");
  CHECK_EQ(errors.list[1].occurred, 3);
  CHECK_STR(errors.list[2].name, "CMDQ RED");
  CHECK_STR(errors.list[3].name, "Request Timedout");
  CHECK_EQ(errors.list[3].occurred, 12);
  CHECK_STR(errors.list[4].name, "Controller Timedout");
  CHECK_EQ(sl_mmc_errors_parse("nothing\n", &errors), -EBADMSG);
}

/* An EXT_CSD with what is asked for, as hex, in either direction. */
static void make_ext_csd(uint8_t *data, uint8_t revision) {
  memset(data, 0, SL_EXT_CSD_BYTES);
  data[504] = 1;
  data[192] = revision;
  data[185] = 3;
  data[33] = 1;
  data[249] = 0x00;
  data[250] = 0x02; /* 512 kilobits */
  data[163] = 2;
  data[246] = 1;
  data[167] = 0x1f;
  memcpy(data + 254, "\x07\0\0\0\0\0\0\0", 8);
  data[267] = 2;
  data[268] = 3;
  data[269] = 11;
  data[307] = 31;
  data[308] = 1;
  data[15] = 1;
}

static void ext_csd_both_ways(void) {
  uint8_t data[SL_EXT_CSD_BYTES], back[SL_EXT_CSD_BYTES];
  char text[2 * SL_EXT_CSD_BYTES + 2];
  struct sl_ext_csd csd;

  make_ext_csd(data, 8);
  for (int reverse = 0; reverse < 2; reverse++) {
    for (int i = 0; i < SL_EXT_CSD_BYTES; i++) {
      snprintf(text + 2 * i, 3, "%02X",
               (unsigned)data[reverse ? SL_EXT_CSD_BYTES - 1 - i : i]);
    }
    strcat(text, "\n");
    CHECK_EQ(sl_ext_csd_parse(text, back), 0);
    CHECK_EQ(memcmp(data, back, sizeof data), 0);
  }
  sl_ext_csd_decode(back, &csd);
  CHECK_EQ(csd.revision, 8);
  CHECK_EQ(csd.life_time_a, 3);
  CHECK_EQ(csd.life_time_b, 11);
  CHECK_EQ(csd.pre_eol, 2);
  CHECK_EQ(csd.cache_bytes, 65536);
  CHECK_EQ(csd.cache_on, 1);
  CHECK_EQ(csd.command_queue_depth, 32);
  CHECK_EQ(csd.command_queue_on, 1);
  CHECK_EQ(csd.background_enabled, 2);
  CHECK_EQ(csd.background_status, 1);
  CHECK_EQ(csd.write_reliability, 0x1f);
  CHECK_STR(csd.firmware, "0700000000000000");
  text[100] = 'x';
  CHECK_EQ(sl_ext_csd_parse(text, back), -EBADMSG);
  text[100] = '\0';
  CHECK_EQ(sl_ext_csd_parse(text, back), -EBADMSG);
  memset(text, '0', 1024);
  CHECK_EQ(sl_ext_csd_parse(text, back), -EBADMSG);
}

static void old_cards_tell_less(void) {
  uint8_t data[SL_EXT_CSD_BYTES];
  struct sl_ext_csd csd;

  make_ext_csd(data, 5);
  sl_ext_csd_decode(data, &csd);
  CHECK_EQ(csd.life_time_a, -1);
  CHECK_EQ(csd.pre_eol, -1);
  CHECK_EQ(csd.cache_bytes, -1);
  CHECK_EQ(csd.command_queue_depth, -1);
  CHECK_STR(csd.firmware, "");
  make_ext_csd(data, 7);
  memcpy(data + 254, "FW1.2  \0", 8);
  sl_ext_csd_decode(data, &csd);
  CHECK_EQ(csd.life_time_a, 3);
  CHECK_EQ(csd.command_queue_depth, -1);
  CHECK_STR(csd.firmware, "FW1.2");
}

static void cid_and_csd(void) {
  struct sl_mmc_registers r;
  CHECK_EQ(
      sl_mmc_registers_decode("150100424a544434520ff0c8e5a4a51b",
                              "d02701320f5903fff6dbffef8e404000", false, &r),
      0);
  CHECK_EQ(r.manufacturer, 0x15);
  CHECK_EQ(r.oem, 0);
  CHECK_STR(r.product, "BJTD4R");
  CHECK_EQ(r.product_revision, 0x0f);
  CHECK_EQ(r.serial, 0xf0c8e5a4);
  CHECK_EQ(r.month, 10);
  CHECK_EQ(r.year, 2002);
  sl_mmc_correct_year(&r, 4);
  CHECK_EQ(r.year, 2002);
  sl_mmc_correct_year(&r, 8);
  CHECK_EQ(r.year, 2018);
  CHECK_EQ(r.transfer_rate_bits_s, 26000000);
  CHECK_EQ(r.command_classes, 0x0f5);
  CHECK_EQ(
      sl_mmc_registers_decode("035344534c3332478012345678013a1d",
                              "400e00325b59000076b27f800a404013", true, &r),
      0);
  CHECK_STR(r.product, "SL32G");
  CHECK_EQ(r.oem, 0x5344);
  CHECK_EQ(r.product_revision, 0x80);
  CHECK_EQ(r.serial, 0x12345678);
  CHECK_EQ(r.year, 2019);
  CHECK_EQ(r.month, 10);
  CHECK_EQ(r.transfer_rate_bits_s, 25000000);
  CHECK_EQ(sl_mmc_registers_decode("15", NULL, false, &r), -EBADMSG);
}

static void files_of_the_host(void) {
  struct sl_device_number card = {179, 0}, other = {8, 0};
  struct sl_error e;
  char text[64];

  fake_open();
  fake_device("platform/mmc_host/mmc1/mmc1:aaaa/block/mmcblk1", "179:0", "9");
  fake_device("pci0/block/sda", "8:0", "9");
  CHECK_EQ(sl_mmc_debug_read(&fake_system, other, "ios", text, sizeof text, &e),
           -ENODEV);
  CHECK_EQ(sl_mmc_debug_read(&fake_system, card, "ios", text, sizeof text, &e),
           -ENOENT);
  CHECK(strstr(e.hint, "debugfs is not mounted") != NULL);
  fake_put("kernel/debug/mmc1/ios", "of the host");
  fake_put("kernel/debug/mmc1/mmc1:aaaa/ext_csd", "of the card");
  CHECK_EQ(sl_mmc_debug_read(&fake_system, card, "ios", text, sizeof text, &e),
           0);
  CHECK_STR(text, "of the host");
  CHECK_EQ(
      sl_mmc_debug_read(&fake_system, card, "ext_csd", text, sizeof text, &e),
      0);
  CHECK_STR(text, "of the card");
  int64_t millicelsius;
  CHECK_EQ(sl_disk_temperature(&fake_system, other, &millicelsius), -ENOENT);
  fake_put("devices/pci0/block/sda/device/hwmon/hwmon3/temp1_input", "-2500\n");
  CHECK_EQ(sl_disk_temperature(&fake_system, other, &millicelsius), 0);
  CHECK_EQ(millicelsius, -2500);
  fake_close();
}

static void nvme_health(void) {
  uint8_t log[SL_NVME_SMART_BYTES] = {0};
  struct sl_nvme_smart s;

  log[0] = 1;
  log[1] = 0x41; /* 321 K */
  log[2] = 0x01;
  log[3] = 100;
  log[4] = 10;
  log[5] = 130;
  log[48] = 2;
  log[128] = 0x10;
  log[129] = 0x27;
  log[144] = 7;
  memset(log + 160, 0xff, 16);
  sl_nvme_smart_decode(log, &s);
  CHECK_EQ(s.critical_warning, 1);
  CHECK_EQ(s.temperature_millicelsius, 47850);
  CHECK_EQ(s.used_percent, 130);
  CHECK_EQ(s.read_bytes, 0);
  CHECK_EQ(s.written_bytes, 1024000);
  CHECK_EQ(s.power_on_hours, 10000);
  CHECK_EQ(s.unsafe_shutdowns, 7);
  CHECK_EQ(s.media_errors, INT64_MAX);
  struct sl_error e;
  CHECK_EQ(sl_nvme_smart_read("/dev/null", log, &e), -ENOTTY);
  CHECK_STR(e.hint, "it is no NVMe drive");
  CHECK_EQ(sl_ext_csd_read("/dev/null", log, &e), -ENOTTY);
  CHECK_EQ(sl_ext_csd_read("/dev/no such node", log, &e), -ENOENT);
}

int main(void) {
  RUN(bus_modes);
  RUN(a_sleeping_card_has_no_mode);
  RUN(host_errors);
  RUN(ext_csd_both_ways);
  RUN(old_cards_tell_less);
  RUN(cid_and_csd);
  RUN(files_of_the_host);
  RUN(nvme_health);
  return TEST_DONE();
}
