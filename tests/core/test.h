/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_TESTS_CORE_TEST_H
#define STORLUA_TESTS_CORE_TEST_H

/* The whole test framework of the C tests: a check that prints what it saw, a
 * table of named tests, and skipping.  A test program is
 *
 *   static void order_visits_all(void) { CHECK_EQ(sl_order_at(…), 3); }
 *   int main(void) {
 *     RUN(order_visits_all);
 *     return TEST_DONE();
 *   }
 */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_failures;
static int test_skips;

#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      test_failures++;                                       \
    }                                                        \
  } while (0)

#define CHECK_EQ(got, wanted)                                              \
  do {                                                                     \
    int64_t got_ = (int64_t)(got), wanted_ = (int64_t)(wanted);            \
    if (got_ != wanted_) {                                                 \
      printf("%s:%d: %s is %" PRId64 ", not %" PRId64 " (%s)\n", __FILE__, \
             __LINE__, #got, got_, wanted_, #wanted);                      \
      test_failures++;                                                     \
    }                                                                      \
  } while (0)

#define CHECK_STR(got, wanted)                                              \
  do {                                                                      \
    const char *got_ = (got), *wanted_ = (wanted);                          \
    if (!got_ || strcmp(got_, wanted_) != 0) {                              \
      printf("%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #got, \
             got_ ? got_ : "(null)", wanted_);                              \
      test_failures++;                                                      \
    }                                                                       \
  } while (0)

/* Says why and leaves the test function.  The program exits 77 unless
 * STORLUA_REQUIRE_ALL is set: then a skip is a failure. */
#define SKIP(reason)                               \
  do {                                             \
    printf("%s: SKIPPED: %s\n", __func__, reason); \
    test_skips++;                                  \
    return;                                        \
  } while (0)

#define RUN(test)                                                             \
  do {                                                                        \
    int before_ = test_failures;                                              \
    test();                                                                   \
    printf("%s %s\n", test_failures == before_ ? "ok    " : "FAILED", #test); \
    fflush(stdout);                                                           \
  } while (0)

static inline int TEST_DONE(void) {
  if (test_failures) return EXIT_FAILURE;
  if (!test_skips) return EXIT_SUCCESS;
  return getenv("STORLUA_REQUIRE_ALL") ? EXIT_FAILURE : 77;
}

#endif
