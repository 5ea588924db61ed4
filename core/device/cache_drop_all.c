/* SPDX-License-Identifier: MIT */
/* The caches of the whole system. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/device/cache_drop.h"

static int64_t meminfo_kib(const char *text, const char *name) {
  int64_t kib;
  const char *line = strstr(text, name);
  if (!line || sscanf(line + strlen(name), "%" SCNd64, &kib) != 1) return -1;
  return kib;
}

static int64_t cached_bytes(void) {
  char text[4096];

  if (sl_file_read("/proc/meminfo", text, sizeof text, NULL) < 0) return -1;
  int64_t pages = meminfo_kib(text, "\nCached:");
  int64_t buffers = meminfo_kib(text, "\nBuffers:");
  return pages < 0 || buffers < 0 ? -1 : (pages + buffers) * 1024;
}

static int failed(int code, const char *op, const char *control,
                  struct sl_error *e) {
  sl_error_set(e, code, op, control, -1);
  if (code == -EACCES || code == -EPERM) {
    sl_error_hint(e, "only root may empty the caches of the system");
  } else if (code == -EROFS) {
    sl_error_hint(e, "/proc/sys is read-only here, as in a container");
  } else if (code == -ENOENT) {
    sl_error_hint(e, "this kernel or container does not show it");
  }
  return code;
}

int sl_cache_drop_all(int what, const char *control,
                      struct sl_cache_drop_all *drop, struct sl_error *e) {
  if (!control) control = "/proc/sys/vm/drop_caches";
  if (what < SL_CACHE_PAGES || what > SL_CACHE_BOTH) {
    sl_error_set(e, -EINVAL, "drop caches", control, -1);
    sl_error_hint(e, "1 drops pages, 2 names and inodes, 3 both; not %d", what);
    return -EINVAL;
  }
  const char digit = (char)('0' + what);
  sync();
  drop->cached_before_bytes = cached_bytes();
  int fd = open(control, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return failed(-errno, "open", control, e);
  int code = sl_file_write_fd(fd, &digit, 1);
  close(fd);
  if (code != 0) return failed(code, "write", control, e);
  drop->cached_after_bytes = cached_bytes();
  return 0;
}
