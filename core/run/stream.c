/* SPDX-License-Identifier: MIT */
#include "core/run/stream.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/run/stream_private.h"

/* Writing to a pipe whose reader has gone is an error of that write, not the
 * end of the process. */
static void ignore_broken_pipes(void) {
  struct sigaction now;
  if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
    signal(SIGPIPE, SIG_IGN);
}

struct sl_stream *sl_stream_new(struct sl_loop *loop) {
  struct sl_stream *stream = malloc(sizeof *stream);
  if (!stream) return NULL;
  ignore_broken_pipes();
  stream->loop = loop;
  stream->holds_time = stream->is_closing = stream->is_writing = false;
  stream->on_read = NULL;
  return stream;
}

void sl_stream_adopt(struct sl_stream *stream) {
  stream->uv.handle.data = stream;
  stream->loop->handles++;
}

static void free_stream(uv_handle_t *handle) { free(handle->data); }

/* libuv aborts the process when epoll does not take a descriptor, as with
 * regular files and /dev/null. */
static int check_pollable(int fd) {
  struct stat st;
  if (fstat(fd, &st) < 0) return -errno;
  if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) return 0;
  int probe = epoll_create1(EPOLL_CLOEXEC);
  if (probe < 0) return -errno;
  struct epoll_event event = {.events = EPOLLIN};
  int status = epoll_ctl(probe, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
  close(probe);
  return status;
}

int sl_stream_open(struct sl_loop *loop, int fd, struct sl_stream **out,
                   struct sl_error *e) {
  int status = check_pollable(fd);
  if (status < 0) {
    sl_error_set(e, status, "open stream", NULL, -1);
    if (status == -EPERM) sl_error_hint(e, "nothing to wait for in a file");
    return status;
  }
  struct sl_stream *stream = sl_stream_new(loop);
  if (!stream) return sl_error_set(e, -ENOMEM, "open stream", NULL, -1);
  status = uv_pipe_init(&loop->uv, &stream->uv.pipe, 0);
  if (status < 0) {
    free(stream);
    return sl_error_set(e, status, "open stream", NULL, -1);
  }
  sl_stream_adopt(stream);
  status = uv_pipe_open(&stream->uv.pipe, fd);
  if (status < 0) {
    sl_stream_close(stream);
    return sl_error_set(e, status, "open stream", NULL, -1);
  }
  *out = stream;
  return 0;
}

void sl_stream_holds_time(struct sl_stream *stream) {
  stream->holds_time = true;
}

static void begin(struct sl_stream *stream) {
  if (stream->holds_time) stream->loop->in_flight++;
}

static void end(struct sl_stream *stream) {
  if (stream->holds_time) stream->loop->in_flight--;
}

static void give_buffer(uv_handle_t *handle, size_t hint, uv_buf_t *buffer) {
  (void)hint;
  struct sl_stream *stream = handle->data;
  *buffer = uv_buf_init(stream->buffer, sizeof stream->buffer);
}

static void on_uv_read(uv_stream_t *handle, ssize_t size,
                       const uv_buf_t *buffer) {
  struct sl_stream *stream = handle->data;
  if (size == 0) return; /* nothing yet */
  sl_stream_read_fn done = stream->on_read;
  if (!done) return;
  sl_stream_read_stop(stream);
  done(stream->read_user, buffer->base, size == UV_EOF ? 0 : size);
}

int sl_stream_read(struct sl_stream *stream, sl_stream_read_fn done,
                   void *user) {
  if (stream->on_read) return -EALREADY;
  int status = uv_read_start(&stream->uv.stream, give_buffer, on_uv_read);
  if (status < 0) return status;
  stream->on_read = done;
  stream->read_user = user;
  begin(stream);
  return 0;
}

void sl_stream_read_stop(struct sl_stream *stream) {
  if (!stream->on_read) return;
  stream->on_read = NULL;
  uv_read_stop(&stream->uv.stream);
  end(stream);
}

static void on_uv_written(uv_write_t *request, int status) {
  struct sl_stream *stream = request->handle->data;
  if (stream->is_closing) return;
  stream->is_writing = false;
  end(stream);
  stream->on_written(stream->write_user, status);
}

int sl_stream_write(struct sl_stream *stream, const char *data, size_t size,
                    sl_stream_write_fn done, void *user) {
  if (stream->is_writing) return -EALREADY;
  if (size == 0) return 1;
  /* libuv takes an unsigned length and the const away, but only reads. */
  union {
    const char *in;
    char *out;
  } bytes = {.in = data};
  uv_buf_t buffer = uv_buf_init(bytes.out, (unsigned)size);
  if (size > UINT32_MAX / 2) return -EMSGSIZE;
  int taken = uv_try_write(&stream->uv.stream, &buffer, 1);
  if (taken < 0 && taken != UV_EAGAIN) return taken;
  if (taken > 0) {
    if ((size_t)taken == size) return 1;
    buffer = uv_buf_init(bytes.out + taken, (unsigned)size - (unsigned)taken);
  }
  int status = uv_write(&stream->request.write, &stream->uv.stream, &buffer, 1,
                        on_uv_written);
  if (status < 0) return status;
  stream->is_writing = true;
  stream->on_written = done;
  stream->write_user = user;
  begin(stream);
  return 0;
}

void sl_stream_close(struct sl_stream *stream) {
  sl_stream_read_stop(stream);
  if (stream->is_writing) end(stream);
  stream->is_closing = true;
  stream->loop->handles--;
  uv_close(&stream->uv.handle, free_stream);
}
