/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t released;
  struct rule rules[RULES_MAX];
  size_t count;
  char only[128];
  off_t room; /* bytes until ENOSPC; -1: no limit */
  unsigned long calls[RULE_OPS];
  unsigned hanging;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .released = PTHREAD_COND_INITIALIZER,
           .room = -1};

static const char *const op_names[RULE_OPS] = {"read", "write", "fsync",
                                               "open", "mkdir", "fsyncdir"};
static const struct {
  const char *name;
  int code;
} errors[] = {{"EIO", EIO},
              {"ENOSPC", ENOSPC},
              {"EROFS", EROFS},
              {"EACCES", EACCES},
              {"EINTR", EINTR},
              {"EDQUOT", EDQUOT},
              {"ENOMEDIUM", ENOMEDIUM},
              {"EAGAIN", EAGAIN},
              {"EINVAL", EINVAL},
              {"ETIMEDOUT", ETIMEDOUT}};

static bool find_op(const char *name, enum rule_op *op) {
  for (int i = 0; i < RULE_OPS; i++)
    if (strcmp(name, op_names[i]) == 0) {
      *op = (enum rule_op)i;
      return true;
    }
  return false;
}

static void drop_kind(enum rule_kind kind) {
  size_t kept = 0;
  for (size_t i = 0; i < state.count; i++)
    if (state.rules[i].kind != kind) state.rules[kept++] = state.rules[i];
  state.count = kept;
}

/* Reads a rule from words; `n` are there. */
static bool parse_rule(char words[][64], int n, struct rule *r) {
  static const struct {
    const char *name;
    enum rule_kind kind;
  } spans[] = {{"zero", RULE_ZERO},          {"ones", RULE_ONES},
               {"garbage", RULE_GARBAGE},    {"stale", RULE_STALE},
               {"torn", RULE_TORN},          {"flip", RULE_FLIP},
               {"misdirect", RULE_MISDIRECT}};
  *r = (struct rule){.offset = -1, .length = 512};
  int next = 2; /* the word that holds the offset */
  if (strcmp(words[0], "drop") == 0) {
    r->kind = RULE_DROP;
    return true;
  }
  if (find_op(words[0], &r->op)) {
    r->kind = RULE_FAIL;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
      if (n > 1 && strcmp(words[1], errors[i].name) == 0)
        r->error = errors[i].code;
    if (!r->error) return false;
  } else if (n > 1 && find_op(words[1], &r->op)) {
    r->kind = strcmp(words[0], "hang") == 0   ? RULE_HANG
              : strcmp(words[0], "slow") == 0 ? RULE_SLOW
                                              : RULE_SHORT;
    if (r->kind == RULE_SHORT && strcmp(words[0], "short") != 0) return false;
    if (r->kind != RULE_HANG) {
      r->value = atoll(n > 2 ? words[2] : "0");
      return r->value > 0;
    }
  } else {
    size_t i = 0, all = sizeof(spans) / sizeof(spans[0]);
    while (i < all && strcmp(words[0], spans[i].name) != 0)
      i++;
    if (i == all || n < 2) return false;
    r->kind = spans[i].kind;
    next = 1;
  }
  if (n > next) r->offset = atoll(words[next++]);
  if (r->kind == RULE_FLIP || r->kind == RULE_MISDIRECT) {
    if (n <= next) return false;
    r->value = atoll(words[next++]);
  }
  if (n > next) r->length = atoll(words[next]);
  if (r->kind == RULE_FLIP) r->length = r->value;
  return true;
}

static int obey(const char *line) {
  char words[5][64] = {{0}};
  int n = sscanf(line, "%63s %63s %63s %63s %63s", words[0], words[1], words[2],
                 words[3], words[4]);
  struct rule r;
  if (n <= 0) return 0;
  if (strcmp(words[0], "clear") == 0) {
    state.count = 0;
    state.room = -1;
    state.only[0] = '\0';
  } else if (strcmp(words[0], "release") == 0) {
    drop_kind(RULE_HANG);
  } else if (strcmp(words[0], "only") == 0 && n > 1) {
    memcpy(state.only, words[1], sizeof(words[1]));
  } else if (strcmp(words[0], "enospc") == 0 && n > 2) {
    state.room = atoll(words[2]);
  } else if (state.count < RULES_MAX && parse_rule(words, n, &r)) {
    state.rules[state.count++] = r;
  } else {
    return -EINVAL;
  }
  return 0;
}

int rules_command(const char *text, size_t length) {
  char line[256];
  int rc = 0;
  pthread_mutex_lock(&state.mutex);
  while (length > 0 && rc == 0) {
    const char *end = memchr(text, '\n', length);
    size_t n = end ? (size_t)(end - text) : length;
    if (n >= sizeof(line)) {
      rc = -EINVAL;
      break;
    }
    memcpy(line, text, n);
    line[n] = '\0';
    rc = obey(line);
    n += end ? 1 : 0;
    text += n;
    length -= n;
  }
  pthread_cond_broadcast(&state.released);
  pthread_mutex_unlock(&state.mutex);
  return rc;
}

size_t rules_status(char *text, size_t size) {
  pthread_mutex_lock(&state.mutex);
  int n = snprintf(text, size, "hanging %u\n", state.hanging);
  for (int i = 0; i < RULE_OPS && n >= 0 && (size_t)n < size; i++)
    n += snprintf(text + n, size - (size_t)n, "%s %lu\n", op_names[i],
                  state.calls[i]);
  pthread_mutex_unlock(&state.mutex);
  return n < 0 ? 0 : (size_t)n;
}

static bool meant(const char *path) {
  size_t all = strlen(path), tail = strlen(state.only);
  return all >= tail && strcmp(path + all - tail, state.only) == 0;
}

static bool touches(const struct rule *r, off_t offset, size_t bytes) {
  return r->offset < 0 ||
         (offset < r->offset + r->length && r->offset < offset + (off_t)bytes);
}

/* The first rule of a kind for an operation. The mutex is held. */
static const struct rule *find(enum rule_kind kind, enum rule_op op,
                               const char *path, off_t offset, size_t bytes) {
  if (!meant(path)) return NULL;
  for (size_t i = 0; i < state.count; i++) {
    const struct rule *r = &state.rules[i];
    if (r->kind == kind && r->op == op && touches(r, offset, bytes)) return r;
  }
  return NULL;
}

int rules_before(enum rule_op op, const char *path, off_t offset,
                 size_t bytes) {
  pthread_mutex_lock(&state.mutex);
  state.calls[op]++;
  const struct rule *r = find(RULE_SLOW, op, path, offset, bytes);
  if (r) {
    struct timespec t = {(time_t)(r->value / 1000),
                         (long)(r->value % 1000 * 1000000)};
    pthread_mutex_unlock(&state.mutex);
    nanosleep(&t, NULL);
    pthread_mutex_lock(&state.mutex);
  }
  state.hanging++;
  while (find(RULE_HANG, op, path, offset, bytes))
    pthread_cond_wait(&state.released, &state.mutex);
  state.hanging--;
  r = find(RULE_FAIL, op, path, offset, bytes);
  int rc = r ? -r->error : 0;
  pthread_mutex_unlock(&state.mutex);
  return rc;
}

size_t rules_touching(const char *path, off_t offset, size_t bytes,
                      struct rule *found) {
  size_t n = 0;
  pthread_mutex_lock(&state.mutex);
  for (size_t i = 0; i < state.count && meant(path); i++)
    if (touches(&state.rules[i], offset, bytes)) found[n++] = state.rules[i];
  pthread_mutex_unlock(&state.mutex);
  return n;
}

size_t rules_take_room(const char *path, size_t bytes) {
  pthread_mutex_lock(&state.mutex);
  if (state.room >= 0 && meant(path)) {
    if ((off_t)bytes > state.room) bytes = (size_t)state.room;
    state.room -= (off_t)bytes;
  }
  pthread_mutex_unlock(&state.mutex);
  return bytes;
}
