/* SPDX-License-Identifier: MIT */
#include "core/run/serial.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const struct {
  int64_t baud;
  speed_t speed;
} speeds[] = {
    {1200, B1200},       {2400, B2400},       {4800, B4800},
    {9600, B9600},       {19200, B19200},     {38400, B38400},
    {57600, B57600},     {115200, B115200},   {230400, B230400},
    {460800, B460800},   {500000, B500000},   {576000, B576000},
    {921600, B921600},   {1000000, B1000000}, {1152000, B1152000},
    {1500000, B1500000}, {2000000, B2000000}, {2500000, B2500000},
    {3000000, B3000000}, {3500000, B3500000}, {4000000, B4000000},
};

static int find_speed(int64_t baud, speed_t *speed) {
  for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
    if (speeds[i].baud != baud) continue;
    *speed = speeds[i].speed;
    return 0;
  }
  return -EINVAL;
}

static int make_raw(int fd, speed_t speed) {
  struct termios settings;
  if (tcgetattr(fd, &settings) < 0) return -errno;
  cfmakeraw(&settings);
  settings.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS | HUPCL);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  cfsetispeed(&settings, speed);
  cfsetospeed(&settings, speed);
  if (tcsetattr(fd, TCSANOW, &settings) < 0) return -errno;
  tcflush(fd, TCIFLUSH);
  ioctl(fd, TIOCEXCL);
  return 0;
}

int sl_serial_open(struct sl_loop *loop, const char *path, int64_t baud,
                   struct sl_stream **out, struct sl_error *e) {
  speed_t speed;
  int status = find_speed(baud, &speed);
  if (status < 0) {
    sl_error_set(e, status, "set speed", path, -1);
    sl_error_hint(e, "usual speeds are 9600, 115200, 921600, 1500000");
    return status;
  }
  int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return sl_error_set(e, -errno, "open", path, -1);
  status = make_raw(fd, speed);
  if (status < 0) {
    sl_error_set(e, status, "set up serial port", path, -1);
    if (status == -ENOTTY) sl_error_hint(e, "this is not a serial port");
    goto failed;
  }
  status = sl_stream_open(loop, fd, out, e);
  if (status < 0) goto failed;
  return 0;

failed:
  close(fd);
  return status;
}
