/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_PATTERN_PRIVATE_H
#define STORLUA_CORE_MEMORY_PATTERN_PRIVATE_H

#include "core/memory/pattern.h"

/* One unit per instruction set; fill is NULL where the build has it not. */
extern const struct sl_pattern_engine sl_pattern_c, sl_pattern_sse2,
    sl_pattern_avx2, sl_pattern_avx512, sl_pattern_neon;

/* Once for each block of 512 bytes: cheap beside them. */
static inline uint64_t sl_pattern_block_key(const struct sl_pattern *p,
                                            uint64_t block) {
  if (p->key == SL_KEY_NONE) return 0;
  if (p->key == SL_KEY_ADDRESS) return p->base + block * SL_PATTERN_BLOCK;
  uint64_t x = p->seed + block * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
  return x ^ (x >> 29);
}

#endif
