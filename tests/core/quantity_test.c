/* SPDX-License-Identifier: MIT */
#include "core/base/quantity.h"

#include <errno.h>
#include <locale.h>

#include "core/test.h"

static const int64_t K = 1024, M = 1024 * 1024, S = 1000000000;

/* The value, or the negative errno, of which none is a legal value. */
static int64_t parse(enum sl_quantity kind, const char *text) {
  int64_t value = -1;
  const char *why = NULL;
  int code = sl_quantity_parse(kind, text, &value, &why);
  if (code) {
    CHECK(why && *why);
    CHECK_EQ(value, -1); /* untouched */
    return code;
  }
  return value;
}

#define SIZE(text) parse(SL_QUANTITY_SIZE, text)
#define DURATION(text) parse(SL_QUANTITY_DURATION, text)
#define COUNT(text) parse(SL_QUANTITY_COUNT, text)
#define RATE(text) parse(SL_QUANTITY_RATE, text)

static void sizes(void) {
  CHECK_EQ(SIZE("4k"), 4096);
  CHECK_EQ(SIZE("4K"), 4096);
  CHECK_EQ(SIZE("4Ki"), 4096);
  CHECK_EQ(SIZE("4KiB"), 4096);
  CHECK_EQ(SIZE("4kiB"), 4096);
  CHECK_EQ(SIZE("4kB"), 4000);
  CHECK_EQ(SIZE("4KB"), 4000);
  CHECK_EQ(SIZE("1m"), M);
  CHECK_EQ(SIZE("1M"), M);
  CHECK_EQ(SIZE("1MB"), 1000000);
  CHECK_EQ(SIZE("1g"), K * M);
  CHECK_EQ(SIZE("2T"), 2 * M * M);
  CHECK_EQ(SIZE("1p"), K * M * M);
  CHECK_EQ(SIZE("1.5G"), 1610612736);
  CHECK_EQ(SIZE("0x1000"), 4096);
  CHECK_EQ(SIZE("0XffF"), 4095);
  CHECK_EQ(SIZE("4096"), 4096);
  CHECK_EQ(SIZE("4096.0"), 4096);
  CHECK_EQ(SIZE("4096B"), 4096);
  CHECK_EQ(SIZE("007"), 7);
  CHECK_EQ(SIZE("0"), 0);
  CHECK_EQ(SIZE("0.5k"), 512);
  CHECK_EQ(SIZE("1.5kB"), 1500);
  CHECK_EQ(SIZE("7E"), INT64_C(7) << 60);
  CHECK_EQ(SIZE("7e"), INT64_C(7) << 60);
  CHECK_EQ(
      SIZE("7.999999999999999999132638262011596452794037759304046630859375E"),
      INT64_MAX);
  CHECK_EQ(SIZE("9.223372036854775807EB"), INT64_MAX);
  CHECK_EQ(SIZE("9223372036854775807"), INT64_MAX);
  CHECK_EQ(
      SIZE("0.000000000000000000867361737988403547205962240695953369140625E"),
      1);
}

static void refused_sizes(void) {
  static const char *const bad[] = {
      "", " 4k", "4k ", "4 k", "\t4", "4kk", "4k4", "k", "-1", "-4k", "+4",
      "1e3", "1e+3", "1E3", "4.5.6", "4.", ".5G", "0x", "0xg", "0x10k", "0.3k",
      "1.5", "4096.5", "1,5G", "4kb", "4kib", "4Kib", "4kBs", "4iB", "nan",
      "inf", "infinity", "\xef\xbc\x94k" /* full width 4 */, "4\xef\xbd\x8b",
      "4z", "0x-1", "1_000", "1'000", "4k\n", "10M/s", "4KiBB",
      /* a bit more than whole, far behind what a double can tell */
      "4096.00000000000000000000000000000000000000000000000000000000000000001",
      "1.0000000000000000000000001k"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int64_t got = SIZE(bad[i]);
    if (got != -EINVAL) printf("  \"%s\" gives %" PRId64 "\n", bad[i], got);
    CHECK_EQ(got, -EINVAL);
  }
  static const char *const large[] = {
      "8E",
      "16E",
      "9223372036854775808",
      "18446744073709551615",
      "18446744073709551616",
      "99999999999999999999999999999999999999999",
      "0x8000000000000000",
      "0x10000000000000000",
      "9.3EB",
      "8.0E",
      "9223372036854775807.5k",
      "36893488147419103232"};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++)
    CHECK_EQ(SIZE(large[i]), -ERANGE);
}

static void durations(void) {
  CHECK_EQ(DURATION("90"), 90 * S);
  CHECK_EQ(DURATION("1.5"), 1500000000);
  CHECK_EQ(DURATION("500ms"), 500000000);
  CHECK_EQ(DURATION("20us"), 20000);
  CHECK_EQ(DURATION("3ns"), 3);
  CHECK_EQ(DURATION("90s"), 90 * S);
  CHECK_EQ(DURATION("30m"), 1800 * S);
  CHECK_EQ(DURATION("2h"), 7200 * S);
  CHECK_EQ(DURATION("0.1h"), 360 * S);
  CHECK_EQ(DURATION("2d"), 172800 * S);
  CHECK_EQ(DURATION("0"), 0);
  CHECK_EQ(DURATION("0.3"), 300000000);
  CHECK_EQ(DURATION("1.5ns"), -EINVAL);
  CHECK_EQ(DURATION("-1"), -EINVAL);
  CHECK_EQ(DURATION("1h30m"), -EINVAL);
  CHECK_EQ(DURATION("2H"), -EINVAL);
  CHECK_EQ(DURATION("0x10"), -EINVAL);
  CHECK_EQ(DURATION("1e3"), -EINVAL);
  CHECK_EQ(DURATION("2 h"), -EINVAL);
  CHECK_EQ(DURATION("106751d"), 106751 * INT64_C(86400) * S);
  CHECK_EQ(DURATION("106752d"), -ERANGE);
}

static void counts_and_rates(void) {
  CHECK_EQ(COUNT("1000"), 1000);
  CHECK_EQ(COUNT("0x10"), 16);
  CHECK_EQ(COUNT("1000.0"), 1000);
  CHECK_EQ(COUNT("0.5"), -EINVAL);
  CHECK_EQ(COUNT("4k"), -EINVAL);
  CHECK_EQ(COUNT("1e3"), -EINVAL);
  CHECK_EQ(RATE("10M"), 10 * M);
  CHECK_EQ(RATE("10MiB/s"), 10 * M);
  CHECK_EQ(RATE("10MB/s"), 10000000);
  CHECK_EQ(RATE("1.5k/s"), 1536);
  CHECK_EQ(RATE("100/s"), 100);
  CHECK_EQ(RATE("10MiB/sec"), -EINVAL);
  CHECK_EQ(RATE("10MiB/h"), -EINVAL);
  CHECK_EQ(RATE("/s"), -EINVAL);
  CHECK_EQ(RATE("10 MB/s"), -EINVAL);
}

static void locale_does_not_matter(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",
                                      "tr_TR.UTF-8"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char text[32];
    setlocale(LC_ALL, names[i]); /* where it is installed */
    CHECK_EQ(SIZE("1.5G"), 1610612736);
    CHECK_EQ(SIZE("1,5G"), -EINVAL);
    CHECK_EQ(SIZE("1IB"), -EINVAL);
    CHECK_STR(sl_size_text(1610612736, text, sizeof text), "1.5 GiB");
  }
  setlocale(LC_ALL, "C");
}

static void size_texts(void) {
  static const struct {
    int64_t bytes;
    const char *text;
  } rows[] = {{0, "0 B"},
              {1, "1 B"},
              {1023, "1023 B"},
              {1024, "1 KiB"},
              {4096, "4 KiB"},
              {487424, "476 KiB"},
              {1025, "1.0 KiB"},
              {1536, "1.5 KiB"},
              {1610612736, "1.5 GiB"},
              {1048575, "1.0 MiB"},
              {1023 * 1024, "1023 KiB"},
              {1047552 + 512, "1023.5 KiB"},
              {-4096, "-4 KiB"},
              {INT64_MAX, "8.0 EiB"},
              {INT64_MIN, "-8 EiB"}};
  char text[16];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK_STR(sl_size_text(rows[i].bytes, text, sizeof text), rows[i].text);
}

static void duration_texts(void) {
  static const struct {
    int64_t ns;
    const char *text;
  } rows[] = {{0, "0 s"},
              {1, "1 ns"},
              {840, "840 ns"},
              {999, "999 ns"},
              {1000, "1.0 us"},
              {15200000, "15.2 ms"},
              {999949999, "999.9 ms"},
              {999950000, "1.0 s"},
              {12400000000, "12.4 s"},
              {59949999999, "59.9 s"},
              {59950000000, "1 min 00 s"},
              {187000000000, "3 min 07 s"},
              {3599400000000, "59 min 59 s"},
              {3599500000000, "1 h 00 min"},
              {172800000000000, "48 h 00 min"},
              {172770000000000, "48 h 00 min"},
              {172769999999999, "47 h 59 min"},
              {-12400000000, "-12.4 s"},
              {INT64_MAX, "2562047 h 47 min"}};
  char text[24];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK_STR(sl_duration_text(rows[i].ns, text, sizeof text), rows[i].text);
}

int main(void) {
  RUN(sizes);
  RUN(refused_sizes);
  RUN(durations);
  RUN(counts_and_rates);
  RUN(locale_does_not_matter);
  RUN(size_texts);
  RUN(duration_texts);
  return TEST_DONE();
}
