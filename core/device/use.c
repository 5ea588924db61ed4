/* SPDX-License-Identifier: MIT */
#include "core/device/use.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/base/file.h"
#include "core/device/use_private.h"

const char *sl_use_kind_name(enum sl_use_kind kind) {
  static const char *const names[] = {[SL_USE_MOUNT] = "mount",
                                      [SL_USE_JOURNAL] = "journal",
                                      [SL_USE_SWAP] = "swap",
                                      [SL_USE_HOLDER] = "holder",
                                      [SL_USE_LOOP] = "loop"};
  return names[kind];
}

int sl_uses_add(struct sl_uses *uses, const struct sl_use *use) {
  if (uses->count == uses->capacity) {
    size_t capacity = uses->capacity ? uses->capacity * 2 : 32;
    struct sl_use *list = realloc(uses->list, capacity * sizeof *list);
    if (!list) return -ENOMEM;
    uses->list = list;
    uses->capacity = capacity;
  }
  uses->list[uses->count++] = *use;
  return 0;
}

bool sl_use_node(const char *node, struct sl_device_number *number) {
  struct stat st;
  if (stat(node, &st) != 0 || !S_ISBLK(st.st_mode)) return false;
  *number = (struct sl_device_number){major(st.st_rdev), minor(st.st_rdev)};
  return true;
}

/* "/dev/zram0\040(deleted)  partition  65532  0  100".  A swap file needs no
 * entry: its file system is mounted. */
static int add_swap(struct sl_uses *uses, const struct sl_system *system,
                    char *line) {
  struct sl_use use = {.kind = SL_USE_SWAP};
  char path[SL_SYSFS_PATH_BYTES], type[32], below[300];
  int64_t size_kib, used_kib;

  if (sscanf(line, "%4095s %31s %" SCNd64 " %" SCNd64 " %" SCNd64, path, type,
             &size_kib, &used_kib, &use.swap_priority) != 5 ||
      strcmp(type, "partition") != 0) {
    return 0;
  }
  use.swap_bytes = size_kib * 1024;
  use.swap_used_bytes = used_kib * 1024;
  char *escape = strstr(path, "\\040(deleted)");
  if (escape) *escape = '\0';
  if (!sl_use_node(path, &use.device)) {
    /* The node is gone, or named otherwise; the kernel's name is left. */
    const char *name = strncmp(path, "/dev/", 5) == 0 ? path + 5 : path;
    snprintf(below, sizeof below, "class/block/%.255s", name);
    for (char *p = below + 12; (p = strchr(p, '/'));)
      *p = '!';
    if (sl_system_sysfs(system, below, path) != 0 ||
        sl_sysfs_device(path, "dev", &use.device) != 0) {
      return 0;
    }
  }
  return sl_uses_add(uses, &use);
}

static int add_swaps(struct sl_uses *uses, const struct sl_system *system,
                     struct sl_error *e) {
  char path[SL_SYSFS_PATH_BYTES];
  char *text = NULL, *rest = NULL;
  size_t length;

  int code = sl_system_proc(system, "swaps", path);
  if (code == 0) code = sl_file_read_all(path, &text, &length, e);
  if (code == -ENOENT) return 0; /* a kernel without swap */
  if (code != 0) return code;
  char *line = strtok_r(text, "\n", &rest);
  while (code == 0 && line && (line = strtok_r(NULL, "\n", &rest))) {
    code = add_swap(uses, system, line);
  }
  free(text);
  return code == 0 ? 0 : sl_error_set(e, code, "read swaps", path, -1);
}

int sl_uses_read(const struct sl_system *system, struct sl_uses *uses,
                 struct sl_error *e) {
  *uses = (struct sl_uses){0};
  int code =
      sl_mounts_read(&uses->mounts, system ? system->mountinfo : NULL, e);
  if (code == 0) {
    code = sl_uses_add_mounts(uses, system);
    if (code == 0) code = sl_uses_add_stacked(uses, system);
    if (code != 0) sl_error_set(e, code, "list uses of devices", NULL, -1);
  }
  if (code == 0) code = add_swaps(uses, system, e);
  if (code != 0) sl_uses_release(uses);
  return code;
}

void sl_uses_release(struct sl_uses *uses) {
  free(uses->list);
  sl_mounts_release(&uses->mounts);
  *uses = (struct sl_uses){0};
}

/* What the device on top is used for, the first that is found. */
static const struct sl_use *use_of(const struct sl_uses *uses,
                                   struct sl_device_number device) {
  for (size_t i = 0; i < uses->count; i++) {
    if (sl_same_device(uses->list[i].device, device)) return &uses->list[i];
  }
  return NULL;
}

static char *text_of(const struct sl_uses *uses, const struct sl_use *use,
                     char *text, size_t size, int depth) {
  char above[512] = "";

  switch (use->kind) {
    case SL_USE_MOUNT:
      snprintf(text, size, "is mounted on %s (%s)", use->mount->point,
               use->mount->type);
      break;
    case SL_USE_JOURNAL:
      if (use->mount) {
        snprintf(text, size, "is the log of the file system on %s (%s)",
                 use->mount->point, use->mount->type);
      } else {
        snprintf(text, size, "is the journal of a mounted file system");
      }
      break;
    case SL_USE_SWAP:
      snprintf(text, size, "is swap in use (%" PRId64 " of %" PRId64 " KiB)",
               use->swap_used_bytes / 1024, use->swap_bytes / 1024);
      break;
    case SL_USE_HOLDER:
    case SL_USE_LOOP: {
      const struct sl_use *next = use_of(uses, use->holder_number);
      if (next && depth < 4)
        text_of(uses, next, above, sizeof above, depth + 1);
      snprintf(text, size, "%s %s%s%s",
               use->kind == SL_USE_LOOP ? "lies behind" : "is held by",
               use->holder, above[0] ? ", which " : "", above);
      break;
    }
  }
  return text;
}

char *sl_use_text(const struct sl_uses *uses, const struct sl_use *use,
                  char *text, size_t size) {
  return text_of(uses, use, text, size, 0);
}
