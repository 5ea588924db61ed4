/* SPDX-License-Identifier: MIT */
#include "core/memory/ram_mount.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <time.h>

int sl_ram_private(struct sl_error *e) {
  if (unshare(CLONE_NEWNS) != 0)
    return sl_error_set(e, -errno, "unshare", NULL, -1);
  /* Else what is mounted here would be seen outside as well. */
  if (mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) != 0)
    return sl_error_set(e, -errno, "mount", "/", -1);
  return 0;
}

int sl_ram_mount(const char *source, const char *target, const char *type,
                 const char *options, struct sl_error *e) {
  const unsigned long flags = MS_NODEV | MS_NOSUID | MS_NOATIME;
  if (mount(source, target, type, flags, options) == 0) return 0;
  const int code = -errno;
  sl_error_set(e, code, "mount", target, -1);
  if (code == -EPERM) sl_error_hint(e, "mounting %s needs root", type);
  if (code == -ENODEV) sl_error_hint(e, "this kernel has no %s", type);
  return code;
}

int sl_ram_unmount(const char *target, struct sl_error *e) {
  const struct timespec moment = {0, 20000000};
  for (int i = 0; i < 50; i++) {
    if (umount2(target, UMOUNT_NOFOLLOW) == 0) return 0;
    if (errno != EBUSY) return sl_error_set(e, -errno, "umount", target, -1);
    nanosleep(&moment, NULL);
  }
  if (umount2(target, MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return 0;
  return sl_error_set(e, -errno, "umount", target, -1);
}
