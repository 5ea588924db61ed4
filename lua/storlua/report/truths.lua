-- SPDX-License-Identifier: MIT
--- The notes of a workload's result in words: what its numbers do not say.

return {
  buffered_loop = "a loop device whose file is cached once more: reads may not reach the medium",
  cache_unknown = "nothing tells what was in the page cache",
  cached = "reads found pages in the page cache",
  clock_off = "the CPU's counter was off CLOCK_MONOTONIC: single latencies may be wrong",
  compressing_fs = "the file system compresses",
  direct_may_be_buffered = "btrfs copies direct writes to files with checksums",
  holes = "parts of what was read lie on no medium",
  io_uring_punted = "requests went to threads of the kernel: psync is faster here",
  io_uring_unregistered = "buffers could not be registered",
  libaio_synchronous = "buffered: io_submit does the work before it returns",
  not_cold = "cold was asked for and could not be had",
  not_from_medium = "the device counted fewer bytes than were read: a cache gave them",
  not_flushed = "buffered writes without a flush: the page cache was measured",
  page_cache = "the engine always goes through the page cache",
  psync_taken = "io_uring was asked for; in memory psync ran, one operation at a time",
  ram_backed = "in memory: no medium was measured",
}
