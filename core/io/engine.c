/* SPDX-License-Identifier: MIT */
#include "core/io/engine.h"

#include <string.h>

#include "core/io/engine_private.h"

static const struct sl_engine *const engines[] = {&sl_engine_psync,
                                                  &sl_engine_null};
static const char *const names[] = {"psync", "null", NULL};

const struct sl_engine *sl_engine_find(const char *name) {
  for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
    if (strcmp(engines[i]->name, name) == 0) return engines[i];
  }
  return NULL;
}

const char *const *sl_engine_names(void) {
  return names;
}
