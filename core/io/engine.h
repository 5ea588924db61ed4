/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_ENGINE_H
#define STORLUA_CORE_IO_ENGINE_H

/* How one operation reaches the kernel.
 *
 * A synchronous engine moves one record in one call (`transfer`), and that
 * call is the timed part.  A queued engine has many operations under way:
 * `submit` hands them over, `reap` fetches those that are done, and the timed
 * part of each lasts from its submission to its completion.
 *
 *   engine    one operation and its timed part
 *   psync     one pread(2) or pwrite(2); a trim: one ioctl(BLKDISCARD) or
 *             fallocate(FALLOC_FL_PUNCH_HOLE)
 *   sync      one lseek(2) and one read(2) or write(2)
 *   vsync     one preadv(2) or pwritev(2) of `vectors` neighbouring records
 *   stdio     one fread or fwrite, with the fseeko it needs when not in
 *             sequence; the buffer of the stream has the size of a record.
 *             A flush is fflush and fdatasync.  Always the page cache.
 *   mmap      one copy from or to a shared mapping, with the msync(2) of that
 *             record when asked for; page faults are part of it.  A flush is
 *             one msync(2) of the range.  Always the page cache.
 *   io_uring  one request of a ring that this thread alone uses
 *   libaio    one iocb of the kernel's asynchronous I/O
 *   posixaio  one aio_read or aio_write of the C library, whose threads do
 *             the work
 *   null      nothing: what is timed is the tool itself */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/error.h"
#include "core/io/target.h"

enum sl_op { SL_OP_READ, SL_OP_WRITE, SL_OP_TRIM };

/* mmap: what follows the copy of a written record. */
enum sl_map_sync {
  SL_MAP_SYNC_NONE,
  SL_MAP_SYNC_ASYNC, /* msync(MS_ASYNC): on Linux it only marks */
  SL_MAP_SYNC_RECORD /* msync(MS_SYNC) */
};

enum { SL_VECTORS_MAX = 1024, SL_ENGINE_NOTES_MAX = 4 };

struct sl_engine_state; /* an engine's own data for one stream */

/* What an engine may need to know before the first operation.  All of it
 * stays valid until the engine is closed. */
struct sl_engine_setup {
  struct sl_target *target;
  bool writes;           /* some operation of the workload writes */
  unsigned queue_depth;  /* at least 1 */
  size_t record_bytes;   /* of one vector for vsync, else of an operation */
  uint64_t range_offset; /* no operation begins outside of the range */
  uint64_t range_bytes;
  enum sl_map_sync map_sync;
  unsigned char *memory; /* queued engines: all data lies in here */
  size_t memory_bytes;
};

/* One operation of a queued engine.  The caller owns it; the engine has it
 * from submit until reap gives it back. */
struct sl_request {
  enum sl_op op;
  unsigned slot; /* below queue_depth; no other request under way has it */
  unsigned char *data;
  size_t bytes;
  uint64_t offset;
  ssize_t result; /* set by reap: as returned by `transfer` */
};

struct sl_engine {
  const char *name;
  bool needs_target;  /* false: null */
  bool buffered;      /* data goes through the page cache in any case */
  unsigned queue_max; /* 1 for a synchronous engine */
  /* 0 when the running kernel has it, else a negative errno and the reason
   * as a hint.  NULL: every kernel does. */
  int (*probe)(struct sl_error *e);
  int (*open)(struct sl_engine_state **state,
              const struct sl_engine_setup *setup, struct sl_error *e);
  /* 0, or the negative errno of a write that failed late. */
  int (*close)(struct sl_engine_state *state);
  /* Moves up to `bytes`; returns bytes moved, 0 at the end of the target, or
   * a negative errno.  May be short.  Timed by the caller.  NULL for a queued
   * engine. */
  ssize_t (*transfer)(struct sl_engine_state *state, enum sl_op op, void *data,
                      size_t bytes, uint64_t offset);
  /* fdatasync, or what stands for it.  Timed by the caller. */
  int (*flush)(struct sl_engine_state *state);
  /* Takes up to `count` requests and returns how many, or a negative errno
   * when it could take none; the caller offers the rest again after a reap.
   * They are on their way at the next reap at the latest: io_uring joins both
   * in one system call.  NULL for a synchronous engine. */
  int (*submit)(struct sl_engine_state *state,
                struct sl_request *const *requests, unsigned count);
  /* Waits for one completion, for `timeout_ns` at most (negative: for ever),
   * and stores up to `max` finished requests.  Returns how many (0 after the
   * timeout), or a negative errno; -EINTR when a signal came. */
  int (*reap)(struct sl_engine_state *state, int64_t timeout_ns,
              struct sl_request **done, unsigned max);
  /* What a reader of the numbers must know, as static words ("page_cache",
   * "io_uring_punted"), at most SL_ENGINE_NOTES_MAX.  Called once, before
   * close; returns how many.  NULL: nothing. */
  unsigned (*notes)(struct sl_engine_state *state, const char **notes);
};

/* By name; NULL when this build has none of that name. */
const struct sl_engine *sl_engine_find(const char *name);

/* Names of all engines of this build, NULL-terminated, static. */
const char *const *sl_engine_names(void);

/* 0 when this build and the running kernel have the engine, else a negative
 * errno, and a hint that names those that are there. */
int sl_engine_probe(const char *name, struct sl_error *e);

#endif
