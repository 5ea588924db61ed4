/* SPDX-License-Identifier: MIT */
#include "core/device/uevent.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KERNEL_GROUP = 1, MESSAGE_BYTES = 8192 };

int sl_uevent_open(struct sl_error *e) {
  struct sockaddr_nl address = {.nl_family = AF_NETLINK,
                                .nl_groups = KERNEL_GROUP};
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
                  NETLINK_KOBJECT_UEVENT);
  if (fd < 0) return sl_error_set(e, -errno, "socket", "uevent", -1);
  if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
    int code = sl_error_set(e, -errno, "bind", "uevent", -1);
    close(fd);
    return code;
  }
  return fd;
}

static void copy(char *to, size_t size, const char *from) {
  snprintf(to, size, "%s", from);
}

int sl_uevent_parse(const char *data, size_t length, struct sl_uevent *event) {
  const char *end = data + length;

  memset(event, 0, sizeof *event);
  /* "add@/devices/…", then KEY=value, each ended by a NUL. */
  if (length == 0 || end[-1] != '\0' || !strchr(data, '@')) return -EBADMSG;
  for (const char *p = data; p < end; p += strlen(p) + 1) {
    if (strncmp(p, "ACTION=", 7) == 0) {
      copy(event->action, sizeof event->action, p + 7);
    } else if (strncmp(p, "SUBSYSTEM=", 10) == 0) {
      copy(event->subsystem, sizeof event->subsystem, p + 10);
    } else if (strncmp(p, "DEVNAME=", 8) == 0) {
      copy(event->name, sizeof event->name, p + 8);
    }
  }
  return event->action[0] ? 0 : -EBADMSG;
}

int sl_uevent_next(int fd, struct sl_uevent *event, struct sl_error *e) {
  char data[MESSAGE_BYTES];
  struct sockaddr_nl sender = {0};
  struct iovec part = {data, sizeof data};
  struct msghdr message = {.msg_name = &sender,
                           .msg_namelen = sizeof sender,
                           .msg_iov = &part,
                           .msg_iovlen = 1};

  for (;;) {
    ssize_t length = recvmsg(fd, &message, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    if (length < 0) return sl_error_set(e, -errno, "recvmsg", "uevent", -1);
    /* Anybody may send to the group; only the kernel is 0. */
    if (sender.nl_pid != 0 || (message.msg_flags & MSG_TRUNC)) continue;
    if (sl_uevent_parse(data, (size_t)length, event) == 0) return 1;
  }
}
