/* SPDX-License-Identifier: MIT */
#include "core/run/event_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/test.h"

static struct sl_loop loop;
static unsigned changes;

static void changed(struct sl_event_log *log, void *user) {
  (void)log;
  (void)user;
  changes++;
}

static struct sl_event_log_options options_for(const char *directory) {
  return (struct sl_event_log_options){
      .directory = directory, .limit_bytes = 1 << 20, .changed = changed};
}

static struct sl_event_log *open_log(const struct sl_event_log_options *o) {
  struct sl_event_log *log = NULL;
  struct sl_error e;
  if (sl_event_log_open(&loop, o, &log, &e)) {
    char text[SL_ERROR_TEXT_BYTES];
    printf("%s\n", sl_error_text(&e, text, sizeof text));
    exit(EXIT_FAILURE);
  }
  return log;
}

static struct sl_event_log_state wait_for(struct sl_event_log *log,
                                          uint64_t ticket) {
  struct sl_event_log_state state;
  for (;;) {
    sl_event_log_state(log, &state);
    if (state.done_ticket >= ticket) return state;
    sl_loop_turn(&loop, 1);
  }
}

static uint64_t append(struct sl_event_log *log, const char *line,
                       unsigned flags) {
  uint64_t ticket = 0;
  int code;
  while ((code = sl_event_log_append(log, line, strlen(line), flags,
                                     &ticket)) == -EAGAIN)
    sl_loop_turn(&loop, 1);
  CHECK_EQ(code, 0);
  return ticket;
}

static void close_log(struct sl_event_log *log) {
  struct sl_event_log_state state;
  sl_event_log_finish(log);
  do {
    sl_loop_turn(&loop, 1);
    sl_event_log_state(log, &state);
  } while (!state.is_closed || loop.in_flight);
  sl_event_log_release(log);
  sl_loop_turn(&loop, 0);
  CHECK_EQ(loop.handles, 0);
}

static char base[] = "/tmp/storlua-event-log-XXXXXX";
static char directory[64];

static void fresh(const char *name) {
  snprintf(directory, sizeof directory, "%s/%s", base, name);
  CHECK_EQ(mkdir(directory, 0777), 0);
}

static char *content(const char *name) {
  char path[128], *text = NULL;
  size_t length;
  struct sl_error e;
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return sl_file_read_all(path, &text, &length, &e) ? NULL : text;
}

static void put(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  fputs(text, file);
  fclose(file);
}

static void durable_line_is_on_disk(void) {
  fresh("durable");
  struct sl_event_log_options o = options_for(directory);
  struct sl_event_log *log = open_log(&o);
  CHECK_EQ(loop.in_flight, 0);
  append(log, "{\"a\":1}", 0);
  uint64_t ticket = append(log, "{\"b\":2}", SL_EVENT_DURABLE);
  CHECK_EQ(ticket, 2);
  CHECK_EQ(loop.in_flight, 1);
  struct sl_event_log_state state = wait_for(log, ticket);
  CHECK_EQ(state.failure.code, 0);
  char *text = content("events.jsonl");
  CHECK_STR(text, "{\"a\":1}\n{\"b\":2}\n");
  free(text);
  while (loop.in_flight)
    sl_loop_turn(&loop, 1);
  CHECK_EQ(sl_loop_turn(&loop, 0), 0); /* an idle log keeps nobody waiting */
  uint64_t unused;
  CHECK_EQ(sl_event_log_append(log, "{\n}", 3, 0, &unused), -EINVAL);
  close_log(log);
  text = content("reserve");
  CHECK(!text);
  struct sl_error e;
  CHECK_EQ(sl_event_log_open(&loop, &o, &log, &e), -EEXIST);
}

static void rotation_keeps_one_older_half(void) {
  fresh("rotation");
  struct sl_event_log_options o = options_for(directory);
  struct sl_event_log *log = open_log(&o);
  char line[1024];
  memset(line, 'x', sizeof line);
  line[0] = '{';
  line[sizeof line - 2] = '}';
  line[sizeof line - 1] = '\0';
  unsigned rotations = 0;
  for (int i = 0; i < 3000; i++) {
    bool rotate = sl_event_log_wants_rotation(log, strlen(line));
    rotations += rotate;
    append(log, line, rotate ? SL_EVENT_ROTATE : 0);
  }
  close_log(log);
  CHECK_EQ(rotations, 6);
  struct stat live, older;
  char path[128];
  snprintf(path, sizeof path, "%s/events.jsonl", directory);
  CHECK_EQ(stat(path, &live), 0);
  snprintf(path, sizeof path, "%s/events.1.jsonl", directory);
  CHECK_EQ(stat(path, &older), 0);
  CHECK(live.st_size + older.st_size <= 1 << 20);
  CHECK(older.st_size > (1 << 19) - 34 * 1024);
}

static void torn_line_is_cut(const char *name, const char *text, uint64_t torn,
                             const char *wanted) {
  fresh(name);
  put("events.jsonl", text);
  struct sl_event_log_options o = options_for(directory);
  o.resume = true;
  struct sl_event_log *log = open_log(&o);
  CHECK_EQ(sl_event_log_torn_bytes(log), torn);
  wait_for(log, append(log, "{\"z\":1}", SL_EVENT_DURABLE));
  close_log(log);
  char *got = content("events.jsonl");
  CHECK_STR(got, wanted);
  free(got);
}

static void reopening_cuts_torn_lines(void) {
  torn_line_is_cut("whole", "{1}\n{2}\n", 0, "{1}\n{2}\n{\"z\":1}\n");
  torn_line_is_cut("torn", "{1}\n{2", 2, "{1}\n{\"z\":1}\n");
  torn_line_is_cut("half", "{1}\n{2\n", 3, "{1}\n{\"z\":1}\n");
  torn_line_is_cut("only", "{1", 2, "{\"z\":1}\n");
  torn_line_is_cut("empty", "", 0, "{\"z\":1}\n");
}

static void full_disk_still_takes_the_last_word(void) {
  if (geteuid() != 0) SKIP("needs root to mount a tmpfs");
  fresh("full");
  if (mount("storlua-test", directory, "tmpfs", 0, "size=1m"))
    SKIP("cannot mount a tmpfs");
  struct sl_event_log_options o = options_for(directory);
  struct sl_event_log *log = open_log(&o);
  CHECK(sl_event_log_limit_bytes(log) < 1 << 20);
  char filler[128], big[8192];
  snprintf(filler, sizeof filler, "%s/filler", directory);
  int fd = open(filler, O_WRONLY | O_CREAT, 0666);
  memset(big, 'y', sizeof big);
  while (write(fd, big, sizeof big) > 0)
    continue;
  close(fd);
  big[sizeof big - 1] = '\0';
  uint64_t ticket = 0;
  for (int i = 0; i < 4; i++)
    ticket = append(log, big, SL_EVENT_DURABLE);
  struct sl_event_log_state state = wait_for(log, ticket);
  CHECK_EQ(state.failure.code, -ENOSPC);
  CHECK_STR(state.failure.op, "write");
  CHECK(state.lost_lines >= 3);
  ticket = append(log, "{\"kind\":\"verdict\"}", SL_EVENT_FINAL);
  state = wait_for(log, ticket);
  CHECK_EQ(state.last_word.code, 0);
  snprintf(filler, sizeof filler, "%s/summary.json", directory);
  CHECK_EQ(sl_event_log_replace(log, filler, "{}\n", 3, &ticket), 0);
  state = wait_for(log, ticket);
  CHECK_EQ(state.replaced.code, 0);
  close_log(log);
  char *text = content("events.jsonl");
  CHECK(text && strstr(text, "{\"kind\":\"verdict\"}\n"));
  free(text);
  text = content("summary.json");
  CHECK_STR(text, "{}\n");
  free(text);
  CHECK_EQ(umount(directory), 0);
}

static void queue_is_bounded(void) {
  fresh("queue");
  struct sl_event_log_options o = options_for(directory);
  o.queue_bytes = 1000;
  struct sl_event_log *log = open_log(&o);
  char line[600];
  memset(line, 'x', sizeof line - 1);
  line[sizeof line - 1] = '\0';
  unsigned refused = 0;
  uint64_t ticket = 0;
  for (int i = 0; i < 500; i++) {
    while (sl_event_log_append(log, line, strlen(line), 0, &ticket)) {
      refused++;
      CHECK_EQ(loop.in_flight, 1); /* waiting for room is waiting */
      sl_loop_turn(&loop, 1);
    }
    struct sl_event_log_state state;
    sl_event_log_state(log, &state);
    CHECK(state.queued_bytes < 1000 + 600);
  }
  CHECK(refused > 0);
  wait_for(log, append(log, "{}", SL_EVENT_DURABLE));
  close_log(log);
}

/* Dropped without an end: what was queued is still written. */
static void abandoned_log_finishes_by_itself(void) {
  fresh("abandoned");
  struct sl_event_log_options o = options_for(directory);
  struct sl_event_log *log = open_log(&o);
  append(log, "{\"a\":1}", SL_EVENT_DURABLE);
  sl_event_log_release(log);
  sl_loop_turn(&loop, 0);
  CHECK_EQ(loop.handles, 0);
  CHECK_EQ(loop.in_flight, 0);
  char *text = NULL;
  for (int i = 0; i < 500; i++) {
    free(text);
    text = content("events.jsonl");
    char *reserve = content("reserve");
    bool over = !reserve;
    free(reserve);
    if (over) break;
    usleep(10000);
  }
  free(text);
  text = content("events.jsonl");
  CHECK_STR(text, "{\"a\":1}\n");
  free(text);
}

int main(void) {
  struct sl_error e;
  if (sl_loop_init(&loop, 0, &e) || !mkdtemp(base)) return EXIT_FAILURE;
  RUN(durable_line_is_on_disk);
  RUN(rotation_keeps_one_older_half);
  RUN(reopening_cuts_torn_lines);
  RUN(full_disk_still_takes_the_last_word);
  RUN(queue_is_bounded);
  RUN(abandoned_log_finishes_by_itself);
  CHECK(changes > 0);
  CHECK_EQ(sl_loop_close(&loop), 0);
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", base);
  if (system(command)) return EXIT_FAILURE;
  return TEST_DONE();
}
