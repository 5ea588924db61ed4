/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_QUANTITY_H
#define STORLUA_CORE_BASE_QUANTITY_H

/* Sizes, durations, counts and rates as people write them.  The one place in
 * the project that parses or prints a quantity with a unit.
 *
 *   size      4096  4k  4K  4Ki  4KiB (all 4096: binary)  4kB 4KB (4000)
 *             1.5G  0x1000  4096.0     letters k m g t p e, any case
 *   duration  90 (seconds)  1.5  500ms  20us  3ns  90s  30m  2h  2d
 *   count     1000  0x10  1000.0
 *   rate      a size per second: 10M  10MiB/s  10MB/s
 *
 * `4k` and `4K` are 4096 in every place, as in iozone, fio and dd; only a
 * spelled-out B after the letter, without i, means powers of ten.
 * Refused: empty, trailing text, a sign, NaN, more than INT64_MAX, a value
 * that is not whole in the base unit, exponents (1e3), non-ASCII digits.
 * White space around the number is refused too: a script that has it has a
 * quoting error.  Zero is accepted here; who cannot use it says so. */

#include <stddef.h>
#include <stdint.h>

enum sl_quantity {
  SL_QUANTITY_SIZE,     /* bytes */
  SL_QUANTITY_DURATION, /* nanoseconds */
  SL_QUANTITY_COUNT,    /* pieces */
  SL_QUANTITY_RATE      /* bytes per second */
};

/* Parses all of `text`.  Returns 0 and sets *value, or -EINVAL (not a
 * quantity of this kind) or -ERANGE (does not fit), and points *why at a
 * static sentence fragment that says what is wrong and what is allowed. */
int sl_quantity_parse(enum sl_quantity kind, const char *text, int64_t *value,
                      const char **why);

/* "4 KiB", "1.5 GiB", "476 KiB", "100 B": in the largest binary unit that is
 * not larger than the value, without a point when whole, otherwise rounded to
 * one decimal.  Returns `text`; 16 bytes are enough. */
char *sl_size_text(int64_t bytes, char *text, size_t size);

/* "48 h 00 min", "3 min 07 s", "12.4 s", "15.2 ms", "840 ns", "0 s".  Returns
 * `text`; 24 bytes are enough. */
char *sl_duration_text(int64_t ns, char *text, size_t size);

#endif
