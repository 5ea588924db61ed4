/* SPDX-License-Identifier: MIT */
/* start_up ROUNDS -- COMMAND [ARG...] -- COMMAND ...: starts each command in
 * turn, ROUNDS times, output discarded, and measures from posix_spawn to
 * wait4. Prints one line for each command: median nanoseconds, largest
 * resident set in bytes, exit status of the last run. */
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;
enum { COMMANDS_MAX = 8, ROUNDS_MAX = 1000 };

struct command {
  char **argv;
  int64_t ns[ROUNDS_MAX];
  long resident_kib;
  int status;
};

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int run(struct command *c, int round,
               const posix_spawn_file_actions_t *actions) {
  struct rusage usage;
  pid_t pid;
  int64_t begin = now_ns();
  int rc = posix_spawnp(&pid, c->argv[0], actions, NULL, c->argv, environ);
  if (rc != 0) {
    fprintf(stderr, "%s: %s\n", c->argv[0], strerror(rc));
    return 1;
  }
  if (wait4(pid, &c->status, 0, &usage) != pid) return 1;
  c->ns[round] = now_ns() - begin;
  if (usage.ru_maxrss > c->resident_kib) c->resident_kib = usage.ru_maxrss;
  return 0;
}

int main(int argc, char **argv) {
  static struct command commands[COMMANDS_MAX];
  int count = 0, rounds = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--") != 0) continue;
    argv[i] = NULL; /* ends the command before */
    if (i + 1 < argc && count < COMMANDS_MAX)
      commands[count++].argv = &argv[i + 1];
  }
  if (count == 0 || rounds < 1 || rounds > ROUNDS_MAX) {
    fprintf(stderr, "usage: start_up ROUNDS -- COMMAND... -- COMMAND...\n");
    return 2;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  /* Every second round goes backwards, so that no command is always first. */
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < count; i++)
      if (run(&commands[round % 2 ? count - 1 - i : i], round, &actions))
        return 1;
  for (int i = 0; i < count; i++) {
    struct command *c = &commands[i];
    qsort(c->ns, (size_t)rounds, sizeof(c->ns[0]), by_value);
    printf("%" PRId64 " %ld %d\n", c->ns[rounds / 2], c->resident_kib * 1024,
           WIFEXITED(c->status) ? WEXITSTATUS(c->status) : -1);
  }
  posix_spawn_file_actions_destroy(&actions);
  return 0;
}
