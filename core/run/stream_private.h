/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_STREAM_PRIVATE_H
#define STORLUA_CORE_RUN_STREAM_PRIVATE_H

#include <stdbool.h>

#include "core/run/stream.h"

enum { SL_STREAM_BUFFER_BYTES = 64 * 1024 };

struct sl_stream {
  union {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_pipe_t pipe;
    uv_tcp_t tcp;
  } uv;
  struct sl_loop *loop;
  bool holds_time;
  bool is_closing;
  sl_stream_read_fn on_read; /* NULL while nobody reads */
  void *read_user;
  union {
    uv_write_t write;
    uv_connect_t connect; /* before any write */
  } request;
  bool is_writing;
  sl_stream_write_fn on_written;
  void *write_user;
  char buffer[SL_STREAM_BUFFER_BYTES];
};

/* Allocates a stream whose libuv handle the caller initialises next. */
struct sl_stream *sl_stream_new(struct sl_loop *loop);

/* To be called once the libuv handle is initialised. */
void sl_stream_adopt(struct sl_stream *stream);

#endif
