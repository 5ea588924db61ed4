/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/io/workload_private.h"

/* Above this, a duration in nanoseconds per record no longer fits; nor do its
 * bytes in the address space of a 32-bit machine. */
#define RECORD_MAX (sizeof(size_t) < 8 ? UINT64_C(1) << 31 : UINT64_C(1) << 33)

typedef unsigned long long ull;

int sl_refuse(const struct sl_workload_spec *spec, struct sl_error *e,
              const char *format, ...) {
  char text[SL_ERROR_HINT_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  sl_error_set(e, -EINVAL, "workload", spec->target.path, -1);
  sl_error_hint(e, "%s", text);
  return -EINVAL;
}

static bool has_stamps(const struct sl_workload_spec *spec) {
  return spec->verify || (spec->stamp && spec->operation != SL_READ);
}

static int check_engine(const struct sl_workload_spec *spec,
                        struct sl_error *e) {
  const struct sl_engine *engine = spec->engine;
  if (!engine) return sl_refuse(spec, e, "engine is missing");
  if (spec->queue_depth > engine->queue_max) {
    return sl_refuse(spec, e, "queue_depth %u: engine %s takes %u at most",
                     spec->queue_depth, engine->name, engine->queue_max);
  }
  if (spec->vectors > 1 && strcmp(engine->name, "vsync") != 0) {
    return sl_refuse(spec, e,
                     "vectors %u: engine %s moves one record at a "
                     "time",
                     spec->vectors, engine->name);
  }
  if (spec->vectors > SL_VECTORS_MAX) {
    return sl_refuse(spec, e, "vectors %u is above %d", spec->vectors,
                     SL_VECTORS_MAX);
  }
  if (engine->submit && spec->virtual_op_ns) {
    return sl_refuse(spec, e, "virtual_op_ns is for engine null");
  }
  if (engine->buffered && spec->target.direct) {
    return sl_refuse(spec, e,
                     "engine %s goes through the page cache: it "
                     "cannot be direct",
                     engine->name);
  }
  bool maps = strcmp(engine->name, "mmap") == 0;
  if (maps && spec->target.sync != SL_OPEN_SYNC_NONE) {
    return sl_refuse(spec, e,
                     "open_sync does nothing for a mapping: set "
                     "map_sync");
  }
  if (!maps && spec->map_sync != SL_MAP_SYNC_NONE) {
    return sl_refuse(spec, e, "map_sync is for engine mmap, not %s",
                     engine->name);
  }
  if (!engine->needs_target) {
    if (!spec->range_bytes && !spec->target.size_bytes) {
      return sl_refuse(spec, e,
                       "engine %s has no target that could tell the "
                       "size: range_bytes is missing",
                       engine->name);
    }
    if (spec->verify) {
      return sl_refuse(spec, e,
                       "engine %s moves no data that could be "
                       "verified",
                       engine->name);
    }
  } else if (!spec->target.path || !spec->target.path[0]) {
    return sl_refuse(spec, e, "the path of the target is missing");
  }
  return 0;
}

static int check_record(const struct sl_workload_spec *spec,
                        struct sl_error *e) {
  uint64_t record = spec->record_bytes;
  if (record == 0) return sl_refuse(spec, e, "record_bytes is 0");
  if (record > RECORD_MAX || sl_operation_bytes(spec) > RECORD_MAX) {
    return sl_refuse(spec, e, "record_bytes %llu is above %llu", (ull)record,
                     (ull)RECORD_MAX);
  }
  if (spec->range_bytes && spec->range_bytes < record) {
    return sl_refuse(spec, e,
                     "range_bytes %llu is smaller than record_bytes "
                     "%llu",
                     (ull)spec->range_bytes, (ull)record);
  }
  if (spec->range_offset > INT64_MAX ||
      spec->range_bytes > INT64_MAX - spec->range_offset) {
    return sl_refuse(spec, e,
                     "range_offset %llu and range_bytes %llu lead "
                     "past the largest file",
                     (ull)spec->range_offset, (ull)spec->range_bytes);
  }
  if (spec->limit_bytes && spec->limit_bytes < sl_operation_bytes(spec)) {
    return sl_refuse(spec, e,
                     "limit_bytes %llu is smaller than an operation "
                     "of %llu",
                     (ull)spec->limit_bytes, (ull)sl_operation_bytes(spec));
  }
  if (!has_stamps(spec)) return 0;
  if (record % SL_SECTOR_BYTES || spec->range_offset % SL_SECTOR_BYTES) {
    return sl_refuse(spec, e,
                     "stamps need whole sectors of %d bytes: "
                     "record_bytes is %llu, range_offset %llu",
                     SL_SECTOR_BYTES, (ull)record, (ull)spec->range_offset);
  }
  if (spec->identity.generation == 0) {
    return sl_refuse(spec, e, "generation 0 means never written: begin with 1");
  }
  return 0;
}

static int check_legal(const struct sl_workload_spec *spec,
                       struct sl_error *e) {
  uint64_t end = 0;
  for (size_t i = 0; spec->legal && i < spec->legal_count; i++) {
    const struct sl_legal *legal = &spec->legal[i];
    if (legal->offset % SL_SECTOR_BYTES || legal->length % SL_SECTOR_BYTES) {
      return sl_refuse(spec, e,
                       "legal range %zu at %llu, length %llu, is not "
                       "made of whole sectors",
                       i + 1, (ull)legal->offset, (ull)legal->length);
    }
    if (legal->offset < end || legal->length > INT64_MAX ||
        legal->offset > INT64_MAX - legal->length) {
      return sl_refuse(spec, e,
                       "legal range %zu at %llu overlaps the one "
                       "before or is not sorted",
                       i + 1, (ull)legal->offset);
    }
    if (legal->generation_min > legal->generation_max) {
      return sl_refuse(spec, e,
                       "legal range %zu: generation_min %u is above "
                       "generation_max %u",
                       i + 1, legal->generation_min, legal->generation_max);
    }
    end = legal->offset + legal->length;
  }
  return 0;
}

static int check_operation(const struct sl_workload_spec *spec,
                           struct sl_error *e) {
  if (spec->operation == SL_MIXED && spec->read_percent > 100) {
    return sl_refuse(spec, e, "read_percent is %u", spec->read_percent);
  }
  if (spec->verify &&
      (spec->operation == SL_WRITE || spec->operation == SL_TRIM_WRITE)) {
    return sl_refuse(spec, e,
                     "verify compares what was read: this reads "
                     "nothing");
  }
  if (spec->verify && spec->operation == SL_MIXED) {
    if (!spec->stamp) {
      return sl_refuse(spec, e,
                       "a mixed workload that verifies must write "
                       "stamps");
    }
    if (spec->continue_on_error) {
      return sl_refuse(spec, e,
                       "verify with continue_on_error: after a failed "
                       "write nobody knows what a read should find");
    }
  }
  if (spec->order == SL_ORDER_STRIDED && spec->stride_records == 0) {
    return sl_refuse(spec, e, "stride_records is 0");
  }
  if (spec->flush == SL_FLUSH_EVERY && spec->flush_every == 0) {
    return sl_refuse(spec, e, "flush_every is 0");
  }
  return 0;
}

static int check_targets(const struct sl_workload_spec *spec,
                         struct sl_error *e) {
  if (!spec->more_count) return 0;
  if (spec->engine->submit) {
    return sl_refuse(spec, e,
                     "several targets: engine %s queues on one; give each "
                     "a stream",
                     spec->engine->name);
  }
  if (!spec->range_bytes || spec->more_count > SL_MORE_TARGETS_MAX ||
      (spec->verify && spec->operation == SL_TRIM)) {
    return sl_refuse(spec, e,
                     "several targets need range_bytes, are %d at most, and "
                     "do not verify a trim",
                     SL_MORE_TARGETS_MAX + 1);
  }
  return 0;
}

static int check_pauses(const struct sl_workload_spec *spec,
                        struct sl_error *e) {
  bool due = spec->think_every || spec->think_after_ns;
  if (due == (spec->think_ns != 0) && spec->think_spin_ns <= spec->think_ns) {
    return 0;
  }
  return sl_refuse(spec, e,
                   "pauses: think_ns needs think_every or think_after_ns, "
                   "these think_ns, and think_spin_ns is a part of it");
}

static int check_limits(const struct sl_workload_spec *spec,
                        struct sl_error *e) {
  if (spec->rate_bytes_s && spec->rate_operations_s) {
    return sl_refuse(spec, e,
                     "rate_bytes_s and rate_operations_s: one of "
                     "them");
  }
  if (spec->limit_latency_ns < 0 || spec->limit_ns < 0 || spec->ramp_ns < 0 ||
      spec->virtual_op_ns < 0 || spec->think_ns < 0 ||
      spec->think_after_ns < 0) {
    return sl_refuse(spec, e, "a duration is negative");
  }
  if (spec->interval_ns != 0 && spec->interval_ns < 1000000) {
    return sl_refuse(spec, e, "the interval of the series is below 1 ms");
  }
  if (spec->bad_kept > SL_BAD_KEPT_MAX) {
    return sl_refuse(spec, e, "bad_kept %u is above %d", spec->bad_kept,
                     SL_BAD_KEPT_MAX);
  }
  if (spec->streams && spec->stream >= sl_streams_count(spec->streams)) {
    return sl_refuse(spec, e, "stream %u of %u", spec->stream + 1,
                     sl_streams_count(spec->streams));
  }
  return 0;
}

int sl_workload_check(const struct sl_workload_spec *spec, struct sl_error *e) {
  int code = check_engine(spec, e);
  if (!code) code = check_record(spec, e);
  if (!code) code = check_operation(spec, e);
  if (!code) code = check_limits(spec, e);
  if (!code) code = check_targets(spec, e);
  if (!code) code = check_pauses(spec, e);
  if (!code) code = check_legal(spec, e);
  if (!code) code = sl_spec_check_varied(spec, e);
  return code;
}
