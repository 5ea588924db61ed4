/* SPDX-License-Identifier: MIT */
/* Compares what was read with what should be there.
 *
 * The fast path regenerates and compares in one go, a record or a legal range
 * at a time.  Where it stops, that one sector is judged; an older legal
 * generation becomes the one that is expected next, so a range that holds
 * both is still compared in runs. */
#include <string.h>

#include "core/io/workload_private.h"

enum { NEAREST_TRIED = 8 }; /* generations compared for "nearest" */

/* A stretch of one read with the same legal content. */
struct stretch {
  const unsigned char *data;
  uint64_t visit;
  uint64_t offset;
  size_t bytes;
  struct sl_legal legal;
};

static struct sl_stamp stamp_at(const struct sl_run *run, uint64_t offset,
                                uint32_t generation) {
  struct sl_stamp stamp = run->spec->identity;
  stamp.address = offset / SL_SECTOR_BYTES;
  stamp.generation = generation;
  return stamp;
}

/* The newest earlier visit of this run that wrote the record now read, in a
 * mixed workload: then exactly its generation is right. */
static bool written_before(const struct sl_run *run, uint64_t visit,
                           uint32_t *generation) {
  const struct sl_workload_spec *spec = run->spec;
  if (spec->operation != SL_MIXED || spec->read_percent == 100) return false;
  while (visit >= run->records && visit - run->records >= spec->first_visit) {
    visit -= run->records;
    if (sl_run_mixed_op(spec, visit) == SL_OP_WRITE) {
      *generation =
          spec->identity.generation + (uint32_t)(visit / run->records);
      return true;
    }
  }
  return false;
}

/* The legal range that holds `offset`, or the first one behind it. */
static size_t find_legal(const struct sl_workload_spec *spec, uint64_t offset) {
  size_t low = 0, high = spec->legal_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const struct sl_legal *at = &spec->legal[middle];
    if (at->offset + at->length <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* What is legal at `offset`, and up to where: sets stretch->legal and cuts
 * stretch->bytes.  Between the ranges of the table exactly the generation of
 * the identity is right. */
static void set_legal(const struct sl_run *run, struct stretch *stretch) {
  const struct sl_workload_spec *spec = run->spec;
  uint32_t generation = spec->identity.generation;
  uint64_t end = stretch->offset + stretch->bytes;
  bool here = written_before(run, stretch->visit, &generation);
  stretch->legal = (struct sl_legal){.offset = stretch->offset,
                                     .length = stretch->bytes,
                                     .generation_min = generation,
                                     .generation_max = generation};
  if (here || !spec->legal) return;
  size_t i = find_legal(spec, stretch->offset);
  if (i == spec->legal_count) return;
  const struct sl_legal *legal = &spec->legal[i];
  if (legal->offset <= stretch->offset) {
    stretch->legal = *legal;
    if (legal->offset + legal->length < end) {
      end = legal->offset + legal->length;
    }
  } else if (legal->offset < end) {
    end = legal->offset;
  }
  stretch->bytes = (size_t)(end - stretch->offset);
}

/* Of the legal sectors at `offset` the one that differs from the first
 * `bytes` of `found` in the fewest bytes, newest first. */
static struct sl_stamp nearest(const struct sl_run *run,
                               const unsigned char *found, size_t bytes,
                               uint64_t offset, const struct sl_legal *legal,
                               unsigned char *sector) {
  struct sl_stamp best = stamp_at(run, offset, legal->generation_max);
  size_t least = SIZE_MAX;
  for (uint32_t n = 0; n < NEAREST_TRIED; n++) {
    uint32_t generation = legal->generation_max - n;
    struct sl_stamp stamp = stamp_at(run, offset, generation);
    sl_stamp_fill(sector, 1, &stamp);
    size_t different = 0;
    for (size_t i = 0; i < bytes; i++)
      different += sector[i] != found[i];
    if (different < least) {
      least = different;
      best = stamp;
    }
    if (generation == legal->generation_min) break;
  }
  sl_stamp_fill(sector, 1, &best);
  return best;
}

static void count_bad(struct sl_run *run, const unsigned char *found,
                      uint64_t offset, const struct sl_legal *legal,
                      const struct sl_verdict *verdict) {
  struct sl_workload_result *result = run->result;
  result->damage[verdict->damage]++;
  result->bad_sectors++;
  atomic_store_explicit(&run->progress->bad_sectors, result->bad_sectors,
                        memory_order_relaxed);
  if (result->bad_count >= run->spec->bad_kept) return;
  struct sl_bad_sector *bad = &result->bad[result->bad_count++];
  bad->offset = offset;
  bad->verdict = *verdict;
  memcpy(bad->found, found, SL_SECTOR_BYTES);
  bad->expected =
      nearest(run, found, SL_SECTOR_BYTES, offset, legal, bad->wanted);
}

static bool all_zero(const unsigned char *data, size_t bytes) {
  return data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0;
}

/* Judges one sector that is not what was expected.  Returns the generation to
 * expect next. */
static uint32_t judge(struct sl_run *run, const unsigned char *sector,
                      uint64_t offset, const struct sl_legal *legal,
                      uint32_t generation) {
  struct sl_workload_result *result = run->result;
  result->verified_sectors++;
  if (legal->zero_ok && all_zero(sector, SL_SECTOR_BYTES)) {
    result->zero_sectors++;
    return generation;
  }
  struct sl_stamp expected = stamp_at(run, offset, legal->generation_max);
  struct sl_verdict verdict;
  sl_stamp_judge(sector, &expected, legal, &verdict);
  if (verdict.damage != SL_DAMAGE_NONE) {
    count_bad(run, sector, offset, legal, &verdict);
    return generation;
  }
  if (verdict.found.generation < legal->generation_max) {
    result->old_sectors++;
  }
  return verdict.found.generation;
}

static void verify_stretch(struct sl_run *run, const struct stretch *stretch) {
  const struct sl_legal *legal = &stretch->legal;
  size_t sectors = stretch->bytes / SL_SECTOR_BYTES, at = 0;
  uint32_t generation = legal->generation_max;
  for (;;) {
    uint64_t offset = stretch->offset + (uint64_t)at * SL_SECTOR_BYTES;
    const unsigned char *data = stretch->data + at * SL_SECTOR_BYTES;
    struct sl_stamp first = stamp_at(run, offset, generation);
    size_t good = sl_stamp_compare(data, sectors - at, &first);
    run->result->verified_sectors += good;
    if (generation < legal->generation_max) run->result->old_sectors += good;
    at += good;
    if (at == sectors) return;
    generation =
        judge(run, data + good * SL_SECTOR_BYTES,
              offset + (uint64_t)good * SL_SECTOR_BYTES, legal, generation);
    if (++at == sectors) return;
  }
}

/* The end of a file that is no multiple of a sector: the missing part of its
 * last sector is taken to be as it should. */
static void verify_rest(struct sl_run *run, const struct stretch *stretch) {
  unsigned char sector[SL_SECTOR_BYTES];
  const struct sl_legal *legal = &stretch->legal;
  if (legal->zero_ok && all_zero(stretch->data, stretch->bytes)) {
    memset(sector, 0, sizeof(sector));
  } else {
    nearest(run, stretch->data, stretch->bytes, stretch->offset, legal, sector);
    memcpy(sector, stretch->data, stretch->bytes);
  }
  judge(run, sector, stretch->offset, legal, legal->generation_max);
}

void sl_run_verify(struct sl_run *run, const struct sl_step *step) {
  int64_t start_ns = run->last_ns;
  size_t whole = step->moved - step->moved % SL_SECTOR_BYTES, done = 0;
  while (done < step->moved) {
    bool rest = done == whole;
    struct stretch stretch = {
        .data = step->data + done,
        .visit = step->visit,
        .offset = step->offset + done,
        .bytes = rest ? step->moved - whole : whole - done};
    set_legal(run, &stretch);
    if (rest) {
      verify_rest(run, &stretch);
    } else {
      verify_stretch(run, &stretch);
    }
    done += stretch.bytes;
  }
  run->last_ns = sl_run_now(run);
  run->result->verify_ns += run->last_ns - start_ns;
}
