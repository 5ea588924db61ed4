/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_BINDINGS_HISTOGRAM_H
#define STORLUA_BINDINGS_HISTOGRAM_H

#include <lua.h>

#include "core/base/histogram.h"

/* Pushes the sparse list of events: bucket, count, bucket, count, …, in
 * rising order; empty buckets are left out. */
void l_push_histogram_sparse(lua_State *L, const struct sl_histogram *h);

/* Pushes the `latency` table of docs/events.md: count, min_ns, mean_ns,
 * max_ns, p50_ns … p9999_ns, histogram.  Of an empty one only count and
 * histogram are set: no data has no percentile. */
void l_push_histogram_summary(lua_State *L, const struct sl_histogram *h);

/* Pushes a userdata with a copy of *h. */
void l_push_histogram(lua_State *L, const struct sl_histogram *h);

#endif
