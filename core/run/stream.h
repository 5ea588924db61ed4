/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_STREAM_H
#define STORLUA_CORE_RUN_STREAM_H

/* Bytes in and out of a pipe, FIFO, terminal line or TCP connection, one read
 * and one write at a time, without blocking the loop.  Loop thread only. */

#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

#include "core/run/loop.h"

struct sl_stream;

/* `size` > 0: that many bytes, borrowed until the function returns; 0: the
 * end of the stream; negative: a negative errno. */
typedef void (*sl_stream_read_fn)(void *user, const char *data, ssize_t size);
/* `status`: 0 or a negative errno. */
typedef void (*sl_stream_write_fn)(void *user, int status);

/* Wraps an open descriptor (pipe, FIFO, socket, terminal) and makes it
 * non-blocking.  Takes ownership of `fd` on success only. */
int sl_stream_open(struct sl_loop *loop, int fd, struct sl_stream **out,
                   struct sl_error *e);

/* While an operation of such a stream waits, virtual time stands still: for
 * the pipes of a child, whose output is on its way. */
void sl_stream_holds_time(struct sl_stream *stream);

/* Asks for the next bytes: `done` is called once, unless the read is stopped
 * or the stream closed before.  -EALREADY while another read waits. */
int sl_stream_read(struct sl_stream *stream, sl_stream_read_fn done,
                   void *user);
void sl_stream_read_stop(struct sl_stream *stream);

/* Returns 1 when all bytes were taken at once (`done` is not called), 0 when
 * the rest is under way: `data` stays borrowed until `done` is called or the
 * stream is closed.  -EALREADY while another write is under way. */
int sl_stream_write(struct sl_stream *stream, const char *data, size_t size,
                    sl_stream_write_fn done, void *user);

/* Closes the descriptor and frees the stream; no callback runs afterwards. */
void sl_stream_close(struct sl_stream *stream);

#endif
