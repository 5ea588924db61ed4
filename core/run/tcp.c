/* SPDX-License-Identifier: MIT */
#include "core/run/tcp.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/run/stream_private.h"

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

static int parse(const char *text, int port, union address *address) {
  memset(address, 0, sizeof *address);
  if (uv_ip4_addr(text, port, &address->v4) == 0) return 0;
  return uv_ip6_addr(text, port, &address->v6);
}

/* glibc looks names up through shared libraries that a static program has no
 * right to count on. */
#if defined(STORLUA_STATIC) && defined(__GLIBC__)

static int look_up(const char *host, struct sl_tcp_addresses *addresses,
                   struct sl_error *e) {
  (void)addresses;
  sl_error_set(e, -ENOSYS, "look up", host, -1);
  sl_error_hint(e, "the static binary takes numeric addresses only");
  return -ENOSYS;
}

#else

static int from_eai(int code) {
  switch (code) {
    case EAI_MEMORY:
      return -ENOMEM;
    case EAI_AGAIN:
      return -EAGAIN;
    case EAI_SYSTEM:
      return -errno;
    default:
      return -ENOENT;
  }
}

static void add(struct sl_tcp_addresses *addresses, struct sockaddr *address) {
  char *text = addresses->text[addresses->count];
  size_t size = SL_TCP_ADDRESS_BYTES;
  if (addresses->count == SL_TCP_ADDRESSES) return;
  if (address->sa_family == AF_INET) {
    uv_ip4_name((void *)address, text, size);
  } else if (address->sa_family == AF_INET6) {
    struct sockaddr_in6 *v6 = (void *)address;
    uv_ip6_name(v6, text, size);
    size_t used = strlen(text);
    if (v6->sin6_scope_id)
      snprintf(text + used, size - used, "%%%u", v6->sin6_scope_id);
  } else {
    return;
  }
  addresses->count++;
}

static int look_up(const char *host, struct sl_tcp_addresses *addresses,
                   struct sl_error *e) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *list = NULL;
  int status = getaddrinfo(host, NULL, &hints, &list);
  if (status) {
    sl_error_set(e, from_eai(status), "look up", host, -1);
    sl_error_hint(e, "no such host, or the name service does not answer");
    return e->code;
  }
  for (struct addrinfo *entry = list; entry; entry = entry->ai_next)
    add(addresses, entry->ai_addr);
  freeaddrinfo(list);
  return addresses->count ? 0 : sl_error_set(e, -ENOENT, "look up", host, -1);
}

#endif

int sl_tcp_resolve(const char *host, struct sl_tcp_addresses *addresses,
                   struct sl_error *e) {
  union address numeric;
  addresses->count = 0;
  if (parse(host, 0, &numeric) < 0) return look_up(host, addresses, e);
  snprintf(addresses->text[0], SL_TCP_ADDRESS_BYTES, "%s", host);
  addresses->count = 1;
  return 0;
}

/* A connect takes the place of the first write: the same request slot, the
 * same rules when the stream is closed meanwhile. */
static void on_uv_connected(uv_connect_t *request, int status) {
  struct sl_stream *stream = request->handle->data;
  if (stream->is_closing) return;
  stream->is_writing = false;
  if (status == 0) uv_tcp_nodelay(&stream->uv.tcp, 1);
  stream->on_written(stream->write_user, status);
}

int sl_tcp_connect(struct sl_loop *loop, const char *address, int port,
                   sl_stream_write_fn done, void *user, struct sl_stream **out,
                   struct sl_error *e) {
  union address to;
  if (parse(address, port, &to) < 0)
    return sl_error_set(e, -EINVAL, "connect", address, -1);
  struct sl_stream *stream = sl_stream_new(loop);
  if (!stream) return sl_error_set(e, -ENOMEM, "connect", address, -1);
  uv_tcp_init(&loop->uv, &stream->uv.tcp);
  sl_stream_adopt(stream);
  int status = uv_tcp_connect(&stream->request.connect, &stream->uv.tcp,
                              &to.any, on_uv_connected);
  if (status < 0) {
    sl_stream_close(stream);
    return sl_error_set(e, status, "connect", address, -1);
  }
  stream->is_writing = true;
  stream->on_written = done;
  stream->write_user = user;
  *out = stream;
  return 0;
}
