/* SPDX-License-Identifier: MIT */
/* fread and fwrite on a stream whose buffer is one record.  The stream has a
 * descriptor of its own; what it still holds when it is closed is written
 * then, and a failure of that is reported.  As for every user of stdio, a
 * record may count as written although the end of it is still in the buffer;
 * the error then comes with the next one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/io/engine_private.h"

struct sl_engine_state {
  FILE *stream;
  char *buffer;
  uint64_t position; /* of the stream */
  enum sl_op last;   /* reading after writing needs a seek between them */
  int fd;            /* borrowed from the target */
};

static int failed(struct sl_engine_state *s, int code, const char *op,
                  const struct sl_engine_setup *setup, struct sl_error *e) {
  free(s->buffer);
  free(s);
  return sl_error_set(e, code, op, setup->target->path, -1);
}

static int stdio_open(struct sl_engine_state **state,
                      const struct sl_engine_setup *setup, struct sl_error *e) {
  struct sl_engine_state *s = calloc(1, sizeof(*s));
  if (!s) return sl_error_set(e, -ENOMEM, "engine", setup->target->path, -1);
  s->fd = setup->target->fd;
  s->buffer = malloc(setup->record_bytes);
  if (!s->buffer) return failed(s, -ENOMEM, "setvbuf", setup, e);
  int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return failed(s, -errno, "dup", setup, e);
  s->stream = fdopen(fd, setup->writes ? "r+" : "r");
  if (!s->stream) {
    int code = -errno;
    close(fd);
    return failed(s, code, "fdopen", setup, e);
  }
  setvbuf(s->stream, s->buffer, _IOFBF, setup->record_bytes);
  s->last = SL_OP_TRIM; /* the first one seeks */
  *state = s;
  return 0;
}

static int stdio_close(struct sl_engine_state *state) {
  int code = fclose(state->stream) == 0 ? 0 : -errno;
  free(state->buffer);
  free(state);
  return code;
}

static ssize_t stdio_transfer(struct sl_engine_state *state, enum sl_op op,
                              void *data, size_t bytes, uint64_t offset) {
  size_t moved;
  if (op == SL_OP_TRIM) return -EOPNOTSUPP;
  if (state->position != offset || state->last != op) {
    if (fseeko(state->stream, (off_t)offset, SEEK_SET) != 0) return -errno;
    state->position = offset;
    state->last = op;
  }
  if (op == SL_OP_READ) {
    moved = fread(data, 1, bytes, state->stream);
  } else {
    moved = fwrite(data, 1, bytes, state->stream);
  }
  /* What fwrite counts after an error lies in the buffer only; it may even
   * count all of it when an older record could not be written. */
  if (ferror(state->stream)) {
    int code = -errno;
    clearerr(state->stream);
    state->last = SL_OP_TRIM; /* where it stands now is not certain */
    return code;
  }
  if (moved < bytes) { /* the end of the file */
    clearerr(state->stream);
    state->last = SL_OP_TRIM;
  }
  state->position += moved;
  return (ssize_t)moved;
}

static int stdio_flush(struct sl_engine_state *state) {
  if (fflush(state->stream) != 0) return -errno;
  return fdatasync(state->fd) == 0 ? 0 : -errno;
}

static unsigned stdio_notes(struct sl_engine_state *state, const char **notes) {
  (void)state;
  notes[0] = "page_cache";
  return 1;
}

const struct sl_engine sl_engine_stdio = {
    .name = "stdio",
    .needs_target = true,
    .buffered = true,
    .queue_max = 1,
    .open = stdio_open,
    .close = stdio_close,
    .transfer = stdio_transfer,
    .flush = stdio_flush,
    .notes = stdio_notes,
};
