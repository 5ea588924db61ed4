/* SPDX-License-Identifier: MIT */
#include "core/memory/pattern.h"

#include <string.h>

#include "core/memory/kernel.h"
#include "core/memory/pattern_private.h"

enum { ENGINES = 5 };

static const struct sl_pattern_engine *const all[ENGINES] = {
    &sl_pattern_avx512, &sl_pattern_avx2, &sl_pattern_neon, &sl_pattern_sse2,
    &sl_pattern_c};

static bool is_there(const struct sl_pattern_engine *engine) {
  if (!engine->fill) return false;
  /* The list of instruction sets has blanks between the names. */
  const char *at = strstr(sl_kernel_isas(), engine->name);
  return at != NULL;
}

const struct sl_pattern_engine *sl_pattern_engine(const char *name) {
  for (size_t i = 0; i < ENGINES; i++) {
    if (is_there(all[i]) && (!name || strcmp(name, all[i]->name) == 0))
      return all[i];
  }
  return NULL;
}

const char *const *sl_pattern_engines(void) {
  static _Thread_local const char *names[ENGINES + 1];
  size_t count = 0;
  for (size_t i = 0; i < ENGINES; i++) {
    if (is_there(all[i])) names[count++] = all[i]->name;
  }
  names[count] = NULL;
  return names;
}

uint64_t sl_pattern_word(const struct sl_pattern *pattern, uint64_t block,
                         unsigned word) {
  return pattern->table[word] ^ sl_pattern_block_key(pattern, block);
}
