/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_ENGINE_PRIVATE_H
#define STORLUA_CORE_IO_ENGINE_PRIVATE_H

/* The engines of this build, for the table in engine.c. */

#include "core/io/engine.h"

extern const struct sl_engine sl_engine_psync;
extern const struct sl_engine sl_engine_sync;
extern const struct sl_engine sl_engine_vsync;
extern const struct sl_engine sl_engine_stdio;
extern const struct sl_engine sl_engine_mmap;
#ifdef STORLUA_HAVE_LIBURING
extern const struct sl_engine sl_engine_uring;
#endif
extern const struct sl_engine sl_engine_libaio;
extern const struct sl_engine sl_engine_posixaio;
extern const struct sl_engine sl_engine_null;

#endif
