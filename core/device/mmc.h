/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_MMC_H
#define STORLUA_CORE_DEVICE_MMC_H

/* What an eMMC or SD card, and the host it is on, say of themselves: the
 * registers CID, CSD and EXT_CSD, the bus as it runs now, the errors the host
 * counted.  The parsers are for any thread; reading the card is for job
 * threads.  Unknown is -1 or "". */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/device/sysfs.h"

enum { SL_EXT_CSD_BYTES = 512, SL_MMC_TEXT_BYTES = 32, SL_MMC_ERRORS_MAX = 32 };

/* /sys/kernel/debug/mmcN/ios */
struct sl_mmc_ios {
  bool is_suspended;       /* powered down: the mode below says nothing */
  int64_t clock_hz;        /* asked for */
  int64_t actual_clock_hz; /* -1 where the host does not tell */
  int64_t width_bits;
  int64_t timing_code;
  char timing[SL_MMC_TEXT_BYTES];      /* "mmc HS200" */
  char voltage[SL_MMC_TEXT_BYTES];     /* of the signals: "1.80 V" */
  char supply[SL_MMC_TEXT_BYTES];      /* "3.3 ~ 3.4 V" */
  char driver_type[SL_MMC_TEXT_BYTES]; /* "driver type B" */
  int64_t ceiling_bytes_s; /* clock × width × data rate; -1 while suspended */
};
int sl_mmc_ios_parse(const char *text, struct sl_mmc_ios *ios);

/* EXT_CSD of an eMMC. */
struct sl_ext_csd {
  int64_t revision;
  int64_t life_time_a, life_time_b; /* n: (n-1)*10 to n*10 % used, 11: over;
                                       0: not defined */
  int64_t pre_eol;                  /* 1 normal, 2 warning, 3 urgent */
  int64_t cache_bytes, cache_on;    /* volatile cache; on 0, 1 */
  int64_t command_queue_depth, command_queue_on; /* depth 0: none */
  int64_t background_enabled; /* BKOPS_EN: bit 0 manual, bit 1 automatic */
  int64_t background_status;  /* 0 nothing to do … 3 critical */
  int64_t write_reliability;  /* WR_REL_SET */
  int64_t hs_timing;
  char firmware[20]; /* hex of 8 bytes, or text if it is one */
};
void sl_ext_csd_decode(const uint8_t *data, struct sl_ext_csd *csd);

/* The 1024 hex digits of debugfs; older kernels print byte 511 first.
 * -EBADMSG when it is not an EXT_CSD. */
int sl_ext_csd_parse(const char *text, uint8_t *data);

/* Asks the card itself, by ioctl on its whole-disk node, which needs
 * CAP_SYS_RAWIO; sysfs holds the values of the card's start. */
int sl_ext_csd_read(const char *node, uint8_t *data, struct sl_error *e);

/* CID and CSD as sysfs prints them, 32 hex digits. */
struct sl_mmc_registers {
  int64_t manufacturer, oem; /* MID, OID/BIN */
  char product[8];
  int64_t product_revision; /* as in hex: 0x31 is 3.1 */
  int64_t serial;
  int64_t month, year;
  int64_t transfer_rate_bits_s; /* of CSD, at the start */
  int64_t command_classes;
};
int sl_mmc_registers_decode(const char *cid, const char *csd, bool is_sd,
                            struct sl_mmc_registers *registers);

/* The count of years of an eMMC began anew in 2013; its EXT_CSD tells. */
void sl_mmc_correct_year(struct sl_mmc_registers *registers,
                         int64_t ext_csd_revision);

/* /sys/kernel/debug/mmcN/err_stats */
struct sl_mmc_errors {
  unsigned count;
  struct {
    char name[48]; /* "Data CRC" */
    int64_t occurred;
  } list[SL_MMC_ERRORS_MAX];
};
int sl_mmc_errors_parse(const char *text, struct sl_mmc_errors *errors);

/* Reads one of the files of the host a card is on: "ios", "err_stats", or of
 * the card: "ext_csd".  `device` is its disk.  A hint says what is missing. */
int sl_mmc_debug_read(const struct sl_system *system,
                      struct sl_device_number device, const char *file,
                      char *text, size_t size, struct sl_error *e);

/* Reads a block past the page cache, so that a card which sleeps wakes up:
 * only then `ios` tells the mode it works in. */
int sl_mmc_wake(const char *node, struct sl_error *e);

#endif
