/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_TESTS_CORE_FAKE_SYSFS_H
#define STORLUA_TESTS_CORE_FAKE_SYSFS_H

/* A directory that looks like /sys and /proc, for the tests of core/device. */

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/device/sysfs.h"
#include "core/test.h"

/* In memory, as the real ones are. */
static char fake_root[] = "/dev/shm/fake_sysfs.XXXXXX";
static char fake_mountinfo[64];
static struct sl_system fake_system = {
    .sysfs = fake_root, .mountinfo = fake_mountinfo, .proc = fake_root};

static inline void fake_parents(char *path) {
  for (char *p = path + 1; (p = strchr(p, '/')); p++) {
    *p = '\0';
    mkdir(path, 0700);
    *p = '/';
  }
}

static inline void fake_put(const char *path, const char *text) {
  char full[1100];
  snprintf(full, sizeof full, "%s/%s", fake_root, path);
  fake_parents(full);
  FILE *f = fopen(full, "w");
  if (!f) abort();
  fputs(text, f);
  fclose(f);
}

static inline void fake_link(const char *path, const char *target) {
  char full[1100];
  snprintf(full, sizeof full, "%s/%s", fake_root, path);
  fake_parents(full);
  if (symlink(target, full) != 0) abort();
}

/* A block device: its directory below devices/, its number and size, and the
 * links to it. */
static inline void fake_device(const char *directory, const char *number,
                               const char *sectors) {
  char path[512], target[512];
  const char *name = strrchr(directory, '/') + 1;
  snprintf(path, sizeof path, "devices/%s/dev", directory);
  fake_put(path, number);
  snprintf(path, sizeof path, "devices/%s/ro", directory);
  fake_put(path, "0\n");
  snprintf(path, sizeof path, "devices/%s/size", directory);
  fake_put(path, sectors);
  snprintf(target, sizeof target, "../../devices/%s", directory);
  snprintf(path, sizeof path, "dev/block/%s", number);
  fake_link(path, target);
  snprintf(path, sizeof path, "class/block/%s", name);
  fake_link(path, target);
}

/* An attribute of a device. */
static inline void fake_attribute(const char *directory, const char *name,
                                  const char *text) {
  char path[512];
  snprintf(path, sizeof path, "devices/%s/%s", directory, name);
  fake_put(path, text);
}

/* `upper` lies on `lower`. */
static inline void fake_stack(const char *lower, const char *upper) {
  char path[512], target[512];
  snprintf(path, sizeof path, "devices/%s/holders/%s", lower,
           strrchr(upper, '/') + 1);
  snprintf(target, sizeof target, "%s/devices/%s", fake_root, upper);
  fake_link(path, target);
  snprintf(path, sizeof path, "devices/%s/slaves/%s", upper,
           strrchr(lower, '/') + 1);
  snprintf(target, sizeof target, "%s/devices/%s", fake_root, lower);
  fake_link(path, target);
}

static inline void fake_open(void) {
  if (!mkdtemp(fake_root)) abort();
  snprintf(fake_mountinfo, sizeof fake_mountinfo, "%s/mountinfo", fake_root);
}

static inline int fake_remove(const char *path, const struct stat *st, int type,
                              struct FTW *ftw) {
  (void)st, (void)type, (void)ftw;
  return remove(path);
}

static inline void fake_close(void) {
  nftw(fake_root, fake_remove, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
