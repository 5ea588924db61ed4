/* SPDX-License-Identifier: MIT */
/* Listens on a free port of 127.0.0.1, prints it, and sends back what the
 * first client sends. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (void *)&address, size) < 0 || listen(listener, 1) < 0 ||
      getsockname(listener, (void *)&address, &size) < 0)
    return 1;
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  int client = accept(listener, NULL, NULL);
  char buffer[4096];
  ssize_t n;
  while ((n = read(client, buffer, sizeof buffer)) > 0)
    if (write(client, buffer, (size_t)n) != n) return 1;
  return 0;
}
