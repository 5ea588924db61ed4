/* SPDX-License-Identifier: MIT */
#include "core/run/terminal.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

int sl_terminal_raw(int fd, struct termios *saved, struct sl_error *e) {
  if (tcgetattr(fd, saved) < 0)
    return sl_error_set(e, -errno, "read terminal mode", NULL, -1);
  struct termios raw = *saved;
  raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON);
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
  raw.c_cc[VINTR] = raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (tcsetattr(fd, TCSADRAIN, &raw) < 0)
    return sl_error_set(e, -errno, "set terminal mode", NULL, -1);
  return 0;
}

void sl_terminal_restore(int fd, const struct termios *saved) {
  tcsetattr(fd, TCSADRAIN, saved);
}

int sl_terminal_columns(int fd) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}
