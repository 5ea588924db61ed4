/* SPDX-License-Identifier: MIT */
/* The text files of debugfs. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/mmc.h"

/* The number behind "name:" at the start of a line, and in `text` what stands
 * in parentheses; -1 when there is no such line. */
static int64_t field(const char *ios, const char *name, char *text,
                     size_t size) {
  size_t length = strlen(name);

  for (const char *line = ios; line && *line;) {
    const char *end = strchr(line, '\n');
    if (strncmp(line, name, length) == 0 && line[length] == ':') {
      int64_t value;
      if (sscanf(line + length + 1, "%" SCNd64, &value) != 1) return -1;
      const char *from = strchr(line, '(');
      size_t rest = end ? (size_t)(end - line) : strlen(line);
      if (text && from && from < line + rest) {
        size_t inside = rest - (size_t)(from + 1 - line);
        while (inside > 0 && from[inside] != ')')
          inside--;
        snprintf(text, size, "%.*s", inside ? (int)inside - 1 : 0, from + 1);
      }
      return value;
    }
    line = end ? end + 1 : NULL;
  }
  return -1;
}

/* Both edges of the clock carry data. */
static bool is_double_rate(int64_t timing_code) {
  return timing_code == 7 || timing_code == 8 || timing_code == 10;
}

int sl_mmc_ios_parse(const char *text, struct sl_mmc_ios *ios) {
  memset(ios, 0, sizeof *ios);
  ios->clock_hz = field(text, "clock", NULL, 0);
  ios->actual_clock_hz = field(text, "actual clock", NULL, 0);
  field(text, "vdd", ios->supply, sizeof ios->supply);
  int64_t power = field(text, "power mode", NULL, 0);
  int64_t width = field(text, "bus width", NULL, 0); /* a power of two */
  ios->timing_code =
      field(text, "timing spec", ios->timing, sizeof ios->timing);
  field(text, "signal voltage", ios->voltage, sizeof ios->voltage);
  field(text, "driver type", ios->driver_type, sizeof ios->driver_type);
  if (ios->clock_hz < 0 || power < 0 || width < 0 || width > 3) {
    return -EBADMSG;
  }
  ios->width_bits = INT64_C(1) << width;
  ios->is_suspended = power == 0 || ios->clock_hz == 0;
  ios->ceiling_bytes_s = -1;
  if (ios->is_suspended) return 0;
  int64_t clock =
      ios->actual_clock_hz > 0 ? ios->actual_clock_hz : ios->clock_hz;
  int64_t rate = is_double_rate(ios->timing_code) ? 2 : 1;
  if (clock <= INT64_MAX / 16) {
    ios->ceiling_bytes_s = clock * ios->width_bits * rate / 8;
  }
  return 0;
}

/* "# Data CRC Errors Occurred:\t 3", one a line. */
int sl_mmc_errors_parse(const char *text, struct sl_mmc_errors *errors) {
  static const char *const tails[] = {" Occurred", " Errors", " Error",
                                      " errors"};

  errors->count = 0;
  for (const char *line = text; line && errors->count < SL_MMC_ERRORS_MAX;) {
    char name[48];
    int64_t occurred;
    if (sscanf(line, "# %47[^:\n]: %" SCNd64, name, &occurred) == 2) {
      for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        size_t length = strlen(name), tail = strlen(tails[i]);
        if (length > tail && strcmp(name + length - tail, tails[i]) == 0) {
          name[length - tail] = '\0';
        }
      }
      snprintf(errors->list[errors->count].name, sizeof name, "%s", name);
      errors->list[errors->count++].occurred = occurred;
    }
    line = strchr(line, '\n');
    if (line) line++;
  }
  return errors->count ? 0 : -EBADMSG;
}
