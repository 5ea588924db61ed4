/* SPDX-License-Identifier: MIT */
/* Copies through a shared mapping of the range.  A page that the kernel
 * cannot give is an error of the operation with its offset (bus_guard.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/io/bus_guard.h"
#include "core/io/engine_private.h"

struct sl_engine_state {
  int fd; /* borrowed from the target */
  bool is_block;
  enum sl_map_sync sync;
  unsigned char *map;
  uint64_t map_offset; /* in the target, a multiple of the page size */
  size_t map_bytes;
  uint64_t end; /* of what may be touched, in the target */
  size_t page;
  struct sl_bus_guard guard;
};

static int failed(struct sl_engine_state *s, const char *op,
                  const struct sl_engine_setup *setup, struct sl_error *e) {
  int code = -errno;
  free(s);
  return sl_error_set(e, code, op, setup->target->path, -1);
}

/* A mapping cannot make a file longer, so that is done before. */
static int find_end(struct sl_engine_state *s,
                    const struct sl_engine_setup *setup) {
  uint64_t size = setup->target->size_bytes;
  s->end = setup->range_offset + setup->range_bytes;
  if (s->end <= size) return 0;
  if (s->is_block || !setup->writes) {
    s->end = size;
    return 0;
  }
  return ftruncate(s->fd, (off_t)s->end);
}

static int mmap_open(struct sl_engine_state **state,
                     const struct sl_engine_setup *setup, struct sl_error *e) {
  struct sl_engine_state *s = calloc(1, sizeof(*s));
  if (!s) return sl_error_set(e, -ENOMEM, "engine", setup->target->path, -1);
  s->fd = setup->target->fd;
  s->is_block = setup->target->is_block;
  s->sync = setup->map_sync;
  s->page = (size_t)sysconf(_SC_PAGESIZE);
  if (find_end(s, setup) != 0) return failed(s, "ftruncate", setup, e);
  s->map_offset = setup->range_offset / s->page * s->page;
  uint64_t bytes = s->end - s->map_offset;
  s->map_bytes = (size_t)bytes;
  s->map = MAP_FAILED;
  errno = ENOMEM;
  if (bytes <= SIZE_MAX / 2) {
    s->map =
        mmap(NULL, s->map_bytes, PROT_READ | (setup->writes ? PROT_WRITE : 0),
             MAP_SHARED, s->fd, (off_t)s->map_offset);
  }
  if (s->map == MAP_FAILED) {
    int code = failed(s, "mmap", setup, e);
    if (code == -ENOMEM) {
      sl_error_hint(e,
                    "the range of %llu bytes does not fit into the address "
                    "space",
                    (unsigned long long)bytes);
    }
    return code;
  }
  sl_bus_guard_open(&s->guard);
  *state = s;
  return 0;
}

static int mmap_close(struct sl_engine_state *state) {
  sl_bus_guard_close(&state->guard);
  munmap(state->map, state->map_bytes);
  free(state);
  return 0;
}

static int copy(enum sl_op op, unsigned char *map, unsigned char *data,
                size_t bytes) {
  return op == SL_OP_READ ? sl_guarded_copy(data, map, bytes)
                          : sl_guarded_copy(map, data, bytes);
}

/* SIGBUS does not say why.  The same page is asked for by a call that does. */
static ssize_t why(const struct sl_engine_state *state, enum sl_op op,
                   uint64_t offset, int fault) {
  struct stat st;
  struct statvfs fs;
  if (fault != BUS_ADRERR) return -EHWPOISON;
  if (state->is_block || fstat(state->fd, &st) != 0) return -EIO;
  bool cut = (uint64_t)st.st_size <= offset;
  if (op == SL_OP_READ) return cut ? 0 : -EIO;
  if (cut) return -EFAULT;
  off_t page = (off_t)(offset / state->page * state->page);
  if (fallocate(state->fd, FALLOC_FL_KEEP_SIZE, page, (off_t)state->page) !=
          0 &&
      (errno == ENOSPC || errno == EDQUOT)) {
    return -errno;
  }
  /* It may have taken the page from a reserve that faults cannot use. */
  bool full = fstatvfs(state->fd, &fs) == 0 && fs.f_bavail == 0;
  return full ? -ENOSPC : -EIO;
}

/* How far a copy comes that met a fault: page by page until it meets it. */
static ssize_t copy_until_fault(const struct sl_engine_state *state,
                                enum sl_op op, unsigned char *data,
                                size_t bytes, uint64_t offset) {
  size_t done = 0;
  while (done < bytes) {
    size_t length = state->page - (size_t)((offset + done) % state->page);
    if (length > bytes - done) length = bytes - done;
    unsigned char *map = state->map + (offset + done - state->map_offset);
    int fault = copy(op, map, data + done, length);
    if (fault != 0 && done == 0) return why(state, op, offset, fault);
    if (fault != 0) break;
    done += length;
  }
  return (ssize_t)done;
}

static int sync_record(const struct sl_engine_state *state, uint64_t offset,
                       size_t bytes) {
  uint64_t first = offset / state->page * state->page;
  return msync(state->map + (first - state->map_offset),
               (size_t)(offset - first) + bytes,
               state->sync == SL_MAP_SYNC_RECORD ? MS_SYNC : MS_ASYNC);
}

static ssize_t mmap_transfer(struct sl_engine_state *state, enum sl_op op,
                             void *data, size_t bytes, uint64_t offset) {
  if (op == SL_OP_TRIM) return -EOPNOTSUPP;
  if (offset >= state->end) return 0;
  if (bytes > state->end - offset) bytes = (size_t)(state->end - offset);
  unsigned char *map = state->map + (offset - state->map_offset);
  ssize_t moved = (ssize_t)bytes;
  if (copy(op, map, data, bytes) != 0) {
    moved = copy_until_fault(state, op, data, bytes, offset);
  }
  if (op == SL_OP_WRITE && state->sync != SL_MAP_SYNC_NONE && moved > 0 &&
      sync_record(state, offset, (size_t)moved) != 0) {
    return -errno;
  }
  return moved;
}

static int mmap_flush(struct sl_engine_state *state) {
  return msync(state->map, state->map_bytes, MS_SYNC) == 0 ? 0 : -errno;
}

static unsigned mmap_notes(struct sl_engine_state *state, const char **notes) {
  (void)state;
  notes[0] = "page_cache";
  return 1;
}

const struct sl_engine sl_engine_mmap = {
    .name = "mmap",
    .needs_target = true,
    .buffered = true,
    .queue_max = 1,
    .open = mmap_open,
    .close = mmap_close,
    .transfer = mmap_transfer,
    .flush = mmap_flush,
    .notes = mmap_notes,
};
