/* SPDX-License-Identifier: MIT */
/* What a trim left: reads back what it touched, outside of all times. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/io/workload_step.h"

static bool is_zero(const unsigned char *data, size_t bytes) {
  return data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0;
}

/* Where zeros are promised, anything else is what was there before: stale. */
static void count_left(struct sl_run *run, const unsigned char *data,
                       uint64_t offset) {
  struct sl_workload_result *result = run->result;
  if (!result->trim_facts.is_zero_promised) return;
  result->bad_sectors++;
  result->damage[SL_DAMAGE_STALE]++;
  atomic_store_explicit(&run->progress->bad_sectors, result->bad_sectors,
                        memory_order_relaxed);
  if (result->bad_count >= run->spec->bad_kept) return;
  struct sl_bad_sector *bad = &result->bad[result->bad_count++];
  bad->offset = offset;
  bad->verdict = (struct sl_verdict){.damage = SL_DAMAGE_STALE};
  memcpy(bad->found, data, SL_SECTOR_BYTES);
}

static void judge(struct sl_run *run, const struct sl_step *step) {
  size_t sectors = step->moved / SL_SECTOR_BYTES;
  for (size_t i = 0; i < sectors; i++) {
    const unsigned char *sector = step->data + i * SL_SECTOR_BYTES;
    run->result->verified_sectors++;
    if (is_zero(sector, SL_SECTOR_BYTES)) {
      run->result->zero_sectors++;
    } else {
      count_left(run, sector, step->offset + i * SL_SECTOR_BYTES);
    }
  }
}

/* Reads the visit that is planned; false when the reading failed. */
static bool read_back(struct sl_run *run, struct sl_step *step) {
  step->op = SL_OP_READ;
  step->moved = 0;
  int code = 0;
  while (step->moved < step->length && !code) {
    ssize_t got =
        pread(run->target.fd, step->data + step->moved,
              step->length - step->moved, (off_t)(step->offset + step->moved));
    if (got < 0 && errno != EINTR) code = -errno;
    if (got == 0) code = -ENODATA;
    if (got > 0) step->moved += (size_t)got;
  }
  judge(run, step);
  if (code) sl_run_failed(run, step, code);
  return code == 0;
}

/* Of the records that were trimmed, at most a pass of them, the latest. */
void sl_run_verify_trim(struct sl_run *run) {
  struct sl_workload_result *result = run->result;
  uint64_t end = run->visit, first = run->spec->first_visit;
  if (result->errors_total || result->end == SL_END_CANCELLED) return;
  if (end - first > run->records) first = end - run->records;
  int64_t start_ns = sl_monotonic_ns();
  struct sl_step step = {.data = run->buffer.data};
  for (run->visit = first; run->visit < end; run->visit++) {
    run->index = run->visit % run->records;
    run->pass = run->visit / run->records;
    sl_step_plan(run, &step);
    if (run->job && sl_job_enter_at(run->job, "read", (int64_t)step.offset,
                                    sl_monotonic_ns())) {
      result->end = SL_END_CANCELLED;
      break;
    }
    if (!read_back(run, &step)) {
      result->end = SL_END_ERROR;
      break;
    }
  }
  run->visit = end;
  result->verify_ns += sl_monotonic_ns() - start_ns;
}
