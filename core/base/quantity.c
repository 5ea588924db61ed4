/* SPDX-License-Identifier: MIT */
#include "core/base/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A number as it was written: integer part, and the digits after the point.
 * Multiplying digit by digit keeps every value exact, so whether 0.3k is a
 * whole number of bytes is never up to the rounding of a double. */
struct decimal {
  uint64_t whole;
  bool overflow;
  unsigned digits;
  unsigned char fraction[64]; /* a whole number of bytes has at most 60 */
};

static void multiply(struct decimal *d, uint64_t factor) {
  uint64_t carry = 0;
  for (unsigned i = d->digits; i-- > 0;) {
    uint64_t t = d->fraction[i] * factor + carry;
    d->fraction[i] = (unsigned char)(t % 10);
    carry = t / 10;
  }
  if (__builtin_mul_overflow(d->whole, factor, &d->whole) ||
      __builtin_add_overflow(d->whole, carry, &d->whole))
    d->overflow = true;
}

/* Not isdigit: the answer must not depend on the locale. */
static int digit_value(char c, unsigned base) {
  int v = c >= '0' && c <= '9'   ? c - '0'
          : c >= 'a' && c <= 'f' ? c - 'a' + 10
          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                 : 99;
  return v < (int)base ? v : -1;
}

static const char *read_whole(const char *text, unsigned base,
                              struct decimal *d) {
  int v;
  for (; (v = digit_value(*text, base)) >= 0; text++)
    if (__builtin_mul_overflow(d->whole, base, &d->whole) ||
        __builtin_add_overflow(d->whole, (uint64_t)v, &d->whole))
      d->overflow = true;
  return text;
}

/* Reads the digits after the point.  NULL when there are none; *too_fine when
 * there are more than any whole value can have. */
static const char *read_fraction(const char *text, struct decimal *d,
                                 bool *too_fine) {
  const char *start = text, *last = text;
  for (; digit_value(*text, 10) >= 0; text++)
    if (*text != '0') last = text + 1;
  if (text == start) return NULL;
  size_t digits = (size_t)(last - start);
  *too_fine = digits > sizeof d->fraction;
  if (*too_fine) return text;
  d->digits = (unsigned)digits;
  for (size_t i = 0; i < digits; i++)
    d->fraction[i] = (unsigned char)(start[i] - '0');
  return text;
}

/* k m g t p e, then nothing, i or iB (powers of 1024) or B (of 1000). */
static const char *size_unit(const char *unit, struct decimal *d,
                             const char **why) {
  if (*unit == '\0' || strcmp(unit, "B") == 0) return "";
  static const char letters[] = "kmgtpeKMGTPE";
  const char *letter = strchr(letters, *unit);
  const char *rest = unit + 1;
  uint64_t factor = 1024;
  if (!letter) {
    *why =
        "unknown unit; allowed are k, m, g, t, p, e (4k = 4KiB = 4096, "
        "4kB = 4000)";
    return NULL;
  }
  if (strcmp(rest, "B") == 0) {
    factor = 1000;
  } else if (strcmp(rest, "b") == 0 || strcmp(rest, "ib") == 0) {
    *why = "a small b could mean bits; write KiB (1024) or kB (1000)";
    return NULL;
  } else if (*rest && strcmp(rest, "i") != 0 && strcmp(rest, "iB") != 0) {
    *why = (*unit == 'e' || *unit == 'E') && strspn(rest, "+-0123456789")
               ? "exponents are not accepted; write the digits or use a unit"
               : "text after the unit; allowed are 4k, 4Ki, 4KiB (4096) and "
                 "4kB (4000)";
    return NULL;
  }
  for (long n = (letter - letters) % 6; n >= 0; n--)
    multiply(d, factor);
  return "";
}

static bool duration_unit(const char *unit, struct decimal *d,
                          const char **why) {
  static const struct {
    const char *name;
    uint32_t seconds; /* or 1, with fewer thousands, below a second */
    unsigned thousands;
  } units[] = {{"", 1, 3},   {"s", 1, 3},  {"ms", 1, 2},   {"us", 1, 1},
               {"ns", 1, 0}, {"m", 60, 3}, {"h", 3600, 3}, {"d", 86400, 3}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (strcmp(unit, units[i].name) != 0) continue;
    multiply(d, units[i].seconds);
    for (unsigned n = units[i].thousands; n > 0; n--)
      multiply(d, 1000);
    return true;
  }
  *why =
      "unknown unit; allowed are ns, us, ms, s, m, h, d, and a bare number "
      "means seconds";
  return false;
}

static bool apply_unit(enum sl_quantity kind, const char *unit,
                       struct decimal *d, const char **why) {
  char trimmed[8];
  size_t length = strlen(unit);
  switch (kind) {
    case SL_QUANTITY_DURATION:
      return duration_unit(unit, d, why);
    case SL_QUANTITY_COUNT:
      *why = "a count takes no unit";
      return *unit == '\0';
    case SL_QUANTITY_RATE:
      if (length >= 2 && length < sizeof trimmed &&
          strcmp(unit + length - 2, "/s") == 0) {
        memcpy(trimmed, unit, length - 2);
        trimmed[length - 2] = '\0';
        unit = trimmed;
      }
      return size_unit(unit, d, why) != NULL;
    case SL_QUANTITY_SIZE:
      return size_unit(unit, d, why) != NULL;
  }
  return false;
}

/* What is wrong with a text that does not begin with a digit. */
static const char *bad_start(const char *text) {
  switch (*text) {
    case '\0':
      return "empty; a number is needed";
    case '-':
    case '+':
      return "signs are not accepted";
    case ' ':
    case '\t':
    case '\n':
    case '\r':
      return "white space before the number";
    case '.':
      return "a digit must stand before the point";
    default:
      return "does not begin with a digit 0 to 9";
  }
}

static const char *not_whole(enum sl_quantity kind) {
  switch (kind) {
    case SL_QUANTITY_SIZE:
      return "not a whole number of bytes";
    case SL_QUANTITY_DURATION:
      return "not a whole number of nanoseconds";
    case SL_QUANTITY_COUNT:
      return "not a whole number";
    case SL_QUANTITY_RATE:
      return "not a whole number of bytes per second";
  }
  return "not whole";
}

int sl_quantity_parse(enum sl_quantity kind, const char *text, int64_t *value,
                      const char **why) {
  struct decimal d = {0};
  bool too_fine = false;
  const char *unit;
  if (digit_value(*text, 10) < 0) {
    *why = bad_start(text);
    return -EINVAL;
  }
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    unit = read_whole(text + 2, 16, &d);
    if (unit == text + 2 || *unit) {
      *why = "a hexadecimal number is 0x and digits, without a unit";
      return -EINVAL;
    }
    if (kind == SL_QUANTITY_DURATION) {
      *why = "a duration is decimal";
      return -EINVAL;
    }
  } else {
    unit = read_whole(text, 10, &d);
    if (*unit == '.') unit = read_fraction(unit + 1, &d, &too_fine);
    if (!unit) {
      *why = "a digit must follow the point";
      return -EINVAL;
    }
    if (*unit == ' ' || *unit == '\t' || *unit == '\n' || *unit == '\r') {
      *why = "white space after the number";
      return -EINVAL;
    }
    if (*unit == ',') {
      *why = "a comma; the decimal sign is a point";
      return -EINVAL;
    }
    if (!apply_unit(kind, unit, &d, why)) return -EINVAL;
  }
  for (unsigned i = 0; i < d.digits; i++)
    too_fine |= d.fraction[i] != 0;
  if (too_fine) {
    *why = not_whole(kind);
    return -EINVAL;
  }
  if (d.overflow || d.whole > INT64_MAX) {
    *why = "too large; the largest value is 2^63 - 1";
    return -ERANGE;
  }
  *value = (int64_t)d.whole;
  return 0;
}
