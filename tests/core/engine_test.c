/* SPDX-License-Identifier: MIT */
#include "core/io/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/test.h"

static void every_name_is_found(void) {
  const char *const *names = sl_engine_names();
  int count = 0;
  for (; names[count]; count++) {
    const struct sl_engine *engine = sl_engine_find(names[count]);
    CHECK(engine != NULL);
    if (engine) CHECK_STR(engine->name, names[count]);
  }
  CHECK(count >= 2);
  CHECK(sl_engine_find("psync") != NULL);
  CHECK(sl_engine_find("null") != NULL);
  CHECK(sl_engine_find("ps") == NULL);
  CHECK(sl_engine_find("") == NULL);
}

static void psync_moves_what_the_kernel_moves(void) {
  char path[] = "/tmp/storlua-engine-XXXXXX";
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  unlink(path);
  struct sl_target target = {.fd = fd};
  struct sl_engine_setup setup = {.target = &target, .queue_depth = 1};
  const struct sl_engine *psync = sl_engine_find("psync");
  struct sl_engine_state *state;
  struct sl_error e = {0};
  CHECK_EQ(psync->open(&state, &setup, &e), 0);
  char data[100] = "something", back[100] = "";
  CHECK_EQ(psync->transfer(state, SL_OP_WRITE, data, 100, 1000), 100);
  CHECK_EQ(psync->flush(state), 0);
  CHECK_EQ(lseek(fd, 0, SEEK_END), 1100);
  CHECK_EQ(psync->transfer(state, SL_OP_READ, back, 100, 1050), 50);
  CHECK_EQ(psync->transfer(state, SL_OP_READ, back, 100, 1000), 100);
  CHECK_STR(back, "something");
  CHECK_EQ(psync->transfer(state, SL_OP_READ, back, 100, 1100), 0);
  CHECK_EQ(psync->transfer(state, SL_OP_TRIM, NULL, 100, 1000), 100);
  CHECK_EQ(psync->transfer(state, SL_OP_READ, back, 100, 1000), 100);
  CHECK_STR(back, "");
  psync->close(state);
  close(fd);
}

static void psync_passes_errors_on(void) {
  int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  struct sl_target target = {.fd = fd};
  struct sl_engine_setup setup = {.target = &target, .queue_depth = 1};
  const struct sl_engine *psync = sl_engine_find("psync");
  struct sl_engine_state *state;
  struct sl_error e = {0};
  CHECK_EQ(psync->open(&state, &setup, &e), 0);
  char byte;
  CHECK_EQ(psync->transfer(state, SL_OP_READ, &byte, 1, 0), -EBADF);
  CHECK_EQ(psync->flush(state), -EINVAL);
  psync->close(state);
  close(fd);
}

static void null_says_all_of_it(void) {
  struct sl_engine_setup setup = {.queue_depth = 1};
  const struct sl_engine *null = sl_engine_find("null");
  struct sl_engine_state *state;
  struct sl_error e = {0};
  CHECK(!null->needs_target);
  CHECK_EQ(null->open(&state, &setup, &e), 0);
  CHECK_EQ(null->transfer(state, SL_OP_READ, NULL, 123456, 1 << 30), 123456);
  CHECK_EQ(null->flush(state), 0);
  null->close(state);
}

int main(void) {
  RUN(every_name_is_found);
  RUN(psync_moves_what_the_kernel_moves);
  RUN(psync_passes_errors_on);
  RUN(null_says_all_of_it);
  return TEST_DONE();
}
