/* SPDX-License-Identifier: MIT */
/* A terminal for tests.
 *   pty serve        makes one, prints the path of its far side
 *   pty run CMD ARG… runs a command in it and ends with its exit code
 * Standard input goes into it, what comes out of it to standard output. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Copies what is there once; false at the end. */
static bool copy(int from, int to) {
  char buffer[4096];
  ssize_t n = read(from, buffer, sizeof buffer);
  if (n <= 0) return n < 0 && (errno == EINTR || errno == EAGAIN);
  for (ssize_t done = 0; done < n;) {
    ssize_t written = write(to, buffer + done, (size_t)(n - done));
    if (written < 0) return false;
    done += written;
  }
  return true;
}

static void relay(int master) {
  struct pollfd watched[2] = {{master, POLLIN, 0}, {0, POLLIN, 0}};
  while (poll(watched, 2, -1) >= 0 || errno == EINTR) {
    if (watched[0].revents && !copy(master, 1)) return;
    if (watched[1].revents && !copy(0, master)) watched[1].fd = -1;
  }
}

static int run(int master, const char *far_side, char **command) {
  pid_t pid = fork();
  if (pid < 0) return 125;
  if (pid == 0) {
    close(master);
    setsid();
    int fd = open(far_side, O_RDWR); /* becomes the controlling terminal */
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    ioctl(fd, TIOCSWINSZ, &size);
    for (int i = 0; i < 3; i++)
      dup2(fd, i);
    if (fd > 2) close(fd);
    execvp(command[0], command);
    _exit(127);
  }
  relay(master);
  int status;
  if (waitpid(pid, &status, 0) < 0) return 125;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) return 125;
  const char *far_side = ptsname(master);
  if (argc > 2 && strcmp(argv[1], "run") == 0)
    return run(master, far_side, argv + 2);
  /* Held open, so that the terminal outlives the one who closes it. */
  int held = open(far_side, O_RDWR | O_NOCTTY);
  struct termios raw;
  if (held < 0 || tcgetattr(held, &raw) < 0) return 125;
  cfmakeraw(&raw);
  tcsetattr(held, TCSANOW, &raw);
  printf("%s\n", far_side);
  fflush(stdout);
  relay(master);
  return 0;
}
