/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/io/target_private.h"

enum {
  ALIGN_MAX = 4096,
  STATX_BYTES = 256,      /* struct statx of linux/stat.h, by offset: the */
  STATX_DIO_MEMORY = 152, /* headers of old boards lack these members     */
  STATX_DIO_OFFSET = 156
};
#define STATX_DIOALIGN_MASK 0x2000u
#define BLKSSZGET_NUMBER _IO(0x12, 104)

int sl_target_no_direct(const struct sl_target *target, struct sl_error *e) {
  sl_error_set(e, -EINVAL, "open", target->path, -1);
  /* The target may not be open: ask by path, of the folder if need be. */
  struct statfs fs;
  char parent[sizeof(target->path)];
  memcpy(parent, target->path, sizeof(parent));
  char *slash = strrchr(parent, '/');
  if (slash) slash[slash == parent ? 1 : 0] = '\0';
  if (statfs(target->path, &fs) != 0 &&
      statfs(slash ? parent : ".", &fs) != 0) {
    fs.f_type = 0;
  }
  uint32_t magic = (uint32_t)fs.f_type;
  if (magic == SL_MAGIC_TMPFS) {
    sl_error_hint(e, "tmpfs keeps data in memory: there is no direct I/O");
  } else if (magic == SL_MAGIC_RAMFS) {
    sl_error_hint(e, "ramfs keeps data in memory: there is no direct I/O");
  } else {
    sl_error_hint(e, "this file system has no direct I/O");
  }
  return -EINVAL;
}

/* True when the kernel knows; then *memory 0 means that there is none. */
static bool ask_statx(int fd, uint32_t *memory, uint32_t *offset) {
#ifdef SYS_statx
  union {
    unsigned char bytes[STATX_BYTES];
    uint32_t words[STATX_BYTES / 4];
  } answer;
  memset(&answer, 0, sizeof(answer));
  const int empty_path = 0x1000; /* AT_EMPTY_PATH */
  if (syscall(SYS_statx, fd, "", empty_path, STATX_DIOALIGN_MASK,
              answer.bytes) != 0 ||
      !(answer.words[0] & STATX_DIOALIGN_MASK)) {
    return false;
  }
  *memory = answer.words[STATX_DIO_MEMORY / 4];
  *offset = answer.words[STATX_DIO_OFFSET / 4];
  return true;
#else
  (void)fd, (void)memory, (void)offset;
  return false;
#endif
}

/* Logical block size of the disk behind the target, 512 when unknown. */
static uint32_t logical_block(const struct sl_target *target) {
  int size = 0;
  if (target->is_block) {
    return ioctl(target->fd, BLKSSZGET_NUMBER, &size) == 0 && size > 0
               ? (uint32_t)size
               : 512;
  }
  static const char *const places[] = {"queue", "../queue"}; /* partition */
  for (size_t i = 0; i < 2; i++) {
    char path[96];
    snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/logical_block_size",
             major((dev_t)target->device), minor((dev_t)target->device),
             places[i]);
    FILE *file = fopen(path, "re");
    if (!file) continue;
    int fields = fscanf(file, "%d", &size);
    fclose(file);
    if (fields == 1 && size > 0) return (uint32_t)size;
  }
  return 512;
}

/* The smallest size from `first` on that a read accepts; 0 when none does.
 * Any answer but EINVAL accepts the alignment: an unreadable first sector is
 * the workload's to report. */
static uint32_t try_reads(int fd, uint32_t first) {
  void *page = NULL;
  if (posix_memalign(&page, ALIGN_MAX, ALIGN_MAX) != 0) return first;
  uint32_t found = 0;
  for (uint32_t size = first; size <= ALIGN_MAX && !found; size *= 2) {
    ssize_t got;
    do {
      got = pread(fd, page, size, 0);
    } while (got < 0 && errno == EINTR);
    if (got >= 0 || errno != EINVAL) found = size;
  }
  free(page);
  return found;
}

static bool usable(uint32_t align) {
  return align > 0 && (align & (align - 1)) == 0;
}

int sl_target_probe_direct(struct sl_target *target, struct sl_error *e) {
  /* Since Linux 6.6 tmpfs accepts O_DIRECT and then copies as ever. */
  if (target->is_ram) return sl_target_no_direct(target, e);
  uint32_t memory = 0, offset = 0;
  if (ask_statx(target->fd, &memory, &offset)) {
    if (!usable(memory) || !usable(offset)) {
      sl_error_set(e, -EINVAL, "open", target->path, -1);
      sl_error_hint(e,
                    "the file system says that this file has no direct "
                    "I/O (encrypted, compressed, journalled or inline)");
      return -EINVAL;
    }
  } else if (target->filesystem_magic == SL_MAGIC_BTRFS) {
    /* A misaligned direct read is quietly buffered, so trying says nothing;
     * the sector size of the file system is what counts. */
    struct statfs fs;
    offset = fstatfs(target->fd, &fs) == 0 && fs.f_bsize > 0
                 ? (uint32_t)fs.f_bsize
                 : ALIGN_MAX;
    memory = offset;
  } else {
    /* A read of a hole or of an empty file accepts any size, so the search
     * begins at what the disk below says. */
    offset = try_reads(target->fd, logical_block(target));
    if (!offset) return sl_target_no_direct(target, e);
    memory = offset;
  }
  target->is_direct = true;
  target->memory_align = memory;
  target->offset_align = offset;
  return 0;
}
