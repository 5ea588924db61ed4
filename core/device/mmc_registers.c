/* SPDX-License-Identifier: MIT */
/* CID, CSD and EXT_CSD taken apart. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/device/mmc.h"

enum { /* bytes of EXT_CSD */
       CACHE_CTRL = 33,
       CMDQ_MODE_EN = 15,
       BKOPS_EN = 163,
       WR_REL_SET = 167,
       HS_TIMING = 185,
       REVISION = 192,
       BKOPS_STATUS = 246,
       CACHE_SIZE = 249,
       FIRMWARE_VERSION = 254,
       PRE_EOL_INFO = 267,
       LIFE_TIME_A = 268,
       LIFE_TIME_B = 269,
       CMDQ_DEPTH = 307,
       CMDQ_SUPPORT = 308,
       S_CMD_SET = 504
};

static void read_firmware(const uint8_t *bytes, char *text, size_t size) {
  bool is_text = isprint(bytes[0]) != 0;
  size_t length = 8;

  while (length > 1 &&
         (bytes[length - 1] == '\0' || (is_text && bytes[length - 1] == ' '))) {
    length--;
  }
  for (size_t i = 0; i < length; i++) {
    if (!isprint(bytes[i])) is_text = false;
  }
  if (is_text) {
    snprintf(text, size, "%.*s", (int)length, (const char *)bytes);
    return;
  }
  for (size_t i = 0; i < 8; i++) {
    snprintf(text + 2 * i, size - 2 * i, "%02x", (unsigned)bytes[i]);
  }
}

void sl_ext_csd_decode(const uint8_t *d, struct sl_ext_csd *csd) {
  memset(csd, 0, sizeof *csd);
  csd->revision = d[REVISION];
  csd->hs_timing = d[HS_TIMING];
  bool has_health = d[REVISION] >= 7; /* eMMC 5.0 */
  csd->life_time_a = has_health ? d[LIFE_TIME_A] : -1;
  csd->life_time_b = has_health ? d[LIFE_TIME_B] : -1;
  csd->pre_eol = has_health ? d[PRE_EOL_INFO] : -1;
  if (has_health) {
    read_firmware(d + FIRMWARE_VERSION, csd->firmware, sizeof csd->firmware);
  }
  bool has_cache = d[REVISION] >= 6; /* eMMC 4.5 */
  uint32_t cache_kbit =
      (uint32_t)d[CACHE_SIZE] | (uint32_t)d[CACHE_SIZE + 1] << 8 |
      (uint32_t)d[CACHE_SIZE + 2] << 16 | (uint32_t)d[CACHE_SIZE + 3] << 24;
  csd->cache_bytes = has_cache ? (int64_t)cache_kbit * 128 : -1;
  csd->cache_on = has_cache ? d[CACHE_CTRL] & 1 : -1;
  bool has_queue = d[REVISION] >= 8; /* eMMC 5.1 */
  csd->command_queue_depth = has_queue ? 0 : -1;
  if (has_queue && (d[CMDQ_SUPPORT] & 1)) {
    csd->command_queue_depth = (d[CMDQ_DEPTH] & 31) + 1;
  }
  csd->command_queue_on = has_queue ? d[CMDQ_MODE_EN] & 1 : -1;
  csd->background_enabled = d[BKOPS_EN] & 3;
  csd->background_status = d[BKOPS_STATUS] & 3;
  csd->write_reliability = d[WR_REL_SET];
}

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)tolower((unsigned char)c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `count` bytes from hex digits; false when there are others. */
static bool read_hex(const char *text, uint8_t *data, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int high = digit(text[2 * i]);
    int low = high < 0 ? -1 : digit(text[2 * i + 1]);
    if (low < 0) return false;
    data[i] = (uint8_t)(high * 16 + low);
  }
  return true;
}

int sl_ext_csd_parse(const char *text, uint8_t *data) {
  if (!read_hex(text, data, SL_EXT_CSD_BYTES)) return -EBADMSG;
  /* Every card understands command set 0, and byte 7 is reserved. */
  if ((data[S_CMD_SET] & 1) == 0) {
    for (size_t i = 0; i < SL_EXT_CSD_BYTES / 2; i++) {
      uint8_t byte = data[i];
      data[i] = data[SL_EXT_CSD_BYTES - 1 - i];
      data[SL_EXT_CSD_BYTES - 1 - i] = byte;
    }
  }
  bool is_good = (data[S_CMD_SET] & 1) != 0 && data[REVISION] <= 9;
  return is_good ? 0 : -EBADMSG;
}

/* TRAN_SPEED: a unit and a factor of tenths. */
static int64_t transfer_rate(uint8_t byte, bool is_sd) {
  static const int64_t units[] = {100000, 1000000, 10000000, 100000000};
  static const int64_t tenths[] = {0,  10, 12, 13, 15, 20, 25, 30,
                                   35, 40, 45, 50, 55, 60, 70, 80};
  unsigned unit = byte & 7;
  int64_t factor = tenths[(byte >> 3) & 15];
  if (!is_sd && factor == 25) factor = 26;
  if (!is_sd && factor == 50) factor = 52;
  return unit < 4 && factor ? units[unit] / 10 * factor : -1;
}

int sl_mmc_registers_decode(const char *cid_text, const char *csd_text,
                            bool is_sd, struct sl_mmc_registers *r) {
  uint8_t cid[16], csd[16];

  memset(r, 0, sizeof *r);
  if (!read_hex(cid_text, cid, sizeof cid)) return -EBADMSG;
  /* An eMMC has six letters of product where an SD card has five. */
  size_t letters = is_sd ? 5 : 6;
  const uint8_t *after = cid + 3 + letters;
  r->manufacturer = cid[0];
  r->oem = is_sd ? cid[1] << 8 | cid[2] : cid[2];
  for (size_t i = 0; i < letters && isprint(cid[3 + i]); i++) {
    r->product[i] = (char)cid[3 + i];
  }
  r->product_revision = after[0];
  r->serial =
      (int64_t)after[1] << 24 | after[2] << 16 | after[3] << 8 | after[4];
  if (is_sd) {
    r->month = after[6] & 15;
    r->year = 2000 + ((after[5] & 15) << 4 | after[6] >> 4);
  } else {
    r->month = after[5] >> 4;
    r->year = 1997 + (after[5] & 15);
  }
  bool has_csd = csd_text && read_hex(csd_text, csd, sizeof csd);
  r->transfer_rate_bits_s = has_csd ? transfer_rate(csd[3], is_sd) : -1;
  r->command_classes = has_csd ? csd[4] << 4 | csd[5] >> 4 : -1;
  return 0;
}

void sl_mmc_correct_year(struct sl_mmc_registers *r, int64_t revision) {
  if (revision > 4 && r->year < 2010) r->year += 16;
}
