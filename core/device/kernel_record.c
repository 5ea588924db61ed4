/* SPDX-License-Identifier: MIT */
#include "core/device/kernel_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Decodes `length` bytes into `out` of `size`, terminated; returns how many
 * were written. */
static size_t decode(const char *in, size_t length, char *out, size_t size) {
  size_t written = 0;

  for (size_t i = 0; i < length && written + 1 < size; i++) {
    if (in[i] == '\\' && i + 3 < length && in[i + 1] == 'x' &&
        hex_digit(in[i + 2]) >= 0 && hex_digit(in[i + 3]) >= 0) {
      out[written++] = (char)(hex_digit(in[i + 2]) * 16 + hex_digit(in[i + 3]));
      i += 3;
    } else {
      out[written++] = in[i];
    }
  }
  out[written] = '\0';
  return written;
}

/* A line " KEY=value" without its end. */
static void parse_tag(const char *line, size_t length,
                      struct sl_kernel_record *r) {
  static const char subsystem[] = " SUBSYSTEM=", device[] = " DEVICE=";
  const size_t skip_s = sizeof subsystem - 1, skip_d = sizeof device - 1;

  if (length > skip_s && memcmp(line, subsystem, skip_s) == 0) {
    decode(line + skip_s, length - skip_s, r->subsystem, sizeof r->subsystem);
  } else if (length > skip_d && memcmp(line, device, skip_d) == 0) {
    decode(line + skip_d, length - skip_d, r->device, sizeof r->device);
  }
}

int sl_kernel_record_parse(const char *data, size_t length,
                           struct sl_kernel_record *r) {
  char header[128];
  unsigned priority;
  uint64_t time_us;

  /* The header ends at the first semicolon; the text may hold more. */
  const char *text = memchr(data, ';', length);
  size_t header_length = text ? (size_t)(text - data) : 0;
  if (!text || header_length >= sizeof header) return -EBADMSG;
  memcpy(header, data, header_length);
  header[header_length] = '\0';
  if (sscanf(header, "%u,%" SCNu64 ",%" SCNu64, &priority, &r->sequence,
             &time_us) != 3) {
    return -EBADMSG;
  }
  r->level = priority & 7;
  r->facility = priority >> 3;
  r->time_ns = (int64_t)time_us * 1000;
  r->subsystem[0] = r->device[0] = '\0';

  const char *end = data + length, *line = text + 1;
  for (bool first = true; line < end; first = false) {
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    size_t line_length = (size_t)((newline ? newline : end) - line);
    if (first) {
      r->text_length = decode(line, line_length, r->text, sizeof r->text);
    } else if (line[0] == ' ') {
      parse_tag(line, line_length, r);
    }
    line = newline ? newline + 1 : end;
  }
  if (text + 1 >= end) {
    r->text[0] = '\0';
    r->text_length = 0;
  }
  return 0;
}
