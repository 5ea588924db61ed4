/* SPDX-License-Identifier: MIT */
/* The register of grants, and the check at every reopen. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/device/gate_private.h"

/* linux/fs.h has it since 5.15 only. */
#define GET_DISK_SEQUENCE _IOR(0x12, 128, uint64_t)

struct sl_grant {
  struct sl_grant *next;
  int fd;
  struct sl_device_number number;
  int64_t disk_sequence; /* -1 unknown: then the unit is compared */
  char unit[SL_UNIT_BYTES];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sl_grant *grants;

int64_t sl_gate_disk_sequence(int fd) {
  uint64_t sequence = 0;
  if (ioctl(fd, GET_DISK_SEQUENCE, &sequence) != 0) return -1;
  return sequence <= INT64_MAX ? (int64_t)sequence : -1;
}

struct sl_grant *sl_gate_register(int fd, const struct sl_identity *identity) {
  struct sl_grant *grant = calloc(1, sizeof *grant);
  if (!grant) return NULL;
  grant->fd = fd;
  grant->number = identity->number;
  grant->disk_sequence = sl_gate_disk_sequence(fd);
  memcpy(grant->unit, identity->unit, sizeof grant->unit);
  pthread_mutex_lock(&mutex);
  grant->next = grants;
  grants = grant;
  pthread_mutex_unlock(&mutex);
  return grant;
}

void sl_gate_close(struct sl_grant *grant) {
  if (!grant) return;
  /* Gone from the register before the exclusive access is. */
  pthread_mutex_lock(&mutex);
  struct sl_grant **link = &grants;
  while (*link && *link != grant)
    link = &(*link)->next;
  if (*link) *link = grant->next;
  pthread_mutex_unlock(&mutex);
  close(grant->fd);
  free(grant);
}

static bool find(struct sl_device_number number, struct sl_grant *copy) {
  bool found = false;
  pthread_mutex_lock(&mutex);
  for (const struct sl_grant *g = grants; g && !found; g = g->next) {
    found = sl_same_device(g->number, number);
    if (found && copy) *copy = *g;
  }
  pthread_mutex_unlock(&mutex);
  return found;
}

bool sl_gate_is_granted(struct sl_device_number device) {
  return find(device, NULL);
}

int sl_gate_duplicate(struct sl_device_number device) {
  int fd = 0;
  pthread_mutex_lock(&mutex);
  for (const struct sl_grant *g = grants; g && !fd; g = g->next) {
    if (sl_same_device(g->number, device)) {
      fd = fcntl(g->fd, F_DUPFD_CLOEXEC, 3);
    }
  }
  pthread_mutex_unlock(&mutex);
  return fd > 0 ? fd : 0;
}

static bool is_same_unit(const struct sl_grant *grant, int fd) {
  if (grant->disk_sequence >= 0) {
    return sl_gate_disk_sequence(fd) == grant->disk_sequence;
  }
  struct sl_identity *now = malloc(sizeof *now);
  bool same = now && sl_identity_read(NULL, grant->number, now, NULL) == 0 &&
              strcmp(now->unit, grant->unit) == 0;
  free(now);
  return same;
}

/* The name does not matter: a hard link, or what a symlink leads to, is the
 * same file. */
static int check_file(const struct stat *st, const char *path,
                      struct sl_error *e) {
  struct sl_gate_answer *answer = calloc(1, sizeof *answer);
  if (!answer) return sl_error_set(e, -ENOMEM, "open", path, -1);
  sl_gate_judge_file(st, answer);
  int code = answer->reason_count ? SL_REFUSED : 0;
  if (code) {
    sl_error_set(e, code, "open for writing", path, -1);
    sl_error_hint(e, "%.250s; detach that first", answer->reasons[0].text);
  }
  free(answer);
  return code;
}

int sl_gate_check(int fd, const char *path, struct sl_error *e) {
  struct sl_grant grant;
  struct stat st;

  if (fstat(fd, &st) != 0) return sl_error_set(e, -errno, "fstat", path, -1);
  if (S_ISREG(st.st_mode)) return check_file(&st, path, e);
  if (!S_ISBLK(st.st_mode)) return 0;
  struct sl_device_number number = {major(st.st_rdev), minor(st.st_rdev)};
  if (!find(number, &grant)) {
    sl_error_set(e, SL_REFUSED, "open for writing", path, -1);
    sl_error_hint(e,
                  "block devices are written only with a grant: "
                  "gate.open(path, {consents = …}); run with "
                  "--destroy and the device's id, which `storlua "
                  "devices.lua` prints");
    return SL_REFUSED;
  }
  if (is_same_unit(&grant, fd)) return 0;
  sl_error_set(e, SL_REFUSED, "open for writing", path, -1);
  sl_error_hint(e,
                "another unit has the number of the one that was granted: "
                "it was changed meanwhile");
  return SL_REFUSED;
}
