/* SPDX-License-Identifier: MIT */
#include "core/io/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/io/engine_private.h"

static const struct sl_engine *const engines[] = {
    &sl_engine_psync,  &sl_engine_sync,     &sl_engine_vsync,
    &sl_engine_stdio,  &sl_engine_mmap,
#ifdef STORLUA_HAVE_LIBURING
    &sl_engine_uring,
#endif
    &sl_engine_libaio, &sl_engine_posixaio, &sl_engine_null};
static const char *const names[] = {"psync",    "sync",     "vsync", "stdio",
                                    "mmap",
#ifdef STORLUA_HAVE_LIBURING
                                    "io_uring",
#endif
                                    "libaio",   "posixaio", "null",  NULL};

enum { ENGINES = sizeof(engines) / sizeof(engines[0]) };
_Static_assert(sizeof(names) / sizeof(names[0]) == ENGINES + 1,
               "one name for each engine");

const struct sl_engine *sl_engine_find(const char *name) {
  for (size_t i = 0; i < ENGINES; i++) {
    if (strcmp(engines[i]->name, name) == 0) return engines[i];
  }
  return NULL;
}

const char *const *sl_engine_names(void) { return names; }

/* "psync, stdio, …": what this kernel has. */
static void list_available(char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < ENGINES; i++) {
    struct sl_error ignored;
    if (engines[i]->probe && engines[i]->probe(&ignored) != 0) continue;
    int length = snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                          engines[i]->name);
    if (length < 0 || (size_t)length >= size - used) return;
    used += (size_t)length;
  }
}

int sl_engine_probe(const char *name, struct sl_error *e) {
  char available[128], reason[SL_ERROR_HINT_BYTES];
  const struct sl_engine *engine = sl_engine_find(name);
  struct sl_error failed = {0};
  int code = -ENOSYS;
  snprintf(reason, sizeof(reason), "this build has no engine %s", name);
  if (engine) {
    code = engine->probe ? engine->probe(&failed) : 0;
    if (code == 0) return 0;
    memcpy(reason, failed.hint, sizeof(reason));
  }
  list_available(available, sizeof(available));
  sl_error_set(e, code, "engine", name, -1);
  sl_error_hint(e, "%.110s; engines here: %s", reason, available);
  return code;
}
