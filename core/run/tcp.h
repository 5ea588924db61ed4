/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_TCP_H
#define STORLUA_CORE_RUN_TCP_H

/* The client side of TCP: console servers, power switches, result sinks. */

#include "core/run/stream.h"

enum { SL_TCP_ADDRESS_BYTES = 64, SL_TCP_ADDRESSES = 16 };

struct sl_tcp_addresses {
  unsigned count;
  char text[SL_TCP_ADDRESSES][SL_TCP_ADDRESS_BYTES]; /* numeric */
};

/* Looks a host name up.  Blocks, also for long: for a job's thread.  A
 * numeric address comes back as it is. */
int sl_tcp_resolve(const char *host, struct sl_tcp_addresses *addresses,
                   struct sl_error *e);

/* Starts to connect to a numeric IPv4 or IPv6 address.  *out is the caller's
 * at once; `done` is called with 0 or a negative errno, and before that
 * nothing else may be done with the stream than closing it. */
int sl_tcp_connect(struct sl_loop *loop, const char *address, int port,
                   sl_stream_write_fn done, void *user, struct sl_stream **out,
                   struct sl_error *e);

#endif
