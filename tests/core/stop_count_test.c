/* SPDX-License-Identifier: MIT */
#include "core/run/stop_count.h"

#include <signal.h>

#include "test.h"

static const int64_t MS = 1000000;

struct event {
  int64_t at_ms;
  int signal;
  enum sl_stop_source source;
};

static int count(const struct event *events, unsigned n) {
  struct sl_stop_count stop = {0};
  for (unsigned i = 0; i < n; i++)
    sl_stop_count_add(&stop, events[i].signal, events[i].source,
                      5000 * MS + events[i].at_ms * MS);
  return stop.count;
}

#define COUNT(...)                           \
  count((const struct event[]){__VA_ARGS__}, \
        sizeof((const struct event[]){__VA_ARGS__}) / sizeof(struct event))

static void one_press_is_one_request(void) {
  CHECK_EQ(COUNT({0, SIGINT, SL_STOP_DIRECT}), 1);
  /* kill to the group: the host's own and the supervisor's relay, any order,
   * the second one late because the machine is busy */
  CHECK_EQ(COUNT({0, SIGINT, SL_STOP_DIRECT}, {400, SIGINT, SL_STOP_RELAYED}),
           1);
  CHECK_EQ(COUNT({0, SIGINT, SL_STOP_RELAYED}, {1, SIGINT, SL_STOP_DIRECT}), 1);
}

static void timeout_signals_a_process_and_its_group(void) {
  CHECK_EQ(COUNT({0, SIGTERM, SL_STOP_RELAYED}, {1, SIGTERM, SL_STOP_DIRECT},
                 {2, SIGTERM, SL_STOP_RELAYED}),
           1);
}

static void hang_up_is_not_a_second_request(void) {
  CHECK_EQ(COUNT({0, SIGHUP, SL_STOP_DIRECT}, {300, SIGHUP, SL_STOP_DIRECT}),
           1);
  CHECK_EQ(COUNT({0, SIGTERM, SL_STOP_DIRECT}, {1, SIGHUP, SL_STOP_DIRECT}), 1);
}

static void two_presses_are_two_requests(void) {
  CHECK_EQ(COUNT({0, SIGINT, SL_STOP_DIRECT}, {120, SIGINT, SL_STOP_DIRECT}),
           2);
  CHECK_EQ(COUNT({0, SIGINT, SL_STOP_DIRECT}, {1, SIGINT, SL_STOP_RELAYED},
                 {120, SIGINT, SL_STOP_DIRECT}, {121, SIGINT, SL_STOP_RELAYED}),
           2);
  CHECK_EQ(
      COUNT({0, SIGTERM, SL_STOP_RELAYED}, {300, SIGTERM, SL_STOP_RELAYED}), 2);
  CHECK_EQ(COUNT({0, SIGHUP, SL_STOP_DIRECT}, {2000, SIGHUP, SL_STOP_DIRECT}),
           2);
}

int main(void) {
  RUN(one_press_is_one_request);
  RUN(timeout_signals_a_process_and_its_group);
  RUN(hang_up_is_not_a_second_request);
  RUN(two_presses_are_two_requests);
  return TEST_DONE();
}
