/* SPDX-License-Identifier: MIT */
/* What is written: always whole sectors that no other sector equals and no
 * compressor shortens.  Without stamps the same kernel makes them, under the
 * name of a run that nobody has. */
#include <unistd.h>

#include "core/io/workload_private.h"

void sl_run_init_filler(struct sl_run *run) {
  uint64_t state = (uint64_t)sl_monotonic_ns() ^ ((uint64_t)getpid() << 32) ^
                   (uint64_t)(uintptr_t)run;
  run->filler.run = (uint32_t)sl_random_next(&state);
  run->filler.target = (uint32_t)sl_random_next(&state);
  run->filler.address = sl_random_next(&state) >> 8;
  run->filler.generation = 1;
}

void sl_run_fill(struct sl_run *run, const struct sl_step *step) {
  size_t sectors = (step->length + SL_SECTOR_BYTES - 1) / SL_SECTOR_BYTES;
  if (!run->spec->stamp) {
    sl_stamp_fill(step->data, sectors, &run->filler);
    run->filler.address += sectors;
    return;
  }
  struct sl_stamp first = run->spec->identity;
  first.address = step->offset / SL_SECTOR_BYTES;
  first.generation += (uint32_t)step->pass;
  sl_stamp_fill(step->data, sectors, &first);
}
